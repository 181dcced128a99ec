/** A finished invoice leaves the cluster, is served from its archive, and comes back when something is to be done to it. */
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import {
  call,
  eventually,
  type Json,
  mailsIn,
  order,
  type Platform,
  startPlatform,
} from '../../support/stage/invoicing.ts'

let platform: Platform
let admin: string
const api = (method: string, path: string, body?: unknown, token = platform.owner) =>
  call(platform.baseUrl, token, method, `/api/invoices${path}`, body)
const read = async (id: string): Promise<Json> => (await api('GET', `/${id}`)).json.invoice
const sql = (text: string, values: unknown[] = []) => query(platform.database.url, text, values)
const make = async (change: Record<string, unknown> = {}): Promise<Json> => {
  const made = await api('POST', '', order({ due_date: '2099-12-20', ...change }))
  assert.is(made.status, 201, made.text)
  return made.json.invoice
}
/** Its mails are out, and its view tells of it. */
const settle = (id: string) =>
  eventually('its mails', async () => {
    const open = 'select 1 from outbox where resource = $1 and channel = $2 and due_at is not null'
    return (await sql(open, [id, 'mail'])).length === 0 && (await read(id)).delivery.state === 'accepted'
  })
const isThere = async (id: string): Promise<boolean> =>
  (await platform.kubectl(['get', 'inv', id, '--ignore-not-found', '-o', 'name'])) !== ''
const isArchived = async (id: string): Promise<boolean> =>
  (await sql('select archived from mirror where name = $1', [id]))[0]?.archived === true
const gone = (id: string) => eventually('it to leave', async () => !(await isThere(id)) && (await isArchived(id)))
const advance = async (duration: string): Promise<void> => {
  const moved = await call(platform.baseUrl, admin, 'POST', '/api/dev/clock', { advance: duration })
  assert.is(moved.status, 200, moved.text)
}
const counts = async () => [
  (await sql('select count(*)::int as n from register where step = 0'))[0]?.n,
  (await sql('select count(*)::int as n from sends'))[0]?.n,
  (await mailsIn(platform.mailDir)).length,
]
/** As it was when it left: what tells of the mail is as it ended. */
const shown = ({ delivery: _, fact_seq: __, ...rest }: Json): Json => rest

