import { query } from '../../../hack/platform/postgres.ts'
import { readPdf } from '../../support/judges/pdftext.ts'
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

let platform: Platform
const TOTAL = 144_000
const post = (path: string, body?: unknown, headers: Record<string, string> = {}, token = platform.owner) =>
  call(platform.baseUrl, token, 'POST', `/api/invoices${path}`, body, headers)
const get = async (path: string): Promise<Json> =>
  (await call(platform.baseUrl, platform.owner, 'GET', `/api/invoices${path}`)).json
const make = async (change: Record<string, unknown> = {}): Promise<Json> => {
  const made = await post('', order(change))
  assert.is(made.status, 201, made.text)
  return { ...made.json.invoice, password: made.json.password }
}
const refused = (reply: Reply, status: number, code: string) =>
  assert.equal([reply.status, reply.json?.code], [status, code], reply.text)
const sql = (text: string, values: unknown[] = []) => query(platform.database.url, text, values)
const told = async (id: string) =>
  (
    await sql("select payload ->> 'type' as type from outbox where resource = $1 and channel = 'event' order by id", [
      id,
    ])
  ).map(({ type }) => String(type).slice('invoice.'.length))
const mailsTo = async (address: string) =>
  (await mailsIn(platform.mailDir)).filter((mail) => mail.to?.[0]?.address === address)
const pdfText = async (path: string): Promise<string> => {
  const headers = { authorization: `Bearer ${platform.owner}` }
  const response = await fetch(`${platform.baseUrl}/api/invoices${path}`, { headers })
  assert.is(response.headers.get('content-type'), 'application/pdf')
  return readPdf(Buffer.from(await response.arrayBuffer()))
    .pages.flat()
    .join('\n')
}
const patch = (name: string, change: object) =>
  platform.kubectl(['patch', 'inv', name, '--type=merge', '-p', JSON.stringify({ spec: change })])

