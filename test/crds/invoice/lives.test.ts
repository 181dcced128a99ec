/**
 * Random lives of invoices, from the first draft to the archive and back: whatever is edited, sent, paid by hand or card,
 * claimed, credited, refunded and voided, in whatever order and wherever a pass dies, the page, the document, the mail, the
 * XML, the checkout, the reminder, the month and the register say the same cents whenever it comes to rest, and what is shown
 * of it at any moment between does (rules/invoice.md#the-same-cents). 10,000 of them with --full.
 */
import fc from 'fast-check'
import { standOf } from '../../../api/invoice/cards/checkout.ts'
import { viewBeside } from '../../../api/invoice/page/found.ts'
import { invoicePage } from '../../../api/invoice/page/render.ts'
import { balanceOf, documentOf } from '../../../crds/invoice/document/document.ts'
import { xmlOf } from '../../../crds/invoice/document/einvoice/write.ts'
import { collectedOf, usableSession } from '../../../crds/invoice/facts/collected.ts'
import { invoiceMail } from '../../../crds/invoice/mail/invoice.ts'
import { booksOf, dueCents } from '../../../crds/invoice/money/books.ts'
import type { Frozen } from '../../../crds/invoice/order/frozen.ts'
import { totalsOf } from '../../../crds/invoice/order/totals.ts'
import { planInvoice } from '../../../crds/invoice/plan.ts'
import { specOfView } from '../../../crds/invoice/planning/restore.ts'
import type { InvoiceSpec } from '../../../crds/invoice/schema.ts'
import { type InvoiceView, viewInvoice } from '../../../crds/invoice/view.ts'
import { displayCents, processorUnits } from '../../../crds/values/money.ts'
import { invoiceResource, invoiceSpec, NOW } from '../../support/builders/invoice.ts'
import { type CardBooks, makeCardBooks, rest } from '../../support/doubles/cardbooks.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const FULL = process.env.BOTTEGA_TEST_FULL === '1'
const LIVES = FULL ? 10_000 : 300
const LIMIT_MS = FULL ? 3_600_000 : 300_000
const SEED = 20_261_123
const MOVES_MAX = 9
/** Effects between two rests. */
const MOMENTS_MAX = 200

/** One whole unit, in hundredths: no currency has less than none of it. */
const UNIT = 100
const lines = fc.array(
  fc.record({
    description: fc.constantFrom('Retainer', 'Travel', 'Rebate'),
    qty: fc.constantFrom('1', '1.5', '0.333', '12'),
    unitCents: fc.integer({ min: 1, max: 9_000 }).map((units) => units * UNIT),
  }),
  { minLength: 1, maxLength: 3 },
)
const edit = fc.record(
  {
    items: lines,
    taxRateBp: fc.constantFrom(0, 700, 2000, 2125),
    discountCents: fc.nat(50).map((units) => units * UNIT),
    dueDate: fc.constantFrom('2026-12-20', '2027-02-01'),
    clientEmail: fc.constantFrom('billing@acme.test', 'other@acme.test'),
    terms: fc.constantFrom('soon', 'later'),
  },
  { requiredKeys: [] },
)
const part = fc.record({ units: fc.nat(4_000) }).map(({ units }) => units * UNIT)
const move = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('edit' as const), edit }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'send',
        'send',
        'checkout',
        'card',
        'card',
        'pay',
        'claim',
        'credit',
        'refund',
        'refund',
        'archive',
      ),
      part,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('void' as const), part }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('die' as const), part: fc.nat(5) }) },
)
const life = fc.record({
  currency: fc.constantFrom('EUR', 'EUR', 'JPY', 'KRW', 'KWD', 'USD'),
  draft: fc.boolean(),
  first: lines,
  moves: fc.array(move, { maxLength: MOVES_MAX }),
})
type Life = typeof life extends fc.Arbitrary<infer L> ? L : never

type Lived = { books: CardBooks; spec: Partial<InvoiceSpec> }

const isLocked = ({ books }: Lived): boolean => {
  const { payments, credits, snapshots } = books.observe()
  return payments.length + credits.length + snapshots.length > 0
}
const change = (lived: Lived, more: Partial<InvoiceSpec>): void => {
  lived.spec = { ...lived.spec, ...more }
  lived.books.edit(more)
}
const viewOf = ({ books, spec: asked }: Lived): InvoiceView => {
  const around = books.observe()
  const object = invoiceResource(asked)
  return viewInvoice(object, around, planInvoice(object, around, NOW).status)
}