spec('an invoice that is finished', (t) => {
  t.before(async () => {
    platform = await startPlatform({ env: { BOTTEGA_DEV_CLOCK: 'on', BOTTEGA_INVOICE_RETENTION_DAYS: '20' } })
    await platform.kubectl(['apply', '-f', '-'], {
      apiVersion: 'bottega.dev/v1alpha1',
      kind: 'Account',
      metadata: { name: 'boss' },
      spec: { email: 'boss@demo.test', role: 'admin' },
    })
    admin = await platform.token('boss')
    const look = async () => (await call(platform.baseUrl, admin, 'GET', '/api/dev/clock')).status === 200
    await eventually('the admin', look)
  })
  t.after(() => platform.end())

  t(
    'leaves after its retention, is read, listed, exported and added up as before, and is credited again',
    async () => {
      const paid = await make({ external_ref: 'kept', metadata: { po: 7 }, terms: 'now', lang: 'es' })
      assert.is((await api('POST', `/${paid.id}/payments`)).json.invoice.status, 'paid')
      const voided = await make()
      assert.is((await api('POST', `/${voided.id}/void`)).status, 200)
      const receipt = await make({ paid: { method: 'cash', reference: 'till 1' } })
      const open = await make()
      const finished = [paid.id, voided.id, receipt.id]
      for (const id of [...finished, open.id]) await settle(id)
      const month = async () => (await api('GET', '/reconciliation')).json.rollup
      const [was, books] = [await Promise.all(finished.map(read)), await month()]
      const before = await counts()

      await advance('P19D')
      for (const id of finished) assert.is(await isThere(id), true, 'not before its time')
      await advance('P2D')
      for (const id of finished) await gone(id)
      assert.is(await isThere(open.id), true, 'what is open stays')
      assert.equal(await Promise.all(finished.map(read)), was)
      const listed = (await api('GET', '?limit=200')).json.invoices.map(({ id }: Json) => id)
      const table = (await api('GET', '/export.csv')).text
      for (const one of was) {
        assert.ok(listed.includes(one.id))
        assert.ok(table.includes(one.number))
      }
      const started = new Date().toISOString().slice(0, 7)
      assert.equal((await api('GET', `/reconciliation?month=${started}`)).json.rollup, books)
      assert.is((await api('GET', `/${paid.id}/pdf`)).status, 200)
      assert.is((await api('GET', `/${paid.id}/explain`)).json.explanation.balance_cents, 0)
      const again = await api('POST', '', order({ due_date: '2099-12-20', external_ref: 'kept' }))
      assert.equal([again.status, again.json.idempotent_replay, again.json.number], [200, true, paid.number])
      assert.is(await isThere(paid.id), false, 'a repeat is a read')
      assert.equal(await counts(), before)

      const note = await api('POST', `/${paid.id}/credit-note`, { amount_cents: 44_000, reason: 'late' })
      assert.is(note.status, 201, note.text)
      assert.match(note.json.credit_note.number, /^CNINV-\d{3}-0001$/)
      const { credited_cents, credit_notes, warnings, updated_at, version, ...rest } = shown(note.json.invoice)
      const old = shown(was[0])
      assert.is(credited_cents, 44_000)
      assert.equal(rest, Object.fromEntries(Object.keys(rest).map((key) => [key, old[key]])))
      assert.is(version, old.version)
      assert.ok(updated_at > old.updated_at)
      assert.is(await isThere(paid.id), true)
      const [numbers, sends, mails] = before
      await settle(paid.id)
      const after = [Number(numbers) + 1, sends, Number(mails) + 1]
      assert.equal(await counts(), after, 'a number and a mail for the note, no send')
      const deeds = await sql("select count(*)::int as n from facts where resource = $1 and kind = 'adopted'", [
        paid.id,
      ])
      assert.equal(deeds, [{ n: 1 }])

      await advance('P21D')
      await gone(paid.id)
      assert.equal(shown(await read(paid.id)), shown(note.json.invoice))
    },
    { timeoutMs: 240_000 },
  )

  t('comes back to be voided, to be sent again and for several callers at once, after anybody deleted it', async () => {
    const drop = async (id: string) => {
      await settle(id)
      await platform.kubectl(['delete', 'inv', id])
      await gone(id)
    }
    const sent = await make({ send: false, client_name: 'First' })
    await api('PATCH', `/${sent.id}`, { client_name: 'Second' })
    const first = (await api('POST', `/${sent.id}/send`)).json
    await drop(sent.id)
    const second = await api('POST', `/${sent.id}/send`)
    assert.is(second.status, 200, second.text)
    assert.equal([second.json.number, second.json.invoice.send_count], [first.number, 2])
    assert.not.equal(second.json.password, first.password)
    assert.equal(
      [second.json.invoice.version, second.json.invoice.created_at],
      [first.invoice.version, first.invoice.created_at],
    )

    await drop(sent.id)
    assert.is((await api('PATCH', `/${sent.id}`, { terms: 'soon' })).json.invoice.terms, 'soon')
    await drop(sent.id)
    const parts = await Promise.all(
      [1, 2, 3].map((n) => api('POST', `/${sent.id}/payments`, { amount_cents: 1_000, reference: `part ${n}` })),
    )
    assert.equal(
      parts.map(({ status }) => status),
      [200, 200, 200],
    )
    assert.is((await read(sent.id)).paid_cents, 3_000)
    await drop(sent.id)
    const voided = await api('POST', `/${sent.id}/void`)
    assert.equal([voided.status, voided.json.invoice.status, voided.json.invoice.number], [200, 'voided', first.number])
    await drop(sent.id)
    assert.equal(shown(await read(sent.id)), shown(voided.json.invoice))
    assert.is((await api('POST', `/${sent.id}/payments`)).json.code, 'NOT_PAYABLE')
    assert.equal(
      await sql('select count(*)::int as n from register where resource = $1 and step = 0', [sent.id]),
      [{ n: 1 }],
      'one number all the while',
    )
  })

  t('is not hidden by a stranger under its name, nor taken away with it', async () => {
    const { id } = await make({ paid: { method: 'cash' } })
    await settle(id)
    const was = await read(id)
    await platform.kubectl(['delete', 'inv', id])
    await gone(id)
    const items = [{ description: 'other', qty: '1', unitCents: 1 }]
    const stranger = {
      apiVersion: 'bottega.dev/v1alpha1',
      kind: 'Invoice',
      metadata: { name: id },
      spec: { account: 'demo', send: true, items },
    }
    await platform.kubectl(['apply', '-f', '-'], stranger)
    await platform.kubectl(['wait', `inv/${id}`, '--for=condition=Stalled', '--timeout=30s'])
    assert.equal(await read(id), was)
    await platform.kubectl(['delete', 'inv', id])
    await eventually('it to be gone', async () => !(await isThere(id)))
    assert.equal(await read(id), was)
    assert.is((await api('POST', `/${id}/credit-note`)).status, 201)
  })

  t("is nobody else's who writes the same order under its name", async () => {
    const { id } = await make({ paid: { method: 'cash' } })
    await settle(id)
    const was = await read(id)
    const { spec } = JSON.parse(await platform.kubectl(['get', 'inv', id, '-o', 'json']))
    await platform.kubectl(['delete', 'inv', id])
    await gone(id)
    const twin = { apiVersion: 'bottega.dev/v1alpha1', kind: 'Invoice', metadata: { name: id } }
    await platform.kubectl(['apply', '-f', '-'], { ...twin, spec: { ...spec, account: 'other' } })
    await platform.kubectl(['wait', `inv/${id}`, '--for=condition=Stalled', '--timeout=30s'])
    const written = await platform.kubectl(['get', 'inv', id, '-o', 'jsonpath={.status}'])
    assert.match(written, /NAME_TAKEN/)
    assert.not.match(written, new RegExp(was.number))
    const other = await call(platform.baseUrl, await platform.token('other'), 'GET', `/api/invoices/${id}`)
    assert.is(other.status, 404, other.text)
    assert.equal(await read(id), was)
  })
})
