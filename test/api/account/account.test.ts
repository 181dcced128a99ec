import { accountRoutes } from '../../../api/account/account.ts'
import { writing } from '../../../api/command/written.ts'
import { Problem } from '../../../api/http/problem.ts'
import type { ApiRequest } from '../../../api/http/route.ts'
import { LIMIT_DEFAULTS, makeLimits } from '../../../api/http/stages/limits.ts'
import { underSendCap } from '../../../api/invoice/send/send-cap.ts'
import { makeStores } from '../../../api/wiring/stores.ts'
import { KubeError } from '../../../controllers/base/errors.ts'
import { keysOfOne } from '../../../controllers/base/keys.ts'
import { makeSendQuota, type SendQuota } from '../../../controllers/store/invoice/send-quota.ts'
import { makePg, type Pg } from '../../../controllers/store/pg/pg.ts'
import { nextTurn } from '../../../crds/account/quotas.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { call, eventually, order, type Platform, startPlatform } from '../../support/stage/invoicing.ts'
import { type Database, makeDatabase } from '../../support/stage/stage.ts'

const DAY = '2026-11-21'
const serverKey = Buffer.alloc(32, 7)

spec('places under the daily cap', (t) => {
  let database: Database
  let pg: Pg
  let sendQuota: SendQuota
  t.before(async () => {
    database = await makeDatabase()
    pg = makePg({ url: database.apiUrl })
    sendQuota = makeSendQuota({ pg })
  })
  t.after(async () => {
    await pg.close()
    await database.drop()
  })
  const quotaRequest = (resource: string, account: string, limit = 3) => ({ resource, n: 1, account, day: DAY, limit })

  t('are never more than the cap, however many ask at once and by whichever process', async () => {
    const others = makeSendQuota({ pg })
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, (_, n) => (n % 2 ? sendQuota : others).take(quotaRequest(`inv-${n}`, 'a', 20))),
    )
    assert.is(outcomes.filter((outcome) => outcome === 'taken').length, 20)
    assert.is(outcomes.filter((outcome) => outcome === 'refused').length, 180)
    assert.is(await sendQuota.used('a', DAY), 20)
  })

  t('are one per send: a repeat holds its own, at the cap and on the next day too', async () => {
    assert.equal(await Promise.all([1, 2, 3].map(() => sendQuota.take(quotaRequest('inv-same', 'b', 1)))), [
      'taken',
      'held',
      'held',
    ])
    assert.is(await sendQuota.take({ ...quotaRequest('inv-same', 'b', 1), day: '2026-11-22' }), 'held')
    assert.is(await sendQuota.take(quotaRequest('inv-more', 'b', 1)), 'refused')
    assert.equal([await sendQuota.used('b', DAY), await sendQuota.used('b', '2026-11-22')], [1, 0])
  })

  t('that are given back are free again, once', async () => {
    await sendQuota.take(quotaRequest('inv-back', 'c', 1))
    assert.equal([await sendQuota.giveBack({ resource: 'inv-back', n: 1 }), await sendQuota.used('c', DAY)], [true, 0])
    assert.equal([await sendQuota.giveBack({ resource: 'inv-back', n: 1 }), await sendQuota.used('c', DAY)], [false, 0])
    assert.is(await sendQuota.take(quotaRequest('inv-next', 'c', 1)), 'taken')
  })

  t('whose resource never appeared lapse when somebody needs one', async () => {
    await sendQuota.take(quotaRequest('inv-lost', 'd', 1))
    assert.is(await sendQuota.take(quotaRequest('inv-next-d', 'd', 1)), 'refused')
    await query(database.url, "update send_slots set taken_at = now() - interval '11 minutes' where account = 'd'")
    assert.is(await sendQuota.take(quotaRequest('inv-next-d', 'd', 1)), 'taken')
    assert.is(await sendQuota.used('d', DAY), 1)
  })

  t('are given back when the request is refused, and kept when nobody knows', async () => {
    const caller = { account: 'e', profile: { plan: 'free' } } as never
    const deps = { sendQuota, now: () => new Date(`${DAY}T10:00:00Z`) }
    const refused = underSendCap(deps, { caller }, 'inv-refused', async () => {
      throw new Problem('ZERO_TOTAL', 'nothing to pay')
    })
    await assert.rejects(refused, /nothing to pay/)
    assert.is(await sendQuota.used('e', DAY), 0)
    const before = underSendCap(deps, { caller }, 'inv-unwritten', async () => {
      throw new Error('broken before the write')
    })
    await assert.rejects(before, /before the write/)
    assert.is(await sendQuota.used('e', DAY), 0)
    const unknown = underSendCap(deps, { caller }, 'inv-unknown', () =>
      writing(() => Promise.reject(new KubeError('create inv', { status: 0, reason: 'socket hang up' }))),
    )
    await assert.rejects(unknown, /hang up/)
    assert.is(await sendQuota.used('e', DAY), 1)
  })

  t('turn over at 00:00 UTC, and the account shows it', async () => {
    let now = new Date('2026-11-21T23:59:59.999Z')
    const profile = { id: 'f', plan: 'free', limits: {}, teams: [] }
    const deps = {
      ...makeStores({ pg, keys: keysOfOne(serverKey) }),
      sendQuota,
      limits: makeLimits(LIMIT_DEFAULTS),
      mirror: { get: async () => undefined },
      now: () => now,
    }
    const request = { caller: { account: 'f', by: { kind: 'token', id: 't' }, scopes: null, profile } }
    const show = async () => {
      const [route] = accountRoutes
      const answer = await route?.handle(deps, request as unknown as ApiRequest)
      const body = answer?.body as { account?: { quotas: Record<string, unknown> } } | undefined
      return body?.account?.quotas.sends_per_day
    }
    for (let n = 0; n < 20; n += 1) await sendQuota.take(quotaRequest(`inv-f${n}`, 'f', 20))
    assert.equal(await show(), { limit: 20, used: 20, resets_at: '2026-11-22T00:00:00.000Z' })
    const send = (name: string) => underSendCap(deps, request as unknown as ApiRequest, name, async () => 'sent')
    const capped = await assert.rejects(send('inv-late'), /f may send 20 invoices a day/)
    assert.equal([(capped as Problem).code, (capped as Problem).headers['retry-after']], ['SEND_CAP', '1'])
    now = new Date('2026-11-22T00:00:00.000Z')
    assert.equal(await show(), { limit: 20, used: 0, resets_at: '2026-11-23T00:00:00.000Z' })
    assert.is(await send('inv-late'), 'sent')
  })
})