spec('money on an invoice', (t) => {
  t.before(async () => {
    platform = await startPlatform()
  })
  t.after(() => platform.end())

  t('a part makes it partial, the rest pays it: a PAID snapshot, a receipt and one event', async () => {
    const { id, number } = await make({ client_email: 'payer@acme.test', metadata: { po: 7 } })
    const part = await post(`/${id}/payments`, { amount_cents: 44_000, method: 'transfer', reference: 'SEPA 1' })
    assert.is(part.status, 200, part.text)
    const { status, paid_cents, balance_cents, payments } = part.json.invoice
    assert.equal([status, paid_cents, balance_cents], ['partial', 44_000, 100_000])
    assert.equal(
      payments.map((one: Json) => [one.amount_cents, one.method, one.reference, one.declared_by]),
      [[44_000, 'transfer', 'SEPA 1', 'owner']],
    )
    refused(
      await call(platform.baseUrl, platform.owner, 'PATCH', `/api/invoices/${id}`, { terms: 'x' }),
      409,
      'LOCKED_PARTIAL',
    )
    refused(await post(`/${id}/payments`, { amount_cents: 100_001 }), 400, 'BAD_PAID_AMOUNT')
    const rest = await post(`/${id}/payments`)
    assert.equal([rest.json.invoice.status, rest.json.invoice.balance_cents], ['paid', 0])
    assert.ok(rest.json.invoice.paid_at)
    refused(await post(`/${id}/payments`, { amount_cents: 1 }), 409, 'NOTHING_DUE')
    refused(
      await call(platform.baseUrl, platform.owner, 'PATCH', `/api/invoices/${id}`, { terms: 'x' }),
      409,
      'LOCKED_PAID',
    )
    const { snapshots } = await get(`/${id}/snapshots`)
    assert.equal(
      snapshots.map(({ kind }: Json) => kind),
      ['paid', 'invoice'],
    )
    assert.match(await pdfText(`/${id}/pdf`), /PAID/)
    assert.not.match(await pdfText(`/${id}/snapshots/${snapshots[1].sha256}`), /PAID/)
    const receipt = await eventually('the receipt', async () =>
      (await mailsTo('payer@acme.test')).find(({ subject }) => subject?.includes('Receipt')),
    )
    assert.ok(receipt.subject?.includes(number) && receipt.subject.includes('1,440.00 EUR'))
    assert.equal(await told(id), ['sent', 'paid'])
    const [event] = await sql(
      "select payload -> 'data' as data from outbox where resource = $1 and payload ->> 'type' = 'invoice.paid'",
      [id],
    )
    const { invoice } = (event as Json).data
    assert.equal(
      [
        invoice.id,
        invoice.number,
        invoice.status,
        invoice.paid_cents,
        invoice.balance_cents,
        invoice.issuer_id,
        invoice.metadata,
      ],
      [id, number, 'paid', TOTAL, 0, 'iss-default', { po: 7 }],
    )
    assert.not.match(JSON.stringify(event), /retainer|ACME/)
  })

  t('a repeat under one Idempotency-Key is one payment, and what is malformed is refused with its place', async () => {
    const { id } = await make()
    const key = { 'idempotency-key': 'pay-once' }
    const pay = () => post(`/${id}/payments`, { amount_cents: 1_000 }, key)
    const [first, again] = [await pay(), await pay()]
    assert.equal([first.status, again.status, again.headers.get('idempotency-replayed')], [200, 200, 'true'])
    assert.equal([(await get(`/${id}`)).invoice.paid_cents, first.json], [1_000, again.json])
    refused(await post(`/${id}/payments`, { amount_cents: 2_000 }, key), 409, 'IDEMPOTENCY_MISMATCH')
    for (const amount_cents of [0, -5, 1.5, '100'])
      refused(await post(`/${id}/payments`, { amount_cents }), 400, 'BAD_PAID_AMOUNT')
    refused(await post(`/${id}/payments`, { amount: 5 }), 400, 'UNKNOWN_FIELD')
    refused(await post(`/${id}/credit-note`, { amount_cents: 5, items: order().items }), 400, 'INVALID_FIELD')
    refused(await post(`/${id}/payments`, {}, {}, await platform.token('other')), 404, 'NOT_FOUND')
  })

  t('a draft takes no money, no credit note and no void', async () => {
    const { id } = await make({ send: false })
    refused(await post(`/${id}/payments`), 409, 'NOT_PAYABLE')
    refused(await post(`/${id}/credit-note`), 409, 'NOT_NUMBERED')
    refused(await post(`/${id}/void`), 409, 'NOT_NUMBERED')
    const sent = await post(`/${id}/send`)
    assert.equal([sent.status, sent.json.invoice.status, sent.json.invoice.send_count], [200, 'sent', 1], sent.text)
    assert.match(sent.json.password, /^\w{12}$/)
  })

  t('a resend freezes, mails and counts once more, and only its password opens the page', async () => {
    const { id, url, password } = await make({ client_email: 'again@acme.test' })
    const used = async () => Number((await sql('select sum(used) as n from send_days'))[0]?.n)
    const before = await used()
    const again = await post(`/${id}/send`)
    assert.equal([again.status, again.json.invoice.send_count, await used()], [200, 2, before + 1], again.text)
    assert.not(again.json.password === password)
    const path = url.slice(platform.baseUrl.length)
    const enter = (word: string) =>
      call(platform.baseUrl, null, 'POST', path, `password=${word}`, {
        'content-type': 'application/x-www-form-urlencoded',
      })
    assert.equal([(await enter(password)).status, (await enter(again.json.password)).status], [403, 303])
    await eventually('both mails', async () => (await mailsTo('again@acme.test')).length === 2)
    await eventually('the look', async () => (await told(id)).length === 3)
    assert.equal(await told(id), ['sent', 'sent', 'viewed'])
    assert.equal((await get(`/${id}/snapshots`)).snapshots.length, 2)
  })

  t('a voided one keeps its number and its money, says so, and is locked for REST and kubectl', async () => {
    const { id, number } = await make()
    await post(`/${id}/payments`, { amount_cents: 44_000 })
    const gone = await post(`/${id}/void`)
    const { status, balance_cents, paid_cents, voided_at, warnings } = gone.json.invoice
    assert.equal(
      [gone.status, status, gone.json.invoice.number, balance_cents, paid_cents],
      [200, 'voided', number, 0, 44_000],
    )
    assert.ok(voided_at && warnings.some((one: string) => one.includes('440.00 EUR')))
    assert.is((await post(`/${id}/void`)).status, 200)
    assert.match(await pdfText(`/${id}/pdf`), /VOID/)
    refused(await post(`/${id}/payments`), 409, 'NOT_PAYABLE')
    refused(await post(`/${id}/credit-note`), 409, 'LOCKED_VOID')
    refused(await post(`/${id}/send`), 409, 'LOCKED_VOID')
    refused(
      await call(platform.baseUrl, platform.owner, 'PATCH', `/api/invoices/${id}`, { terms: 'x' }),
      409,
      'LOCKED_VOID',
    )
    await assert.rejects(patch(id, { void: false }), /LOCKED_VOID/)
    await assert.rejects(patch(id, { terms: 'x' }), /LOCKED_VOID/)
    assert.equal(await told(id), ['sent', 'voided'])
    assert.equal((await get(`?status=voided&limit=1`)).invoices[0].id, id)
  })

  t('kubectl voids a paid one and edits nothing else of it', async () => {
    const { id } = await make()
    await post(`/${id}/payments`)
    await assert.rejects(patch(id, { terms: 'x' }), /LOCKED_PAID/)
    await assert.rejects(patch(id, { void: true, terms: 'x' }), /LOCKED_PAID/)
    await patch(id, { void: true })
    const status = await eventually(
      'the void',
      async () => (await get(`/${id}`)).invoice.voided_at && (await get(`/${id}`)).invoice.status,
    )
    assert.is(status, 'voided')
  })

  t('credit notes: by amount, by items and of the rest, numbered 1 to n in a register of their own', async () => {
    const { id, number } = await make()
    const amount = await post(`/${id}/credit-note`, { amount_cents: 24_000, reason: 'late delivery' })
    assert.is(amount.status, 201, amount.text)
    assert.equal(
      [amount.json.credit_note.amount_cents, amount.json.invoice.credited_cents, amount.json.invoice.balance_cents],
      [24_000, 24_000, 120_000],
    )
    const items = await post(`/${id}/credit-note`, {
      items: [{ description: 'One hour', qty: 0.5, unit_cents: 80_000 }],
    })
    assert.is(items.json.credit_note.amount_cents, 48_000)
    refused(await post(`/${id}/credit-note`, { amount_cents: 72_001 }), 409, 'CREDIT_EXCEEDS_REST')
    refused(await post(`/${id}/credit-note`, { refund: true }), 409, 'NO_GATEWAY_PAYMENT')
    const rest = await post(`/${id}/credit-note`)
    const { invoice } = rest.json
    assert.equal(
      [rest.json.credit_note.amount_cents, invoice.status, invoice.paid_cents, invoice.credited_cents],
      [72_000, 'paid', 0, TOTAL],
    )
    refused(await post(`/${id}/credit-note`), 409, 'CREDIT_EXCEEDS_REST')
    const notes = invoice.credit_notes as Json[]
    assert.equal(
      notes.map((one) => /^CNINV-\d{3}-(\d{4})$/.exec(one.number)?.[1]),
      ['0001', '0002', '0003'],
    )
    const text = await pdfText(`/${id}/snapshots/${notes[0].sha256}`)
    for (const part of ['Credit note', notes[0].number, number, 'late delivery', '240.00 EUR'])
      assert.ok(text.includes(part), part)
    assert.equal(await told(id), ['sent', 'credit_noted', 'credit_noted', 'credit_noted'])
    const [series] = await sql("select id, last_seq::int as last from series where id like '%/credit_note/%'")
    const [verified] = await sql('select count::int, first_bad from verify_series($1)', [series?.id])
    assert.equal(verified, { count: 3, first_bad: null })
  })

  t('a test invoice is credited in the TEST-CN series and mails nothing', async () => {
    const { id } = await make({ test: true, client_email: 'nobody@acme.test' })
    await post(`/${id}/payments`)
    const { json } = await post(`/${id}/credit-note`)
    assert.match(json.credit_note.number, /^TEST-CN-\d{3}-0001$/)
    assert.is((await mailsTo('nobody@acme.test')).length, 0)
  })

  t(
    '64 parallel payments, credit notes and voids of one invoice: one outcome, and the books balance',
    async () => {
      const { id } = await make({ client_email: 'storm@acme.test' })
      const ask = (n: number): Promise<Reply> => {
        if (n === 40 || n === 50) return post(`/${id}/void`)
        if (n % 3 === 0)
          return post(`/${id}/credit-note`, { amount_cents: 1_000 * ((n % 7) + 1), reason: `storm ${n}` })
        // each with a reference of its own: without, equal ones at once are one
        const reference = `storm ${n}`
        return post(
          `/${id}/payments`,
          n % 11 === 0 ? { reference } : { reference, amount_cents: 1_000 * ((n % 13) + 1) },
        )
      }
      const replies = await Promise.all(Array.from({ length: 64 }, (_, n) => ask(n)))
      const statuses = replies.map(({ status }) => status)
      assert.equal(
        statuses.filter((status) => ![200, 201, 400, 409].includes(status)),
        [],
        replies.find(({ status }) => status >= 500 || status === 202)?.text,
      )
      const { invoice } = await get(`/${id}`)
      const sum = (list: Json[]) => list.reduce((total, { amount_cents }) => total + amount_cents, 0)
      assert.is(invoice.status, 'voided')
      assert.equal([sum(invoice.payments), sum(invoice.credit_notes)], [invoice.paid_cents, invoice.credited_cents])
      assert.ok(invoice.paid_cents <= TOTAL && invoice.credited_cents <= TOTAL)
      // who was told yes is on record, and nobody else
      const ok = (path: number) =>
        replies.filter(({ status }, n) => (n % 3 === 0 ? 1 : 0) === path && n !== 40 && n !== 50 && status < 300)
      assert.equal([ok(0).length, ok(1).length], [invoice.payments.length, invoice.credit_notes.length])
      const facts = await sql(
        'select state, count(*)::int as n from facts where resource = $1 and kind in ($2, $3) group by 1',
        [id, 'payment', 'credit'],
      )
      assert.is(
        facts.some(({ state }) => state === 'pending'),
        false,
      )
      const types = await told(id)
      assert.is(types.filter((type) => type === 'voided').length, 1)
      assert.is(types.filter((type) => type === 'credit_noted').length, invoice.credit_notes.length)
      assert.ok(types.filter((type) => type === 'paid').length <= 1)
      for (const { id: series, last } of await sql('select id, last_seq::int as last from series')) {
        const [row] = await sql('select count::int, first_bad from verify_series($1)', [series])
        assert.equal(row, { count: last, first_bad: null })
      }
      console.log(
        `\n  64 at once: ${invoice.payments.length} payments, ${invoice.credit_notes.length} credit notes, then void`,
      )
    },
    { timeoutMs: 120_000 },
  )
})