/** Each as it comes in through REST, kubectl or the processor. */
const DOES: Record<string, (lived: Lived, id: string, part: number) => void> = {
  send: (lived, id) => {
    if (lived.spec.send === false) change(lived, { send: true })
    else if (lived.books.observe().sends.length > 0) lived.books.send(id)
  },
  checkout: ({ books }, id) => void books.request(id),
  card: ({ books }, id) => {
    books.request(id)
    rest(books)
    const [open] = books.open.keys()
    if (open !== undefined) books.settle(open)
  },
  pay: ({ books }, id, cents) => void books.pay(id, cents || null),
  claim: ({ books }, id, cents) =>
    void books.claim({ paidOn: '2026-11-20', reference: id, amountCents: cents || null }),
  credit: ({ books }, id, cents) => void books.credit(id, cents ? { amountCents: cents } : {}),
  refund: ({ books }, id, cents) => void books.credit(id, { refund: true, ...(cents && { amountCents: cents }) }),
  void: (lived) => {
    if (lived.books.observe().record) change(lived, { void: true })
  },
  /** Its resource leaves, and comes back with the spec that is read out of the view. */
  archive: (lived) => {
    if (lived.books.observe().sends.length > 0) change(lived, specOfView('demo', viewOf(lived)))
  },
  die: ({ books }, _id, effects) => void books.pass(effects),
}

const textOf = (page: string): string => page.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
const xmlAmount = (xml: string, name: string): number =>
  Math.round(Number(new RegExp(`<ram:${name}[^>]*>([^<]*)<`).exec(xml)?.[1]) * 100)

/** What the client reads: document, page, mail and XML of what was sent last. */
const paperHolds = (sent: Frozen, view: InvoiceView): void => {
  const { total_cents: total, balance_cents: due, paid_cents: paidCents, credited_cents: creditedCents } = view
  if (total === null || due === null) throw new Error('what was sent has a total')
  const money = (cents: number): string => displayCents(cents, sent.currency)
  const { sums } = documentOf(sent)
  assert.ok(
    sums.some(({ label, value }) => label === 'Total' && value === money(total)),
    'the document',
  )
  const facts = { frozen: sent, status: view.status, paidCents, creditedCents, balanceCents: due }
  const page = textOf(invoicePage({ ...facts, path: '/i/t', url: 'https://pay.test/i/t' }))
  assert.ok(page.includes(`Amount due ${money(due)}`), `the page asks for ${money(due)}`)
  assert.ok(page.includes(`Total ${money(total)}`), `the page says ${money(total)}`)
  const about = { url: 'https://pay.test/i/t', password: null, locked: false }
  const mail = invoiceMail({ frozen: sent, ...about, purpose: 'invoice' })
  if (sent.paid === null) assert.ok(mail.text.includes(money(balanceOf(sent))), `the mail: ${mail.text}`)
  const xml = xmlOf(sent, 'cii')
  assert.equal(
    [xmlAmount(xml, 'GrandTotalAmount'), xmlAmount(xml, 'DuePayableAmount')],
    [total, Math.max(balanceOf(sent), xmlAmount(xml, 'DuePayableAmount'))],
    'the XML',
  )
}

/**
 * A reminder that would go out now says what is due now: none goes while there is a fact since which it was not looked at
 * (sql/functions/turn_schedule.sql). @returns whether there is one
 */
const reminderHolds = ({ books }: Lived, sent: Frozen, due: number | null): boolean => {
  const around = books.observe()
  const row = around.scheduled.find(({ purpose }) => purpose === 'reminder')
  if (!row?.effect?.mail || row.factSeq < around.factSeq) return false
  const { payload } = row.effect.mail
  const { n, balanceCents, dueDate } = payload as { n: number; balanceCents: number; dueDate: string }
  assert.equal([n, balanceCents, dueDate], [around.sends.length, due, sent.dueDate], 'the reminder')
  assert.is(row.effect.fact.body.to, sent.client.email)
  return true
}