spec('an account on a running platform', (t) => {
  let platform: Platform
  let other: string
  t.before(async () => {
    platform = await startPlatform()
    other = await platform.token('other')
  })
  t.after(() => platform.end())
  const get = (path: string, token = platform.owner) => call(platform.baseUrl, token, 'GET', path)
  const send = (body: object) => call(platform.baseUrl, platform.owner, 'POST', '/api/invoices', order(body as never))
  const sends = async () => (await get('/api/account')).json.account.quotas.sends_per_day
  const patch = (change: object) =>
    platform.kubectl(['patch', 'acct', 'demo', '--type=merge', '-p', JSON.stringify({ spec: change })])

  t('shows exactly what is promised', async () => {
    const { status, json } = await get('/api/account')
    assert.is(status, 200)
    assert.equal(Object.keys(json), ['account'])
    const { quotas, ...account } = json.account
    assert.equal(account, {
      id: 'demo',
      email: 'owner@demo.test',
      name: 'demo Studio',
      plan: 'team',
      role: 'member',
      capabilities: [],
      teams: [],
    })
    const resets_at = nextTurn(new Date())
    assert.equal(quotas, {
      sends_per_day: { limit: 1000, used: 0, resets_at },
      webhook_endpoints: { limit: 3, used: 0, resets_at: null },
      sites: { limit: 100, used: 0, resets_at: null },
      publishes_per_day: { limit: 500, used: 0, resets_at },
      messages_per_day: { limit: 1000, used: 0, resets_at },
      invoice_ai_per_day: { limit: 1000, used: 0, resets_at },
      website_ai_per_day: { limit: 1000, used: 0, resets_at },
      devbox_cost_cap_usd: { limit: 100, used: 0, resets_at: null },
      app_storage_mib: { limit: 204_800, used: 0, resets_at: null },
      burst: { limit: 1_000_000, spare: 150, used: 0, resets_at: null },
    })
    assert.is((await call(platform.baseUrl, null, 'GET', '/api/account')).status, 401)
  })

  t('counts sends, and neither drafts nor test sends nor repeats', async () => {
    assert.is((await send({ external_ref: 'a' })).status, 201)
    assert.is((await send({ external_ref: 'a' })).status, 200)
    assert.is((await send({ external_ref: 'draft', send: false })).status, 201)
    assert.is((await send({ test: true })).status, 201)
    assert.is((await send({ items: [] })).status, 409)
    assert.is((await sends()).used, 1)
    assert.is((await get('/api/account', other)).json.account.quotas.sends_per_day.used, 0)
  })

  t('is stopped at its cap over REST and kubectl alike, and goes on when support raises it', async () => {
    await patch({ limits: { sendsPerDay: 2 } })
    await eventually('the new cap', async () => (await sends()).limit === 2)
    const draft = (await send({ external_ref: 'draft', send: false })).json.invoice.id
    await eventually('the second', async () => (await send({ external_ref: 'b' })).status === 201)
    const capped = await send({ external_ref: 'c' })
    assert.equal([capped.status, capped.json.code], [429, 'SEND_CAP'])
    assert.match(capped.json.detail, /demo may send 2 invoices a day/)
    assert.ok(Number(capped.headers.get('retry-after')) <= 86_400)
    assert.is((await send({ external_ref: 'a' })).status, 200)
    assert.is((await send({ test: true })).status, 201)
    const change = await call(platform.baseUrl, platform.owner, 'PATCH', `/api/invoices/${draft}`, { send: true })
    assert.equal([change.status, change.json.code], [429, 'SEND_CAP'])

    await platform.kubectl(['apply', '-f', '-'], {
      apiVersion: 'bottega.dev/v1alpha1',
      kind: 'Invoice',
      metadata: { name: 'by-hand' },
      spec: {
        account: 'demo',
        send: true,
        clientName: 'A',
        clientEmail: 'a@acme.test',
        items: [{ description: 'x', qty: '1', unitCents: 100 }],
      },
    })
    await platform.kubectl(['wait', '--for=condition=Stalled', 'inv/by-hand', '--timeout=20s'])
    const conditions = await platform.kubectl(['get', 'inv', 'by-hand', '-o', 'jsonpath={.status.conditions}'])
    assert.match(conditions, /"message":"SEND_CAP: demo may send 2 invoices a day/)
    assert.is((await get('/api/invoices/by-hand')).json.invoice.stalled.code, 'SEND_CAP')
    assert.equal(await sends(), { limit: 2, used: 2, resets_at: nextTurn(new Date()) })

    await patch({ limits: { sendsPerDay: 10 } })
    await platform.kubectl(['wait', '--for=condition=Ready', 'inv/by-hand', '--timeout=20s'])
    await eventually('the raised cap', async () => (await send({ external_ref: 'c' })).status === 201)
    assert.is((await sends()).used, 4)
  })

  t('sees the members of its teams, and of no other', async () => {
    assert.equal((await get('/api/teams')).json, { teams: [], total: 0, limit: 50, offset: 0 })
    await patch({ teams: ['studio', 'alone'] })
    const join = JSON.stringify({ spec: { teams: ['studio', 'theirs'] } })
    await platform.kubectl(['patch', 'acct', 'other', '--type=merge', '-p', join])
    const both = [
      { id: 'demo', name: 'demo Studio' },
      { id: 'other', name: 'other Studio' },
    ]
    const seen = await eventually('both members', async () => {
      const { teams } = (await get('/api/teams')).json
      return teams[1]?.members.length === 2 && teams
    })
    assert.equal(seen, [
      { id: 'alone', members: [both[0]] },
      { id: 'studio', members: both },
    ])
  })
})
