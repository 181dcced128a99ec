import { setTimeout as sleep } from 'node:timers/promises'
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { call, eventually, mailsIn, order, type Platform, startPlatform } from '../../support/stage/invoicing.ts'

const SENDS = 200
let platform: Platform

spec('200 parallel sends on one issuer with a kill in the middle', (t) => {
  t.before(async () => {
    platform = await startPlatform()
  })
  t.after(() => platform.end())

  t(
    'numbers 1 to n without hole or repeat, a register that verifies, one mail for each',
    async () => {
      const send = async (n: number) => {
        // What a careful client does: the same request again until it is answered.
        for (;;) {
          const reply = await call(
            platform.baseUrl,
            platform.owner,
            'POST',
            '/api/invoices',
            order({ external_ref: `storm-${n}`, client_email: `client-${n}@acme.test` }),
          ).catch(() => null)
          if (reply && (reply.status === 201 || reply.status === 200)) return reply.json.number as string
          await sleep(200)
        }
      }
      const sending = Promise.all(Array.from({ length: SENDS }, (_, n) => send(n)))
      const given = async () =>
        Number((await query(platform.database.url, 'select count(*)::int as n from register'))[0]?.n)
      await eventually('the middle of the storm', async () => (await given()) >= SENDS / 4)
      await platform.controllers.kill()
      const atKill = await given()
      assert.ok(atKill < SENDS, 'the kill comes before the end')
      await platform.controllers.start()

      const numbers = (await sending).sort()
      const wanted = Array.from({ length: SENDS }, (_, n) => `${String(n + 1).padStart(4, '0')}`)
      assert.equal(
        numbers.map((number) => number.slice(-4)),
        wanted,
      )
      const [series] = await query(platform.database.url, 'select id from series')
      const [verified] = await query(platform.database.url, 'select count::int, first_bad from verify_series($1)', [
        series?.id,
      ])
      assert.equal(verified, { count: SENDS, first_bad: null })

      await eventually('every mail', async () => {
        const [row] = await query(
          platform.database.url,
          "select count(*)::int as n from outbox where channel = 'mail' and state = 'sent'",
        )
        return row?.n === SENDS
      })
      const mails = await mailsIn(platform.mailDir)
      assert.is(new Set(mails.map(({ messageId }) => messageId)).size, SENDS)
      const [counted] = await query(platform.database.url, 'select sum(unknowns)::int as unknown from outbox')
      // Three lanes: the kill leaves at most three mails undecided; they are counted, and repeated under the same Message-ID.
      assert.ok(mails.length <= SENDS + Number(counted?.unknown) && Number(counted?.unknown) <= 3)
      const table = await platform.kubectl(['get', 'inv', '-o', 'json'])
      const objects: { status?: { number?: string } }[] = JSON.parse(table).items
      assert.is(new Set(objects.map(({ status }) => status?.number)).size, SENDS)
    },
    { timeoutMs: 120_000 },
  )
})
