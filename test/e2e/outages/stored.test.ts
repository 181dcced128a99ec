/** What was reported stands: it is decided on whoever comes back, and told twice it is counted once. */
import { query } from '../../../hack/platform/postgres.ts'
import { type FaultProxy, startFaultProxy } from '../../support/doubles/faultproxy.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import {
  call,
  eventually,
  type Json,
  order,
  type Platform,
  type Reply,
  startPlatform,
} from '../../support/stage/invoicing.ts'
import { serviceKubeconfig } from '../../support/stage/stage.ts'

const INVOICES = 20
const PAYMENTS = 200
const TOTAL = 144_000
/** Once the control plane is back. */
const SETTLED_MS = 10_000
/** What a client repeats until it has been told that it counts. */
const ROUNDS_MAX = 3

let platform: Platform
let proxies: { api: FaultProxy; controllers: FaultProxy }
const api = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  call(platform.baseUrl, platform.owner, method, `/api/invoices${path}`, body, headers)
const read = async (id: string): Promise<Json> => (await api('GET', `/${id}`)).json.invoice
const make = async (): Promise<string> => {
  const made = await api('POST', '', order())
  assert.is(made.status, 201, made.text)
  return made.json.invoice.id
}
const sql = (text: string, values: unknown[] = []) => query(platform.database.url, text, values)
const pending = async () => Number((await sql("select count(*)::int as n from facts where state = 'pending'"))[0]?.n)
const sum = (list: Json[]) => list.reduce((total, { amount_cents }) => total + amount_cents, 0)

