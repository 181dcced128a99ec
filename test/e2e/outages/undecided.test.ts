/** Nothing that was reported stays undecided, and nothing bad holds up the rest. */
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { addAccount } from '../../support/stage/callers.ts'
import {
  call,
  eventually,
  type Json,
  order,
  type Platform,
  type Reply,
  startPlatform,
} from '../../support/stage/invoicing.ts'

const ASYNC = { prefer: 'respond-async' }
/** Once somebody leads. */
const SETTLED_MS = 20_000
const ALL = '/api/invoices'
const HELD = '/api/admin/quarantine'

let platform: Platform
let boss: string
const ask = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}, by = platform.owner) =>
  call(platform.baseUrl, by, method, path, body, headers)
const sql = (text: string, values: unknown[] = []) => query(platform.database.url, text, values)
const read = async (id: string): Promise<Json> => (await ask('GET', `${ALL}/${id}`)).json.invoice
const make = async (over: Record<string, unknown> = {}): Promise<string> => {
  const made = await ask('POST', ALL, order(over))
  assert.is(made.status, 201, made.text)
  return made.json.invoice.id
}
const mailed = async (): Promise<string> => {
  const id = await make()
  await eventually('the mail', async () => (await read(id)).delivery.state === 'accepted')
  return id
}
const operation = async ({ json }: Reply): Promise<Json> =>
  (await ask('GET', `/api/operations/${json.operation_id}`)).json.operation
const whileNobodyLeads = async <T>(work: () => Promise<T>): Promise<T> => {
  await platform.controllers.stop()
  try {
    return await work()
  } finally {
    await platform.controllers.start()
  }
}
const pending = async () => Number((await sql("select count(*)::int as n from facts where state = 'pending'"))[0]?.n)

spec('what was asked', (t) => {
  t.before(async () => {
    platform = await startPlatform()
    boss = await addAccount(platform, 'boss', { role: 'admin' })
  })
  t.after(() => platform.end())

  t(
    'of an invoice that is deleted before anybody looks: a payment is booked, a change ends as unknown, a draft is gone',
    async () => {
      const [paid, voided] = [await mailed(), await mailed()]
      const draft = await make({ send: false })
      const replies = await whileNobodyLeads(async () => {
        const asked = [
          await ask('POST', `${ALL}/${paid}/payments`, { amount_cents: 500, reference: 'late' }, ASYNC),
          await ask('POST', `${ALL}/${voided}/void`, undefined, ASYNC),
          await ask('PATCH', `${ALL}/${draft}`, { terms: '30 days' }, ASYNC),
        ]
        for (const { status, text } of asked) assert.is(status, 202, text)
        // somebody reports of it by another way
        await sql(
          `insert into facts (resource, resource_kind, seq, key, kind, body, written_by, state, at)
           values ($1, 'Invoice', 99, 'k', 'payment', '{"amountCents": 1}', 'api', 'pending', now())`,
          [draft],
        )
        await platform.kubectl(['delete', 'inv', paid, voided, draft])
        return asked
      })
      const states = async () => (await Promise.all(replies.map(operation))).map(({ state }) => state)
      const wanted = ['succeeded', 'unknown', 'unknown']
      await eventually(`${wanted}`, async () => `${await states()}` === `${wanted}`, SETTLED_MS).catch(
        async (error) => {
          throw new Error(`${error.message}: ${await states()}`)
        },
      )
      const { paid_cents, number, delivery } = await read(paid)
      assert.equal([paid_cents, delivery.attempts], [500, 1])
      assert.match(number, /^INV-/)
      await eventually('nothing to be pending', async () => (await pending()) === 0, SETTLED_MS)
      assert.equal(await sql("select state, refused_code from facts where resource = $1 and key = 'k'", [draft]), [
        { state: 'refused', refused_code: 'NOT_FOUND' },
      ])
    },
    { timeoutMs: 240_000 },
  )

  t(
    'again without a key while it is undecided is the first: a payment counts once, a send mails once, and both say so',
    async () => {
      const id = await mailed()
      const money = { amount_cents: 700, reference: 'twice' }
      const replies = await whileNobodyLeads(async () => {
        const pay = () => ask('POST', `${ALL}/${id}/payments`, money, ASYNC)
        const send = () => ask('POST', `${ALL}/${id}/send`, undefined, ASYNC)
        return [await pay(), await pay(), await send(), await send()]
      })
      assert.equal(
        replies.map(({ status, json }) => [status, json.replayed]),
        [
          [202, undefined],
          [202, true],
          [202, undefined],
          [202, true],
        ],
      )
      const ends = async () => await Promise.all(replies.map(operation))
      await eventually(
        'the verdicts',
        async () => (await ends()).every(({ state }) => state === 'succeeded'),
        SETTLED_MS,
      )
      assert.is((await ends())[1]?.result.replayed, true)
      // and the one who comes after its 202 was decided, a moment after it was answered
      await sql('update operations set created_at = now() where id = $1', [replies[3]?.json.operation_id])
      const again = await ask('POST', `${ALL}/${id}/send`)
      assert.equal([again.status, again.json.replayed], [202, true])
      const { paid_cents, payments, send_count } = await read(id)
      assert.equal([paid_cents, payments.length, send_count], [700, 1, 2])
      assert.is(Number((await sql('select count(*)::int as n from sends where resource = $1', [id]))[0]?.n), 2)
    },
    { timeoutMs: 240_000 },
  )

  t('under a key that was refused after its 202 may be asked with a corrected body', async () => {
    const id = await mailed()
    const headers = { ...ASYNC, 'idempotency-key': 'corrected' }
    const credit = (body: object) => ask('POST', `${ALL}/${id}/credit-note`, body, headers)
    const total = (await read(id)).total_cents
    const first = await whileNobodyLeads(async () => {
      // together they are more than the invoice
      await ask('POST', `${ALL}/${id}/credit-note`, { amount_cents: total - 100, reason: 'most' }, ASYNC)
      return credit({ amount_cents: 200, reason: 'too much' })
    })
    assert.is(first.status, 202, first.text)
    await eventually('the refusal', async () => (await operation(first)).state === 'refused', SETTLED_MS)
    assert.is((await credit({ amount_cents: 200, reason: 'too much' })).json.code, 'CREDIT_EXCEEDS_REST')
    const second = await credit({ amount_cents: 100, reason: 'the rest' })
    assert.ok(second.status === 201 || second.status === 202, second.text)
    await eventually('the credit', async () => (await read(id)).credited_cents === total, SETTLED_MS)
  })
})

