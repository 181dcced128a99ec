/** kube-apiserver is killed amid sends and comes back: each send ends, as one invoice with one number and one mail. */
import type { ControlPlane } from '../../../hack/platform/controlplane.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import {
  call,
  eventually,
  type Json,
  mailsIn,
  order,
  type Platform,
  type Reply,
  startPlatform,
} from '../../support/stage/invoicing.ts'
import { type Owned, ownControlPlane } from '../../support/stage/stage.ts'

const SENDS = 60
const LANES = 8
/** So many are refused before it is started again. */
const REFUSED = 4

let platform: Platform
let plane: Owned<ControlPlane>
const sql = (text: string) => query(platform.database.url, text)
const countOf = async (text: string) => Number((await sql(`select count(*)::int as n from ${text}`))[0]?.n)
const get = (path: string) => call(platform.baseUrl, platform.owner, 'GET', `/api/invoices${path}`)

/** Every second one is known by the key of its request alone. */
const ask = (n: number): Promise<Reply> => {
  const [body, headers]: [Json, Record<string, string>] =
    n % 2 === 0
      ? [order({ external_ref: `amid-${n}`, client_email: `client-${n}@acme.test` }), {}]
      : [order({ client_email: `client-${n}@acme.test` }), { 'idempotency-key': `amid-${n}` }]
  return call(platform.baseUrl, platform.owner, 'POST', '/api/invoices', body, headers)
}

/** As a careful client does: the same request again until it is answered. @returns all that it was told */
const send = async (n: number, told: (reply: Reply) => void): Promise<Reply> =>
  eventually(`an answer to send ${n}`, async () => {
    const reply = await ask(n)
    told(reply)
    return (reply.status === 200 || reply.status === 201) && reply
  })

spec('an API server that is killed amid sends', (t) => {
  t.before(async () => {
    plane = await ownControlPlane()
    platform = await startPlatform({ plane })
  })
  t.after(async () => {
    await platform?.end()
    await plane?.end()
  })

  t(
    'is missed and comes back: every send ends, each is one invoice with one number and one mail, and nothing crashed',
    async () => {
      const pids = [platform.api.pid(), platform.controllers.pid()]
      const others: Reply[] = []
      const told = (reply: Reply) => void (reply.status >= 202 && others.push(reply))
      const left = Array.from({ length: SENDS }, (_, n) => n)
      const ended: Reply[] = []
      const lane = async () => {
        for (let n = left.pop(); n !== undefined; n = left.pop()) ended.push(await send(n, told))
      }
      const sending = Promise.all(Array.from({ length: LANES }, lane))
      await eventually('the middle of it', async () => (await countOf('register')) >= SENDS / 4)
      await plane.processes.apiserver.kill()
      const numbered = await countOf('register')
      assert.ok(numbered < SENDS, 'the kill comes before the end')
      await eventually('some to be refused', async () => others.length >= REFUSED)
      assert.is((await get('')).status, 200, 'reads go on')
      await plane.processes.apiserver.start()
      await sending

      const words = others.map(({ status, json }) => `${status} ${json.code ?? ''} ${json.outcome ?? ''}`.trim())
      console.log(`  counted: ${numbered} numbered at the kill, ${new Set(words).size} answers: ${[...new Set(words)]}`)
      // stored or not, or not known: no answer beyond those, and none without its word
      assert.equal(
        others.filter(({ status, json }) => !(status === 202 || status === 409 || (status === 503 && json.outcome))),
        [],
      )
      const rows = await sql('select seq::int, resource from register order by seq')
      assert.equal(
        rows.map(({ seq }) => seq),
        Array.from({ length: SENDS }, (_, n) => n + 1),
      )
      const ids = (one: readonly Json[]) => [...one].sort()
      const wanted = ids(ended.map(({ json }) => json.invoice.id))
      assert.equal(ids(rows.map(({ resource }) => resource)), wanted)
      const { items } = JSON.parse(await platform.kubectl(['get', 'inv', '-o', 'json']))
      assert.equal(ids(items.map((one: Json) => one.metadata.name)), wanted, 'nothing was made twice')
      const numberOf = new Map(ended.map(({ json }) => [json.invoice.id, json.number]))
      for (const { metadata, status } of items) assert.is(status.number, numberOf.get(metadata.name))
      const [series] = await sql('select count::int, first_bad from series s, verify_series(s.id)')
      assert.equal(series, { count: SENDS, first_bad: null })

      await eventually(
        'every mail',
        async () => (await countOf("outbox where channel = 'mail' and state = 'sent'")) === SENDS,
      )
      const to = (await mailsIn(platform.mailDir)).map((mail) => mail.to?.[0]?.address)
      assert.equal([to.length, new Set(to).size], [SENDS, SENDS], 'one mail each')
      assert.equal([platform.api.pid(), platform.controllers.pid()], pids, 'nothing crashed')
    },
    { timeoutMs: 300_000 },
  )
})