spec('what was stored', (t) => {
  t.before(async () => {
    const [own, theirs] = [
      await startFaultProxy(serviceKubeconfig('api')),
      await startFaultProxy(serviceKubeconfig('controllers')),
    ]
    proxies = { api: own, controllers: theirs }
    platform = await startPlatform({
      kubeconfigs: { api: own.kubeconfig, controllers: theirs.kubeconfig },
    })
  })
  t.after(async () => {
    await platform.end()
    await Promise.all([proxies.api.close(), proxies.controllers.close()])
  })

  t(
    `${PAYMENTS} payments without keys before a half-open API server, each repeated while it is undecided, count once each`,
    async () => {
      const ids: string[] = []
      for (let n = 0; n < INVOICES; n++) ids.push(await make())
      const asked = Array.from({ length: PAYMENTS }, (_, n) => ({
        id: ids[n % INVOICES] ?? '',
        body: { amount_cents: 100 + n, reference: `SEPA ${n}` },
      }))
      const pay = async ({ id, body }: (typeof asked)[number]): Promise<Reply[]> => {
        const replies: Reply[] = []
        for (let round = 0; round < ROUNDS_MAX; round++) {
          const reply = await api('POST', `/${id}/payments`, body)
          replies.push(reply)
          if (reply.status !== 202 && reply.status !== 503) break
        }
        return replies
      }
      for (const proxy of [proxies.api, proxies.controllers]) {
        proxy.hang(() => true)
        proxy.stall()
      }
      const replies = (await Promise.all(asked.map(pay))).flat()
      for (const proxy of [proxies.api, proxies.controllers]) proxy.flow()
      const booked = async () => {
        const invoices = await Promise.all(ids.map(read))
        return invoices.every(({ payments }, n) => payments.length === PAYMENTS / INVOICES && ids[n]) && invoices
      }
      const invoices = await eventually('all payments to be booked', booked, SETTLED_MS).catch(async (error) => {
        const counts = (await Promise.all(ids.map(read))).map(({ payments }) => payments.length)
        throw new Error(`${error.message}; by invoice: ${counts}; pending: ${await pending()}`)
      })
      for (const [n, { payments, paid_cents }] of invoices.entries()) {
        const mine = asked.filter((_, m) => m % INVOICES === n).map(({ body }) => body)
        assert.equal([paid_cents, sum(payments)], [sum(mine), sum(mine)])
        assert.equal(payments.map((one: Json) => one.reference).sort(), mine.map(({ reference }) => reference).sort())
      }
      assert.is(await pending(), 0)
      const odd = replies.find(({ status }) => status !== 202 && status !== 200)
      assert.is(odd, undefined, odd?.text)
      for (const reply of replies) {
        if (reply.status === 202)
          assert.match(reply.headers.get('location') ?? '', /^\/api\/(operations\/op-|invoices\/inv-)/)
      }
    },
    { timeoutMs: 180_000 },
  )

  t(
    'a payment and a credit note survive kill -9 of the api before anybody was woken',
    async () => {
      const id = await make()
      // nothing else has the controllers look at it again
      await eventually('the mail', async () => (await read(id)).delivery.state === 'accepted')
      proxies.api.hang(({ method }) => method !== 'GET')
      const lost = [
        api('POST', `/${id}/payments`, { amount_cents: 44_000 }),
        api('POST', `/${id}/credit-note`, { amount_cents: 10_000 }),
      ].map((reply) => reply.catch(() => null))
      const stored = "select count(*)::int as n from facts where resource = $1 and kind in ('payment', 'credit')"
      await eventually('both to be stored', async () => (await sql(stored, [id]))[0]?.n === 2)
      await platform.api.kill()
      proxies.api.flow()
      await Promise.all(lost)
      await platform.api.start()
      const settled = async () => {
        const invoice = await read(id)
        return invoice.paid_cents > 0 && invoice.credited_cents > 0 && invoice
      }
      const invoice = await eventually('what was reported', settled, SETTLED_MS)
      assert.equal(
        [invoice.paid_cents, invoice.credited_cents, invoice.balance_cents],
        [44_000, 10_000, TOTAL - 54_000],
      )
      assert.is(await pending(), 0)
    },
    { timeoutMs: 120_000 },
  )

  t('an identical payment after the first is settled is another one', async () => {
    const id = await make()
    const body = { amount_cents: 1_000, method: 'cash', reference: 'till' }
    const replies = [await api('POST', `/${id}/payments`, body), await api('POST', `/${id}/payments`, body)]
    assert.equal(
      replies.map(({ status, json }) => [status, json.invoice.paid_cents]),
      [
        [200, 1_000],
        [200, 2_000],
      ],
    )
  })

  t('many identical payments at once are one, and each under a key of its own is one', async () => {
    const id = await make()
    const body = { amount_cents: 1_000 }
    const pay = (headers: Record<string, string> = {}) => api('POST', `/${id}/payments`, body, headers)
    proxies.controllers.hang(() => true)
    const same = Promise.all(Array.from({ length: 16 }, () => pay()))
    const stored = "select count(*)::int as n from facts where resource = $1 and kind = 'payment'"
    await eventually('the first', async () => Number((await sql(stored, [id]))[0]?.n) > 0)
    const keyed = await Promise.all(Array.from({ length: 3 }, (_, n) => pay({ 'idempotency-key': `own-${n}` })))
    proxies.controllers.flow()
    await same
    assert.equal(
      keyed.map(({ status }) => status < 300),
      [true, true, true],
    )
    await eventually('all four', async () => (await read(id)).paid_cents === 4_000, SETTLED_MS)
    assert.is((await read(id)).payments.length, 4)
  })

  t('says what became of a request whose outcome nobody knows, and where to look', async () => {
    proxies.api.hang(({ method }) => method === 'POST')
    const reply = await api('POST', '', order({ external_ref: 'unknown-1' }))
    proxies.api.flow()
    assert.equal([reply.status, reply.json.code, reply.json.outcome], [503, 'UNAVAILABLE', 'unknown'], reply.text)
    assert.match(reply.headers.get('location') ?? '', /^\/api\/invoices\/inv-/)
    assert.not.match(reply.json.detail, /again/)
  })
})