spec('a notification that is garbage', (t) => {
  t.before(async () => {
    platform = await startPlatform()
  })
  t.after(() => platform.end())

  t('ends no process, and holds up no request', async () => {
    const pids = [platform.api.pid(), platform.controllers.pid()]
    for (const channel of ['bottega_mirror', 'wakes', 'webhooks', 'bottega_clock']) {
      for (const payload of [
        'garbage',
        '',
        '{}',
        '[1]',
        '["Invoice"]',
        '["Nothing","x"]',
        '["Invoice","nobody"]',
        '[null,null]',
      ]) {
        await sql('select pg_notify($1, $2)', [channel, payload])
      }
    }
    await mailed()
    assert.equal([platform.api.pid(), platform.controllers.pid()], pids)
  })
})

spec('what was set aside', (t) => {
  t.before(async () => {
    platform = await startPlatform()
    boss = await addAccount(platform, 'boss', { role: 'admin' })
  })
  t.after(() => platform.end())

  t('is listed for administrators and nobody else, released by them, and that is on record', async () => {
    const [row] = await sql(
      `insert into outbox (kind, resource, account, purpose, channel, message_id, payload, due_at, created_at)
       values ('Gadget', 'gadget-1', 'demo', 'hello/1', 'mail', '<x@test>', '{"mail": "hello"}', now() + interval '1 day', now())
       returning id`,
    )
    await sql("select quarantine_outbox($1, 'nothing can be made of it', now())", [row?.id])
    assert.is((await ask('GET', HELD)).json.code, 'ROLE_REQUIRED')
    const list = async (rest = '') => (await ask('GET', `${HELD}${rest}`, undefined, {}, boss)).json
    const { quarantined, total } = await list()
    assert.is(total, 1)
    const [{ id, ...shown }] = quarantined
    assert.equal(
      [shown.source, shown.kind, shown.resource, shown.account, shown.reason, shown.released_at],
      ['mail', 'Gadget', 'gadget-1', 'demo', 'nothing can be made of it', null],
    )
    const release = (by: string) => ask('POST', `${HELD}/${id}/release`, undefined, {}, by)
    assert.is((await release(platform.owner)).status, 403)
    const released = await release(boss)
    assert.equal([released.status, released.json.quarantined?.released_by], [200, 'boss'], released.text)
    assert.is((await release(boss)).status, 200)
    assert.is((await list('?released=true')).quarantined[0].id, id)
    const audit = await ask('GET', '/api/audit')
    const verbs = audit.json.entries.map(({ what }: Json) => what.verb)
    assert.ok(verbs.includes(`POST ${HELD}/:id/release`), `${verbs}`)
    // its attempt fails again, and counts
    const tried = async () => Number((await sql('select attempts from outbox where id = $1', [row?.id]))[0]?.attempts)
    await eventually('it to be tried', async () => (await tried()) > 0)
    assert.is((await ask('POST', `${HELD}/999/release`, undefined, {}, boss)).status, 404)
  })
})
