import Stripe from 'stripe'
import { query } from '../../../hack/platform/postgres.ts'
import { type Cards, startCards, WEBHOOK_SECRET } from '../../support/doubles/cards.ts'
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

/** Card collection through both processes: the library's requests pass the processor's own mock, a stand-in keeps state. */

const TOTAL = 144_000
let platform: Platform
let cards: Cards

const api = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  call(platform.baseUrl, platform.owner, method, `/api/invoices${path}`, body, headers)
const post = (path: string, body?: unknown) => api('POST', path, body)
const read = async (id: string): Promise<Json> => (await api('GET', `/${id}`)).json.invoice
const sql = (text: string, values: unknown[] = []) => query(platform.database.url, text, values)
const refused = (reply: Reply, status: number, code: string) =>
  assert.equal([reply.status, reply.json?.code], [status, code], reply.text)
const switchRail = async (enabled: boolean) => {
  const reply = await post('/settings/rails', { rail: 'stripe', enabled })
  assert.equal([reply.status, reply.json], [200, { rail: 'stripe', enabled, available: true }], reply.text)
}
/** What is said of money; that a document carries no XML is no matter here. */
const aboutMoney = ({ warnings }: Json): string[] => warnings.filter((one: string) => !one.startsWith('XML_'))
const told = async (id: string): Promise<string[]> => {
  const text = "select payload ->> 'type' as type from outbox where resource = $1 and channel = 'event' order by id"
  const types = (await sql(text, [id])).map(({ type }) => String(type).slice('invoice.'.length))
  // entering the password is a look
  return types.filter((type) => type !== 'viewed')
}

type Client = { id: string; number: string; path: string; cookie: string }

/** A sent invoice and the way in that its client has. */
const make = async (change: Record<string, unknown> = {}): Promise<Client> => {
  const made = await post('', order(change))
  assert.is(made.status, 201, made.text)
  const { id, number, url } = made.json.invoice
  const path = new URL(url).pathname
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const entered = await call(platform.baseUrl, null, 'POST', path, `password=${made.json.password}`, form)
  return { id, number, path, cookie: entered.headers.get('set-cookie')?.split(';', 1)[0] ?? '' }
}
const JSON_ONLY = { accept: 'application/json' }
const payNow = ({ path, cookie }: Client, headers: Record<string, string> = JSON_ONLY) =>
  call(platform.baseUrl, null, 'POST', `${path}/pay`, undefined, { cookie, ...headers })
const sessionOf = (reply: Reply): string => {
  assert.is(reply.status, 200, reply.text)
  return String(reply.json.checkout_url.split('/').at(-1))
}
const paid = async (client: Client): Promise<Client> => {
  assert.is(await cards.pay(sessionOf(await payNow(client))), 303)
  assert.is((await read(client.id)).status, 'paid')
  return client
}
/** A message of one's own about a session; signed unless a signature is given. */
const message = async (object: object, { type = 'checkout.session.completed', signature, ...more }: Json = {}) => {
  const event = { id: 'evt_own', object: 'event', type, livemode: false, data: { object }, ...more }
  const payload = JSON.stringify(event)
  const header = signature ?? Stripe.webhooks.generateTestHeaderString({ payload, secret: WEBHOOK_SECRET })
  return call(platform.baseUrl, null, 'POST', '/api/collect/stripe/webhook', payload, { 'stripe-signature': header })
}

