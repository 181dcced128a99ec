import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { query } from '../../../hack/platform/postgres.ts'
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
import { scratchFolder } from '../../support/stage/stage.ts'

let platform: Platform
const folder = scratchFolder('books')
const api = (
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
  token = platform.owner,
) => call(platform.baseUrl, token, method, `/api/invoices${path}`, body, headers)
const get = async (path: string): Promise<Json> => {
  const reply = await api('GET', path)
  assert.is(reply.status, 200, reply.text)
  return reply.json
}
const make = async (change: Record<string, unknown> = {}): Promise<Json> => {
  const made = await api('POST', '', order(change))
  assert.is(made.status, 201, made.text)
  return made.json.invoice
}
const refused = (reply: Reply, code: string, pointer?: string) => {
  assert.is(reply.json?.code, code, reply.text)
  if (pointer !== undefined) assert.is(reply.json.errors[0].pointer, pointer)
}
const sql = (text: string, values: unknown[] = []) => query(platform.database.url, text, values)
const rowsOf = (text: string): string[][] =>
  text
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(','))

spec('the books over REST', (t) => {
  t.before(async () => {
    platform = await startPlatform()
  })
  t.after(async () => {
    rmSync(folder, { recursive: true, force: true })
    await platform.end()
  })

  t('a list refuses a filter that makes no sense, and says which', async () => {
    const bad: [string, string][] = [
      ['status=nope', '/status'],
      ['since=2026-02-31', '/since'],
      ['since=yesterday', '/since'],
      ['limit=0', '/limit'],
      ['limit=201', '/limit'],
      ['offset=-1', '/offset'],
    ]
    for (const [search, pointer] of bad) {
      refused(await api('GET', `?${search}`), 'INVALID_FIELD', pointer)
      if (!/limit|offset/.test(search)) refused(await api('GET', `/export.csv?${search}`), 'INVALID_FIELD', pointer)
    }
    refused(await api('GET', '?client=x'), 'UNKNOWN_PARAMETER')
    refused(await api('GET', '?client_email=%00'), 'INVALID_FIELD')
    assert.is((await api('GET', '/%00')).json.code, 'NOT_FOUND')
    refused(await api('GET', '/reconciliation?month=2026-13'), 'INVALID_FIELD', '/month')
  })

  t('a month adds up what was issued, paid, credited and voided, without tests, as JSON and as CSV', async () => {
    const currency = 'CHF'
    const zero = { currency, tax_rate_bp: 0 }
    const of = (cents: number, more: object = {}) =>
      make({ ...zero, items: [{ description: 'x', qty: 1, unit_cents: cents }], ...more })
    await of(1_000)
    await of(20_000, { paid: { method: 'cash', reference: '' } })
    const partly = await of(300_000)
    await api('POST', `/${partly.id}/payments`, { amount_cents: 100_000 })
    const voided = await of(4_000_000)
    await api('POST', `/${voided.id}/payments`, { amount_cents: 1_000_000 })
    assert.is((await api('POST', `/${voided.id}/void`)).status, 200)
    const credited = await of(50_000_000)
    await api('POST', `/${credited.id}/credit-note`, { amount_cents: 10_000_000 })
    await of(600_000_000, { test: true })
    await make({ ...zero, send: false })

    const month = new Date().toISOString().slice(0, 7)
    const { rollup } = await get(`/reconciliation?month=${month}`)
    assert.equal(
      rollup.filter((row: Json) => row.currency === currency),
      [
        {
          currency,
          issuer_id: 'iss-default',
          issued_count: 5,
          issued_cents: 54_321_000,
          voided_cents: 4_000_000,
          paid_gateway_cents: 0,
          paid_manual_cents: 1_120_000,
          received_on_voided_cents: 1_000_000,
          credited_cents: 10_000_000,
          refunded_cents: 0,
          outstanding_cents: 1_000 + 200_000 + 40_000_000,
          overdue_cents: 0,
          amended_cents: 0,
        },
      ],
    )
    assert.equal(await get('/reconciliation'), { month, rollup }, 'the present month when none is named')
    const past = await get('/reconciliation?month=2020-01')
    assert.equal(
      past.rollup.map((row: Json) => [row.currency, row.issued_cents, row.outstanding_cents]),
      [[currency, 0, 40_201_000]],
    )

    const asked = await api('GET', `/reconciliation?month=${month}`, undefined, { accept: 'text/csv' })
    assert.match(asked.headers.get('content-type') ?? '', /^text\/csv/)
    assert.is((await api('GET', `/reconciliation?month=${month}&format=csv`)).text, asked.text)
    const [head, row] = rowsOf(asked.text)
    assert.is(row?.[head?.indexOf('paid_manual_cents') ?? -1], '1120000')
  })

  t('an export has the columns that were promised, what the filters leave, and no formulas', async () => {
    const external_ref = `export-${Date.now()}`
    const { number } = await make({ external_ref, client_name: '=HYPERLINK("x")', client_email: 'table@acme.test' })
    const reply = await api('GET', '/export.csv?client_email=table@acme.test')
    assert.match(reply.headers.get('content-disposition') ?? '', /filename="invoices\.csv"/)
    const [head, row, ...more] = reply.text.split('\r\n')
    assert.match(head ?? '', /^number,status,issuer_id,.*,external_ref$/)
    assert.ok(
      row?.startsWith(`${number},sent,iss-default,"'=HYPERLINK(""x"")",table@acme.test,EUR,120000,0,24000,144000,`),
      row,
    )
    assert.equal(more, [''])
    const all = rowsOf((await api('GET', '/export.csv')).text)
    assert.is(all.length - 1, (await get('?limit=1')).total)
    const others = await api('GET', '/export.csv', undefined, {}, await platform.token('other'))
    assert.is(rowsOf(others.text).length, 1, "another account's export has none of it")
  })

  t('explains how an invoice came to its balance, and another account nothing', async () => {
    const { id } = await make({ discount_cents: 100 })
    await api('POST', `/${id}/payments`, { amount_cents: 880 })
    const { explanation } = await get(`/${id}/explain`)
    const { invoice } = await get(`/${id}`)
    assert.equal([explanation.total_cents, explanation.balance_cents], [invoice.total_cents, invoice.balance_cents])
    assert.equal(
      explanation.steps.map((step: Json) => step.step),
      ['line', 'subtotal', 'group', 'discount', 'tax', 'total', 'payment', 'balance'],
    )
    const stranger = await api('GET', `/${id}/explain`, undefined, {}, await platform.token('other'))
    assert.is(stranger.status, 404)
  })

  t('a rehearsal says what create would, in the same codes, and does nothing', async () => {
    const everything = async () => [
      await sql(
        `select relname, (xpath('/row/n/text()', query_to_xml('select count(*) as n from ' || quote_ident(relname), false, true, '')))[1]::text as n
        from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace order by 1`,
      ),
      await platform.kubectl(['get', 'bottega', '-o', 'jsonpath={.items[*].metadata.resourceVersion}']),
    ]
    const external_ref = `rehearsed-${Date.now()}`
    const { id, number } = await make({ external_ref })
    const rehearse = async (body: unknown): Promise<Json> => {
      const reply = await api('POST', '/preflight', body)
      assert.is(reply.status, 200, reply.text)
      return reply.json
    }
    await eventually('rest', async () => (await get(`/${id}`)).invoice.delivery.state === 'accepted')
    const before = await everything()

    const good = await rehearse(order({ due_date: '2099-12-20' }))
    assert.equal([good.ok, good.problems, good.replay_of, good.gate], [true, [], null, 'password'])
    assert.is(good.totals.total_cents, 144_000)
    assert.equal(
      good.reminders.map(({ on }: Json) => on),
      ['2099-12-17', '2099-12-20', '2099-12-27', '2100-01-03'],
    )
    assert.is((await rehearse(order({ client_email: 'OTHER@demo.test' }))).gate, 'account')
    assert.equal((await rehearse(order({ external_ref }))).replay_of, { id, number })
    const bad: [Record<string, unknown>, string, string][] = [
      [{ items: [] }, 'NO_ITEMS', '/items'],
      [{ items: [{ description: 'x', qty: 0, unit_cents: 1 }] }, 'ZERO_TOTAL', '/items'],
      [{ send: false, paid: { method: 'cash' } }, 'PAID_REQUIRES_SEND', '/paid'],
      [{ paid: { method: 'cash', amount_cents: 144_001 } }, 'BAD_PAID_AMOUNT', '/paid/amount_cents'],
      [{ external_ref: 'no spaces' }, 'BAD_EXTERNAL_REF', '/external_ref'],
      [{ external_ref, currency: 'USD' }, 'REF_PAYLOAD_MISMATCH', '/currency'],
      [{ metadata: { a: {} } }, 'BAD_METADATA', '/metadata/a'],
      [{ issuer_id: 'iss-nobody' }, 'BAD_ISSUER', '/issuer_id'],
      [{ custoner: 'x' }, 'UNKNOWN_FIELD', '/custoner'],
      [{ due_date: '2026-02-30' }, 'INVALID_FIELD', '/due_date'],
      [{ items: [{ description: 'x', qty: 0.1234567, unit_cents: 1 }] }, 'INVALID_FIELD', '/items/0/qty'],
    ]
    for (const [change, code, pointer] of bad) {
      const found = await rehearse(order(change))
      assert.is(found.ok, false, code)
      assert.equal([found.problems[0].code, found.problems[0].pointer], [code, pointer])
    }
    assert.is((await rehearse([])).ok, false)
    assert.equal(await everything(), before, 'not a row and not an object differs')
    for (const [change, code] of bad) refused(await api('POST', '', order(change)), code)

    await sql("update send_days set used = 1000 where account = 'demo'")
    assert.equal(
      (await rehearse(order())).problems.map((one: Json) => one.code),
      ['SEND_CAP'],
    )
    refused(await api('POST', '', order()), 'SEND_CAP')
    assert.is((await rehearse(order({ test: true }))).ok, true)
    assert.equal((await rehearse(order({ external_ref }))).ok, true, 'a repeat takes no place')
    await sql("update send_days set used = 10 where account = 'demo'")
  })

  t('the register verifies over REST and, as a file, without the service', async () => {
    const { id } = await make()
    await api('POST', `/${id}/credit-note`, { amount_cents: 100 })
    await make({ test: true })
    const { series } = await get('/numbering')
    const year = new Date().getUTCFullYear()
    const own = series.find((one: Json) => one.kind === 'invoice' && !one.test)
    assert.equal([own.issuer_id, own.prefix, own.year, own.first, own.verified], ['iss-default', 'INV', year, 1, true])
    assert.is(own.count, own.last)
    assert.ok(series.some((one: Json) => one.prefix === 'CNINV' && one.kind === 'credit_note' && one.count > 0))
    assert.ok(series.some((one: Json) => one.prefix === 'TEST' && one.test && one.issuer_id === null))
    const page = await get(`/numbering?series=${encodeURIComponent(own.id)}&limit=2&offset=1`)
    assert.equal([page.total, page.total > own.count, page.entries.length], [own.entries, true, 2])
    const last = await get(`/numbering?series=${encodeURIComponent(own.id)}&limit=1&offset=${own.entries - 1}`)
    const [credited] = last.entries
    assert.equal([credited.entry, credited.total_cents, credited.invoice_id], ['credited', 100, id])
    assert.match(credited.reference, /^CNINV-/)
    assert.is(page.entries[1].prev_hash, page.entries[0].hash)
    const stranger = await platform.token('other')
    const unseen = await api('GET', `/numbering?series=${encodeURIComponent(own.id)}`, undefined, {}, stranger)
    assert.is(unseen.status, 404)

    const file = join(folder, 'register.jsonl')
    const exported = async (): Promise<string> => {
      const headers = { authorization: `Bearer ${platform.owner}` }
      return (await fetch(`${platform.baseUrl}/api/invoices/numbering/export`, { headers })).text()
    }
    writeFileSync(file, await exported())
    const script = join(folder, 'verify-register.mjs')
    writeFileSync(script, await (await fetch(`${platform.baseUrl}/client/verify-register.mjs`)).text())
    const checked = spawnSync(process.execPath, [script, file], { encoding: 'utf8' })
    assert.is(checked.status, 0, checked.stdout + checked.stderr)
    assert.match(checked.stdout, new RegExp(`${series.length} series, \\d+ entries, all of it holds`))

    // somebody with the rights of a superuser alters the ledger
    await sql('alter table register disable trigger register_is_append_only')
    await sql('update register set total_cents = total_cents + 1 where resource = $1', [id])
    const { series: altered } = await get('/numbering')
    assert.is(altered.find((one: Json) => one.id === own.id).verified, false)
    writeFileSync(file, await exported())
    const wrong = spawnSync(process.execPath, [script, file], { encoding: 'utf8' })
    assert.is(wrong.status, 1)
    assert.match(wrong.stdout, new RegExp(`${(await get(`/${id}`)).invoice.number} .* was altered`))
    await sql('update register set total_cents = total_cents - 1 where resource = $1', [id])
    await sql('alter table register enable trigger register_is_append_only')
  })
})