/** What is asked for: checkout and reminder. */
const askingHolds = (lived: Lived, sent: Frozen, view: InvoiceView): void => {
  const { balance_cents: due } = view
  const units = processorUnits(due ?? 0, sent.currency)
  for (const one of lived.books.open.values()) {
    assert.equal([one.units, one.currency, view.status === 'voided'], [units, sent.currency, false], 'the checkout')
  }
  reminderHolds(lived, sent, due)
}

/** The entries as a month adds them up: what was issued with its differences, what was credited, what was taken back. */
const registerHolds = ({ books }: Lived, sent: Frozen, view: InvoiceView): void => {
  const { snapshots, credits, record } = books.observe()
  let [total, issued] = [0, 0]
  for (const { entry, totalCents, currency } of books.entries) {
    assert.is(currency, sent.currency)
    if (entry !== 'issued' && entry !== 'amended') continue
    issued += totalCents - total
    total = totalCents
  }
  assert.equal([total, issued, books.entries[0]?.entry], [view.total_cents, view.total_cents, 'issued'], 'the register')
  const of = (word: string) => books.entries.filter(({ entry }) => entry === word)
  assert.is(
    of('credited').reduce((sum, { totalCents }) => sum + totalCents, 0),
    credits.filter(({ id }) => snapshots.some((one) => one.id === id)).reduce((sum, one) => sum + one.amountCents, 0),
  )
  assert.equal(
    of('voided').map(({ totalCents }) => totalCents),
    snapshots.some(({ id }) => id === 'void') ? [view.total_cents] : [],
  )
  assert.is(record?.claimed.currency, sent.currency)
}

const holds = (lived: Lived): void => {
  rest(lived.books)
  const view = viewOf(lived)
  const around = lived.books.observe()
  const sent = around.sends.at(-1)?.frozen
  if (!sent) {
    assert.equal([lived.books.open.size, lived.books.entries.length], [0, around.record ? 1 : 0])
    return
  }
  const due = view.status === 'voided' ? 0 : dueCents(booksOf(sent.totalCents, around))
  assert.equal([view.total_cents, view.balance_cents, view.currency], [sent.totalCents, due, sent.currency], 'REST')
  paperHolds(sent, view)
  askingHolds(lived, sent, view)
  registerHolds(lived, sent, view)
  const { pending_revision: revision } = view
  const asked = invoiceSpec(lived.spec)
  if (revision?.totals) assert.is(revision.totals.total_cents, totalsOf(asked).totalCents, 'the revision')
}

/** What it came to, so that a sample that never pays proves nothing. */
type Ends = Record<string, number>

/** What the client's page says of the money, beside the document of the newest send. */
const pageHolds = (sent: Frozen, n: number, known: InvoiceView): void => {
  const view = viewBeside(known, { frozen: sent, n })
  const { paid_cents: paidCents, credited_cents: creditedCents, status } = view
  const due = status === 'voided' ? 0 : Math.max(0, sent.totalCents - paidCents - creditedCents)
  const facts = { frozen: sent, status, paidCents, creditedCents, balanceCents: view.balance_cents ?? Number.NaN }
  const page = textOf(invoicePage({ ...facts, path: '/i/t', url: 'https://pay.test/i/t' }))
  for (const [label, cents] of Object.entries({ 'Amount due': due, Total: sent.totalCents }))
    assert.ok(page.includes(`${label} ${displayCents(cents, sent.currency)}`), `the page lacks ${label} ${cents}`)
}

