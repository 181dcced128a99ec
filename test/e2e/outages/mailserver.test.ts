/**
 * A mail server that takes connections and says nothing, and one that says nothing to the mails of one account: what is asked
 * over REST is answered all the while, nobody's mails wait for those of another, and none is lost.
 */
import { query } from '../../../hack/platform/postgres.ts'
import { startSink } from '../../support/doubles/smtp.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { addAccount } from '../../support/stage/callers.ts'
import { call, eventually, type Json, order, type Platform, startPlatform } from '../../support/stage/invoicing.ts'

/** Several times as many as the mail sender has lanes. */
const HELD = 12
const OTHERS = 4
const LANES = 3
const DOMAIN = 'held.test'

let platform: Platform
let boss: string
let other: string
let server: Awaited<ReturnType<typeof startSink>>
/** Whoever connects hears nothing until it is lifted. */
let mute: PromiseWithResolvers<void> | null = Promise.withResolvers<void>()
/** As long as it is there, mails to that domain are taken and not answered. */
let hold: PromiseWithResolvers<void> | null = null
let connections = 0

const sql = (text: string) => query(platform.database.url, text)
const countOf = async (text: string) => Number((await sql(`select count(*)::int as n from ${text}`))[0]?.n)
const ask = (by: string, method: string, path: string, body?: unknown) => call(platform.baseUrl, by, method, path, body)
const send = async (by: string, to: string): Promise<Json> => {
  const reply = await ask(by, 'POST', '/api/invoices', order({ client_email: to }))
  assert.is(reply.status, 201, reply.text)
  return reply.json.invoice
}
const sendAll = async (by: string, count: number, domain: string): Promise<Json[]> => {
  const made: Json[] = []
  for (let n = 0; n < count; n++) made.push(await send(by, `client-${n}@${domain}`))
  return made
}
const takenOf = (domain: string) => new Set(server.taken.flatMap(({ to }) => to).filter((to) => to.endsWith(domain)))

/** What people do beside sending; both processes are well, too. */
const assertServed = async (id: string, reference: string): Promise<void> => {
  const asked: [string, string, unknown?][] = [
    ['GET', '/api/invoices'],
    ['GET', `/api/invoices/${id}`],
    ['GET', `/api/invoices/${id}/pdf`],
    ['GET', '/api/invoices/reconciliation'],
    ['PATCH', `/api/invoices/${id}`, { terms: reference }],
    ['GET', '/api/account'],
  ]
  for (const [method, path, body] of asked) {
    if (path.endsWith('/pdf')) {
      const headers = { authorization: `Bearer ${platform.owner}` }
      const { status } = await fetch(`${platform.baseUrl}${path}`, { headers, signal: AbortSignal.timeout(40_000) })
      assert.is(status, 200)
      continue
    }
    const { status, text } = await ask(platform.owner, method, path, body)
    assert.is(status, 200, `${method} ${path}: ${text}`)
  }
  for (const url of Object.values(platform.metricsUrls))
    assert.is((await fetch(url.replace('/metrics', '/readyz'))).status, 200, url)
}

spec('a mail server that hangs', (t) => {
  t.before(async () => {
    server = await startSink({
      onConnect: (_session, done) => {
        connections += 1
        if (mute === null) done()
        else void mute.promise.then(() => done())
      },
      hold: (to) => (to.some((one) => one.endsWith(DOMAIN)) ? hold?.promise : undefined),
    })
    platform = await startPlatform({ env: { BOTTEGA_SMTP_URL: server.url, BOTTEGA_DEV_CLOCK: 'on' } })
    boss = await addAccount(platform, 'boss', { role: 'admin' })
    other = await platform.token('other')
  })
  t.after(async () => {
    mute?.resolve()
    hold?.resolve()
    await platform?.end()
    await server?.stop()
  })

  t(
    'keeps nobody from sending or reading; who is not concerned has its mails, and in the end everybody, each once',
    async () => {
      const held = await sendAll(platform.owner, HELD, DOMAIN)
      await eventually('somebody to hear nothing', async () => connections > 0)
      await assertServed(held[0].id, 'mute')
      const others = await sendAll(other, OTHERS, 'fine.test')
      await eventually('one to be given up', async () => (await countOf("outbox where last_error <> ''")) > 0)
      await assertServed(held[1].id, 'given up')
      assert.is(server.taken.length, 0)
      for (const { id } of held.slice(0, LANES)) {
        const { delivery, number } = (await ask(platform.owner, 'GET', `/api/invoices/${id}`)).json.invoice
        assert.is.not(delivery.state, 'accepted')
        assert.match(number, /^INV-/)
      }

      hold = Promise.withResolvers<void>()
      mute?.resolve()
      mute = null
      await eventually('one to be held', async () => takenOf(DOMAIN).size > 0)
      await assertServed(held[2].id, 'held')
      await eventually('the mails of the other account', async () => takenOf('fine.test').size === OTHERS, 180_000)
      // they took turns with those that hang, and did not wait until each had hung
      const hung = takenOf(DOMAIN).size
      console.log(`  counted: ${hung} of ${HELD} hung before the ${OTHERS} others were out`)
      assert.ok(hung <= OTHERS + LANES, `${hung} had hung`)
      assert.is(await countOf(`outbox where account = 'demo' and channel = 'mail' and state = 'sent'`), 0)

      hold.resolve()
      hold = null
      const isOut = async () => {
        // whatever was put off is due
        assert.is((await ask(boss, 'POST', '/api/dev/clock', { advance: 'PT4H' })).status, 200)
        return (await countOf("outbox where channel = 'mail' and state = 'sent'")) === HELD + OTHERS
      }
      await eventually('every mail', isOut, 180_000)
      const [{ unknowns } = {}] = await sql('select sum(unknowns)::int as unknowns from outbox')
      const ids = server.taken.map(({ email }) => email.messageId)
      assert.is(new Set(ids).size, HELD + OTHERS)
      assert.ok(ids.length <= HELD + OTHERS + Number(unknowns), `${ids.length} mails, ${unknowns} unknown`)
      for (const [by, all] of [
        [platform.owner, held],
        [other, others],
      ] as const)
        for (const { id } of all)
          await eventually(`${id} to say so`, async () => {
            const { delivery } = (await ask(by, 'GET', `/api/invoices/${id}`)).json.invoice
            return delivery.state === 'accepted'
          })
      const rows = await sql('select seq::int from register order by series_id, seq')
      assert.equal(
        rows.map(({ seq }) => seq),
        [HELD, OTHERS].flatMap((count) => Array.from({ length: count }, (_, n) => n + 1)),
      )
    },
    { timeoutMs: 600_000 },
  )
})