spec('card collection', (t) => {
  t.before(async () => {
    cards = await startCards(() => platform.baseUrl)
    platform = await startPlatform({ env: cards.env })
    await switchRail(true)
  })
  t.after(async () => {
    await platform.end()
    await cards.end()
  })

  t('is a setting of the account, and visible on each invoice with the reason why not', async () => {
    const { id } = await make()
    assert.equal((await read(id)).collect, { enabled: true, offered: true, reason: null })
    await switchRail(false)
    assert.equal((await api('GET', '/settings/rails')).json, { rail: 'stripe', enabled: false, available: true })
    const off = { enabled: false, offered: false, reason: 'ACCOUNT_OFF' }
    await eventually('the switch', async () => (await read(id)).collect.reason === 'ACCOUNT_OFF')
    assert.equal((await read((await make()).id)).collect, off)
    await switchRail(true)
    await eventually('the switch back', async () => (await read(id)).collect.offered)
    const kept = await make({ collect: { enabled: false } })
    assert.equal((await read(kept.id)).collect, { enabled: false, offered: false, reason: 'INVOICE_OFF' })
    refused(await payNow(kept), 404, 'COLLECT_OFF')
    refused(await post('/settings/rails', { rail: 'other', enabled: true }), 400, 'INVALID_FIELD')
  })

  t('leads from the page to the checkout, and back to a paid invoice', async () => {
    const client = await make()
    const shown = await call(platform.baseUrl, null, 'GET', client.path, undefined, { cookie: client.cookie })
    assert.match(
      shown.text,
      /<form class="pay" method="post" action="\/i\/[^"]+\/pay\?lang=en">\s*<button type="submit">Pay 1,440\.00 EUR now</,
    )
    assert.match(shown.headers.get('content-security-policy') ?? '', new RegExp(`form-action 'self' ${cards.apiBase}`))
    const led = await payNow(client, {})
    const url = led.headers.get('location') ?? ''
    assert.equal([led.status, url.startsWith(`${cards.apiBase}/pay/`)], [303, true], led.text)
    const session = cards.sessions.get(url.split('/').at(-1) ?? '')
    assert.equal(
      [session?.client_reference_id, session?.metadata.invoice_id, session?.amount_total, session?.customer_email],
      [client.id, client.id, TOTAL, 'billing@acme.test'],
    )
    const back = `${client.path}?from_checkout=true`
    const show = () => call(platform.baseUrl, null, 'GET', back, undefined, { cookie: client.cookie })
    const early = await show()
    assert.match(early.text, /role="status">Your payment is being confirmed/)
    assert.not.match(early.text, /class="pay" method/, 'nobody pays twice while the signed word is awaited')
    const done = await fetch(url, { method: 'POST', redirect: 'manual' })
    assert.equal([done.status, done.headers.get('location')], [303, `${platform.baseUrl}${back}`])
    assert.not.match((await show()).text, /being confirmed/)
    const invoice = await read(client.id)
    assert.equal([invoice.status, invoice.paid_cents, invoice.balance_cents], ['paid', TOTAL, 0])
    const [payment] = invoice.payments
    assert.equal([payment.declared_by, payment.method, payment.reference], ['gateway', 'card', session?.payment_intent])
    assert.equal(await told(client.id), ['sent', 'paid'])
    refused(await payNow(client), 409, 'NOTHING_DUE')
  })

  t('opens one session for one balance, however often and however parallel it is asked', async () => {
    const client = await make()
    const replies = await Promise.all(Array.from({ length: 12 }, () => payNow(client)))
    const urls = new Set(replies.map((reply) => sessionOf(reply)))
    assert.is(urls.size, 1)
    assert.is(sessionOf(await payNow(client)), [...urls][0])
    const made = [...cards.sessions.values()].filter(({ metadata }) => metadata.invoice_id === client.id)
    assert.is(made.length, 1)
  })

  t('is asked for without waiting, and is there when it is asked for again; a form always waits', async () => {
    const client = await make()
    const prefer = { ...JSON_ONLY, prefer: 'respond-async' }
    await platform.controllers.stop()
    const asked = await payNow(client, prefer)
    assert.equal([asked.status, asked.json], [202, { checkout_url: null }], asked.text)
    assert.equal([asked.headers.get('location'), asked.headers.get('retry-after')], [client.path, '2'])
    assert.is((await payNow(client, prefer)).status, 202)
    const requested = "select 1 from facts where resource = $1 and kind = 'checkout'"
    assert.is((await sql(requested, [client.id])).length, 1, 'whoever asks again waits for the same one')
    await platform.controllers.start()
    await eventually('the checkout', async () => (await payNow(client, prefer)).status === 200)
    const other = await make()
    assert.is((await payNow(other, { prefer: 'respond-async' })).status, 303)
  })

  t('stands behind the gate of the page', async () => {
    const { path } = await make()
    refused(await payNow({ id: '', number: '', path, cookie: '' }), 401, 'UNAUTHENTICATED')
    const page = await payNow({ id: '', number: '', path, cookie: '' }, {})
    assert.equal([page.status, /type="password"/.test(page.text)], [401, true])
    refused(await payNow({ id: '', number: '', path: '/i/nobody', cookie: '' }), 404, 'NOT_FOUND')
  })

  t('ends a session whose amount is not due any more, and opens another', async () => {
    const client = await make()
    const first = sessionOf(await payNow(client))
    await post(`/${client.id}/payments`, { amount_cents: 44_000 })
    await eventually('the end of the first', async () => cards.sessions.get(first)?.status === 'expired')
    assert.is(await cards.pay(first), 410)
    const second = sessionOf(await payNow(client))
    assert.equal([first === second, cards.sessions.get(second)?.amount_total], [false, 100_000])
    await post(`/${client.id}/void`)
    await eventually('the end of the second', async () => cards.sessions.get(second)?.status === 'expired')
    refused(await payNow(client), 409, 'NOT_PAYABLE')
  })

  t('books what came in after all was paid, tells it to nobody twice, and warns', async () => {
    const client = await make()
    const session = cards.sessions.get(sessionOf(await payNow(client)))
    await post(`/${client.id}/payments`)
    const late = { ...session, status: 'complete', payment_status: 'paid', payment_intent: `pi_late_${client.id}` }
    const replies = await Promise.all([message(late), message(late), message(late, { id: 'evt_other' })])
    assert.equal(
      replies.map(({ status }) => status),
      [200, 200, 200],
    )
    const invoice = await read(client.id)
    assert.equal([invoice.status, invoice.paid_cents, invoice.payments.length], ['paid', 2 * TOTAL, 2])
    assert.match(invoice.warnings.join(), /1,440\.00 EUR was paid beyond/)
    assert.equal(await told(client.id), ['sent', 'paid'])
  })

  t('believes no message that is not signed, too large, too old, or of another amount, currency or mode', async () => {
    const client = await make()
    const session = cards.sessions.get(sessionOf(await payNow(client)))
    const done = { ...session, payment_status: 'paid', payment_intent: 'pi_forged' }
    refused(await message(done, { signature: 't=1,v1=00' }), 400, 'BAD_SIGNATURE')
    const old = Math.floor(Date.now() / 1000) - 400
    const stale = Stripe.webhooks.generateTestHeaderString({ payload: '{}', secret: WEBHOOK_SECRET, timestamp: old })
    const sent = { 'stripe-signature': stale }
    refused(await call(platform.baseUrl, null, 'POST', '/api/collect/stripe/webhook', '{}', sent), 400, 'BAD_SIGNATURE')
    const large = { ...done, padding: 'x'.repeat(300_000) }
    refused(await message(large), 413, 'BODY_TOO_LARGE')
    assert.is((await message({}, { type: 'customer.created' })).status, 200)
    const wrong = [{ amount_total: 1 }, { currency: 'usd' }, { id: 'cs_other' }]
    for (const [n, change] of wrong.entries()) {
      assert.is((await message({ ...done, payment_intent: `pi_${client.id}_${n}`, ...change })).status, 200)
    }
    await message({ ...done, payment_intent: `pi_${client.id}_live` }, { livemode: true })
    const invoice = await read(client.id)
    assert.equal(
      [invoice.status, invoice.paid_cents, aboutMoney(invoice).length],
      ['sent', 0, 4],
      invoice.warnings.join('\n'),
    )
    assert.equal(await told(client.id), ['sent'])
  })

  t('refunds through a credit note, once, and tells it when the processor has done it', async () => {
    const client = await paid(await make())
    const key = { 'idempotency-key': `refund-${client.id}` }
    const credit = () => api('POST', `/${client.id}/credit-note`, { amount_cents: 44_000, refund: true }, key)
    const [first, again] = [await credit(), await credit()]
    assert.equal([first.status, again.json.credit_note.id], [201, first.json.credit_note.id], first.text)
    const invoice = await eventually('the refund', async () => {
      const now = await read(client.id)
      return now.refunded_cents > 0 && now
    })
    assert.equal([invoice.refunded_cents, invoice.credited_cents, aboutMoney(invoice)], [44_000, 44_000, []])
    assert.equal(invoice.credit_notes[0].refund, { state: 'succeeded', amount_cents: 44_000, error: null })
    const made = [...cards.refunds.values()].filter(({ metadata }) => metadata.invoice_id === client.id)
    assert.equal([made.length, made[0]?.amount, made[0]?.payment_intent], [1, 44_000, invoice.payments[0].reference])
    await eventually('the event', async () => (await told(client.id)).includes('refunded'))
    // what the processor says of it later says nothing new
    await cards.notify('refund.updated', { ...made[0] })
    assert.equal(await told(client.id), ['sent', 'paid', 'credit_noted', 'refunded'])
    const rest = await post(`/${client.id}/credit-note`, { refund: true })
    assert.is(rest.json.credit_note.amount_cents, 100_000)
    refused(await post(`/${client.id}/credit-note`, { refund: true }), 409, 'NO_GATEWAY_PAYMENT')
    const manual = await make()
    await post(`/${manual.id}/payments`)
    refused(await post(`/${manual.id}/credit-note`, { refund: true }), 409, 'NO_GATEWAY_PAYMENT')
  })

  t('tries a refund again while the processor is away, and shows one that failed in the end', async () => {
    const client = await paid(await make())
    cards.trouble = { when: (asked) => asked === 'POST /v1/refunds', status: 503, code: '' }
    cards.refundStatus = 'pending'
    await post(`/${client.id}/credit-note`, { refund: true })
    await eventually('an attempt', async () => cards.requests.at(-1) === 'POST /v1/refunds')
    assert.equal((await read(client.id)).credit_notes[0].refund.state, 'asked')
    cards.trouble = null
    const refund = await eventually('the refund', async () =>
      [...cards.refunds.values()].find(({ metadata }) => metadata.invoice_id === client.id),
    )
    cards.refundStatus = 'succeeded'
    await eventually('what it came to', async () => (await read(client.id)).credit_notes[0].refund.state === 'pending')
    assert.is((await told(client.id)).includes('refunded'), false)
    await cards.notify('refund.failed', { ...refund, status: 'failed', failure_reason: 'lost_or_stolen_card' })
    const invoice = await read(client.id)
    assert.equal(
      invoice.credit_notes.map((note: Json) => note.refund),
      [{ state: 'failed', amount_cents: TOTAL, error: 'lost_or_stolen_card' }],
    )
    assert.match(invoice.warnings.join(), /lost_or_stolen_card/)
  })

  t('charges whole units only where a currency has no others', async () => {
    const yen = { currency: 'JPY', tax_rate_bp: 0, items: [{ description: 'a', qty: 1, unit_cents: 50_050 }] }
    refused(await post('', order(yen)), 400, 'CURRENCY_UNSUPPORTED_FOR_COLLECT')
    refused(await post('', order({ ...yen, send: false })), 400, 'BAD_AMOUNT')
    refused(await post('', order({ ...yen, collect: { enabled: false } })), 400, 'BAD_AMOUNT')
    // it has hundredths, and cards are charged none
    const ariary = { ...yen, currency: 'MGA' }
    refused(await post('', order(ariary)), 400, 'CURRENCY_UNSUPPORTED_FOR_COLLECT')
    const draft = await post('', order({ ...ariary, send: false }))
    assert.is(draft.status, 201, draft.text)
    refused(await post(`/${draft.json.invoice.id}/send`), 400, 'CURRENCY_UNSUPPORTED_FOR_COLLECT')
    const kept = await post('', order({ ...ariary, collect: { enabled: false } }))
    assert.is(kept.status, 201, kept.text)
    const whole = await make({ ...yen, items: [{ description: 'a', qty: 1, unit_cents: 50_000 }] })
    assert.is(cards.sessions.get(sessionOf(await payNow(whole)))?.amount_total, 500)
    await paid(whole)
    assert.is((await read(whole.id)).paid_cents, 50_000)
    const yenOf = (cents: number, more: Json = {}) => ({
      ...more,
      items: [{ description: 'a', qty: 1, unit_cents: cents }],
    })
    const taxed = await make({ ...yen, ...yenOf(1_234_500), tax_rate_bp: 1_000 })
    const { total_cents, tax_cents } = await read(taxed.id)
    assert.equal([total_cents, tax_cents], [1_358_000, 123_500])
    assert.is(cards.sessions.get(sessionOf(await payNow(taxed)))?.amount_total, 13_580)
    const half = await post(`/${taxed.id}/payments`, { amount_cents: 50 })
    refused(half, 400, 'BAD_PAID_AMOUNT')
    assert.is(half.json.errors[0].pointer, '/amount_cents')
    const credit = await post(`/${taxed.id}/credit-note`, { amount_cents: 150 })
    refused(credit, 400, 'BAD_AMOUNT')
    assert.is(credit.json.errors[0].pointer, '/amount_cents')
    const broken = await make({ ...ariary, ...yenOf(50_000) })
    await post(`/${broken.id}/payments`, { amount_cents: 50 })
    refused(await payNow(broken), 400, 'CURRENCY_UNSUPPORTED_FOR_COLLECT')
  })

  t('charges what was sent while an edit waits, on the page and in the checkout alike', async () => {
    const client = await make()
    const first = sessionOf(await payNow(client))
    const page = () => call(platform.baseUrl, null, 'GET', client.path, undefined, { cookie: client.cookie })
    assert.not(/class="note edited"/.test((await page()).text))
    const items = [{ description: 'Retainers', qty: 5, unit_cents: 100_000 }]
    const edited = await api('PATCH', `/${client.id}`, { items })
    const { total_cents, balance_cents, warnings } = edited.json.invoice
    assert.equal([edited.status, total_cents, balance_cents], [200, TOTAL, TOTAL], edited.text)
    assert.match(warnings.join('\n'), /edited to 6,000\.00 EUR.*1,440\.00 EUR is asked for and owed/)
    const { text } = await page()
    assert.match(text, /<dd><bdi>1,440\.00 EUR<\/bdi><\/dd>/)
    assert.match(text, /<p class="note edited" role="note">The seller has edited this invoice/)
    assert.not(/<dd><bdi>6,000\.00/.test(text), 'the edit is told, and nothing of it is owed')
    assert.is(sessionOf(await payNow(client)), first, 'the checkout asks for what was sent')
    const { explanation } = (await api('GET', `/${client.id}/explain`)).json
    assert.equal([explanation.total_cents, explanation.balance_cents], [TOTAL, TOTAL])
    const again = await post(`/${client.id}/send`)
    assert.equal([again.status, again.json.invoice.balance_cents], [200, 600_000], again.text)
    await eventually(
      'the checkout for what was owed before to end',
      async () => cards.sessions.get(first)?.status === 'expired',
    )
    const other = await make()
    await api('PATCH', `/${other.id}`, { items })
    await paid(other)
    const after = await read(other.id)
    assert.equal([after.paid_cents, after.balance_cents, after.total_cents], [TOTAL, 0, TOTAL])
    assert.match(after.warnings.join('\n'), /has no effect/)
  })

  t('keeps the currency of what was numbered', async () => {
    const client = await make()
    const reply = await api('PATCH', `/${client.id}`, { currency: 'GBP' })
    refused(reply, 409, 'LOCKED_NUMBERED')
    assert.is(reply.json.errors[0].pointer, '/currency')
    assert.match(reply.text, /create another invoice/)
    const draft = await post('', order({ send: false }))
    assert.is((await api('PATCH', `/${draft.json.invoice.id}`, { currency: 'GBP' })).json.invoice.currency, 'GBP')
    const test = await post('', order({ test: true }))
    refused(await api('PATCH', `/${test.json.invoice.id}`, { test: false }), 400, 'TEST_IMMUTABLE')
  })

  t('says when the processor is away, in words on the page, and charges nobody', async () => {
    const client = await make()
    cards.trouble = { when: (asked) => asked === 'POST /v1/checkout/sessions', status: 400, code: 'parameter_invalid' }
    refused(await payNow(client), 502, 'PROCESSOR_REFUSED')
    const page = await payNow(client, {})
    assert.equal([page.status, /Payment by card is not available right now/.test(page.text)], [502, true])
    cards.trouble = null
    await paid(client)
  })

  t(
    '64 at once: payments, cards, credit notes and a void of one invoice: one outcome, and the books balance',
    async () => {
      const client = await make()
      const session = cards.sessions.get(sessionOf(await payNow(client)))
      // paid at the processor, whose messages are all to come in the storm
      cards.isSilent = true
      await cards.pay(session?.id ?? '')
      cards.isSilent = false
      const done = { ...session }
      const ask = (n: number): Promise<Reply> => {
        if (n === 50) return post(`/${client.id}/void`)
        if (n % 4 === 0) return message(done, { id: `evt_${n}` })
        if (n % 4 === 1)
          return post(`/${client.id}/credit-note`, { amount_cents: 1_000 * ((n % 7) + 1), refund: n % 3 === 0 })
        return n % 4 === 2 ? post(`/${client.id}/payments`, { amount_cents: 1_000 * ((n % 13) + 1) }) : payNow(client)
      }
      // a busy machine answers late, or says so, and means: send it again
      const persist = async (n: number, left = 5): Promise<Reply> => {
        const reply = await ask(n).catch((error: unknown) => {
          if (left > 0) return null
          throw error
        })
        return left > 0 && (!reply || /UNAVAILABLE/.test(reply.json?.code)) ? persist(n, left - 1) : (reply as Reply)
      }
      const replies = await Promise.all(Array.from({ length: 64 }, (_, n) => persist(n)))
      const odd = replies.find(({ status }) => status >= 500)
      assert.is(odd, undefined, odd?.text)
      const isOver = "select 1 from facts where resource = $1 and state = 'pending'"
      const decided = async () => (await sql(isOver, [client.id])).length === 0
      await eventually('all to be decided', decided)
      const queued = "select 1 from outbox where resource = $1 and channel = 'card' and state <> 'sent'"
      await eventually('all that was asked', async () => (await sql(queued, [client.id])).length === 0)
      await eventually('what was answered to be decided', decided)
      const invoice = await read(client.id)
      const sum = (list: Json[]) => list.reduce((total, { amount_cents }) => total + amount_cents, 0)
      assert.equal([sum(invoice.payments), sum(invoice.credit_notes)], [invoice.paid_cents, invoice.credited_cents])
      const byCard = invoice.payments.filter((one: Json) => one.declared_by === 'gateway')
      assert.equal([byCard.length, sum(byCard), invoice.status], [1, TOTAL, 'voided'])
      assert.ok(invoice.credited_cents <= TOTAL && invoice.refunded_cents <= TOTAL)
      const back = [...cards.refunds.values()].filter(({ metadata }) => metadata.invoice_id === client.id)
      assert.is(
        back.reduce((total, { amount }) => total + amount, 0),
        invoice.refunded_cents,
      )
      const running = [...cards.sessions.values()].filter(
        ({ metadata, status, id }) => metadata.invoice_id === client.id && status === 'open' && id !== session?.id,
      )
      assert.equal(running, [])
      const types = await told(client.id)
      assert.ok(types.filter((type) => type === 'paid').length <= 1)
      assert.is(types.filter((type) => type === 'voided').length, 1)
    },
    { timeoutMs: 180_000 },
  )
})