/** @param known the view as it was made last: what REST answers, and the page beside the newest document */
const momentHolds = (lived: Lived, known: InvoiceView, ends: Ends): void => {
  const { books } = lived
  const around = books.observe()
  const { sends } = around
  const told = sends[known.send_count - 1]?.frozen
  if (told) {
    const { total_cents: total, balance_cents: due, paid_cents: paidCents, credited_cents: creditedCents } = known
    const left = known.status === 'voided' ? 0 : dueCents({ totalCents: told.totalCents, paidCents, creditedCents })
    assert.equal([total, due, known.currency], [told.totalCents, left, told.currency], 'REST')
  }
  const sent = sends.at(-1)?.frozen
  if (!sent) return
  const view = viewOf(lived)
  const now = view.status === 'voided' ? 0 : dueCents(booksOf(sent.totalCents, around))
  assert.equal([view.total_cents, view.balance_cents, view.currency], [sent.totalCents, now, sent.currency], 'a view')
  pageHolds(sent, sends.length, known)
  paperHolds(sent, view)
  registerHolds(lived, sent, view)
  // what is asked to be void is owed until it is
  const isVoid = around.snapshots.some(({ id }) => id === 'void')
  if (reminderHolds(lived, sent, isVoid ? 0 : dueCents(booksOf(sent.totalCents, around))))
    ends.reminders = (ends.reminders ?? 0) + 1
  const stand = { view: viewBeside(known, { frozen: sent, n: sends.length }) }
  const usable = usableSession(collectedOf(books.facts), standOf(stand), NOW)?.opened
  const units = processorUnits(stand.view.balance_cents ?? 0, sent.currency)
  if (usable) assert.equal([usable.units, books.open.get(usable.id)?.units], [units, units], 'the checkout')
  if (known.send_count < sends.length) ends.newer = (ends.newer ?? 0) + 1
  if (view.pending_revision) ends.revised = (ends.revised ?? 0) + 1
}

/** As `rest`, with a look after each effect, and before the processor answers. */
const restWatched = (lived: Lived, last: InvoiceView, ends: Ends): void => {
  const { books } = lived
  const written = () => books.facts.length + books.papers.length + books.entries.length
  let known = last
  let effects = 1
  for (let moment = 0; moment < MOMENTS_MAX; moment++) {
    momentHolds(lived, known, ends)
    const before = written()
    const plan = books.pass(effects)
    // what one effect learns, the next one needs
    effects = written() > before ? 1 : effects + 1
    ends.moments = (ends.moments ?? 0) + 1
    if (plan === null) continue
    // the last effect is done, and the view is that of before
    momentHolds(lived, known, ends)
    known = viewOf(lived)
    momentHolds(lived, known, ends)
    const settled = written()
    books.answer()
    if (written() === settled) return
  }
  throw new Error('it never comes to rest')
}

const live = ({ currency, draft, first, moves }: Life, ends: Ends, isWatched = false): void => {
  const begun = { currency, items: first, send: !draft }
  const lived: Lived = { books: makeCardBooks(begun), spec: begun }
  holds(lived)
  for (const [index, one] of moves.entries()) {
    const known = viewOf(lived)
    if (one.do !== 'edit') DOES[one.do]?.(lived, String(index), one.part)
    else if (!isLocked(lived) && lived.spec.void !== true) change(lived, one.edit)
    if (isWatched) restWatched(lived, known, ends)
    holds(lived)
  }
  const { entries, observe } = lived.books
  for (const word of [...entries.map(({ entry }) => entry), viewOf(lived).status]) ends[word] = (ends[word] ?? 0) + 1
  if (observe().collected.refunds.length > 0) ends.refunded = (ends.refunded ?? 0) + 1
}

spec('an invoice, whatever becomes of it', (t) => {
  t(
    `shows the same cents everywhere at every rest of its life (${LIVES} lives, seed ${SEED})`,
    () => {
      const ends: Ends = {}
      fc.assert(
        fc.property(life, (one) => live(one, ends)),
        { numRuns: LIVES, seed: SEED, includeErrorInReport: true },
      )
      for (const word of ['issued', 'amended', 'credited', 'voided', 'paid', 'partial', 'sent', 'draft', 'refunded'])
        assert.ok((ends[word] ?? 0) > LIVES / 100, `${word}: ${ends[word] ?? 0} of ${LIVES}`)
    },
    { timeoutMs: LIMIT_MS },
  )

  t(
    `and at every moment between, after each effect of a pass (${LIVES} lives, seed ${SEED + 1})`,
    () => {
      const ends: Ends = {}
      fc.assert(
        fc.property(life, (one) => live(one, ends, true)),
        { numRuns: LIVES, seed: SEED + 1, includeErrorInReport: true },
      )
      const { moments = 0, newer = 0, revised = 0, reminders = 0 } = ends
      const figures = `a newer send than the view ${newer}, an edit not sent ${revised}, a reminder to come ${reminders}`
      console.log(`  counted: ${moments} moments; ${figures}`)
      assert.ok(moments > LIVES && Math.min(newer, revised, reminders) > LIVES / 10, JSON.stringify(ends))
    },
    { timeoutMs: LIMIT_MS },
  )
})
