/** Random orders whose data allow an electronic invoice, and what becomes of them: the invoice, its view, a credit note. */
import fc from 'fast-check'
import { enclosed } from '../../../crds/invoice/document/enclose.ts'
import type { Credit } from '../../../crds/invoice/facts/ledger.ts'
import { faultsOf } from '../../../crds/invoice/faults.ts'
import { creditNoteOf } from '../../../crds/invoice/money/credit.ts'
import { type Frozen, LANGS } from '../../../crds/invoice/order/frozen.ts'
import { totalsOf } from '../../../crds/invoice/order/totals.ts'
import { planInvoice } from '../../../crds/invoice/plan.ts'
import type { InvoiceItem, InvoiceSpec } from '../../../crds/invoice/schema.ts'
import { type InvoiceView, viewInvoice } from '../../../crds/invoice/view.ts'
import { leastCents } from '../../../crds/values/money.ts'
import { invoiceResource, invoiceSpec, NOW, payment, sent, sentWorld } from './invoice.ts'

/** No decimals, two, three and four by ISO 4217. */
export const CURRENCIES = ['EUR', 'USD', 'HUF', 'JPY', 'KRW', 'CLP', 'ISK', 'KWD', 'TND', 'CLF']
const RATES = [0, 50, 333, 700, 1000, 1950, 2000, 2550, 9999, 10_000]
const TEXTS = [
  'Work',
  'Ωμέγα & <Söhne>',
  '设计費用（十一月）',
  'שירות 12 חודשים',
  'ค่าบริการรายเดือน',
  'خدمة شهرية',
  'a\nb',
  '"x" \\ (y) ]]>',
]

const qty = fc.oneof(
  fc.integer({ min: 1, max: 40 }).map(String),
  fc.tuple(fc.nat(9999), fc.nat(999_999)).map(([whole, part]) => {
    const fraction = String(part).padStart(6, '0').replace(/0+$/, '')
    return fraction === '' ? String(whole) : `${whole}.${fraction}`
  }),
)

const item: fc.Arbitrary<InvoiceItem> = fc.record(
  {
    description: fc.constantFrom(...TEXTS),
    qty,
    // below zero it is a rebate
    unitCents: fc.oneof(fc.integer({ min: -20_000, max: 100_000_00 }), fc.integer({ min: -3, max: 3 })),
    taxRateBp: fc.constantFrom(...RATES),
  },
  { requiredKeys: ['description', 'qty', 'unitCents'] },
)

const anything = fc.record({
  items: fc.array(item, { minLength: 1, maxLength: 12 }),
  taxRateBp: fc.constantFrom(...RATES),
  discountCents: fc.oneof(fc.constant(0), fc.nat(300_000)),
  currency: fc.constantFrom(...CURRENCIES),
  lang: fc.constantFrom(...LANGS),
  test: fc.boolean(),
  paidPart: fc.constantFrom(0, 0, 0.3, 1),
  credit: fc.constantFrom('none', 'whole', 'amount', 'items' as const),
  creditPart: fc.double({ min: 0.01, max: 1, noNaN: true }),
})

/** What of 100 % and nearly so is credited by an amount is off by a whole unit, which no electronic invoice bears. */
const CREDITED_RATE_MAX = 9_800

/** In amounts that the currency has. */
const chosen = anything.map(({ items, discountCents, ...rest }) => {
  const least = leastCents(rest.currency)
  const isSteep = [rest.taxRateBp, ...items.map(({ taxRateBp = 0 }) => taxRateBp)].some((bp) => bp > CREDITED_RATE_MAX)
  return {
    ...rest,
    items: items.map((one) => ({ ...one, unitCents: one.unitCents * least })),
    discountCents: discountCents * least,
    credit: least > 1 && isSteep && rest.credit === 'amount' ? ('whole' as const) : rest.credit,
  }
})

type Chosen = typeof chosen extends fc.Arbitrary<infer T> ? T : never

/** One order and all that it is shown as. `note` is null where nothing is credited. */
export type Ordered = {
  spec: InvoiceSpec
  frozen: Frozen
  view: InvoiceView
  note: { frozen: Frozen; amountCents: number } | null
}

const partOf = (cents: number, part: number, currency: string): number =>
  Math.floor((cents * part) / leastCents(currency)) * leastCents(currency)

const creditOf = (spec: InvoiceSpec, frozen: Frozen, kind: string, part: number): Credit | null => {
  const base = {
    id: 'credit-1',
    seq: 9,
    reason: 'Late',
    refund: false,
    at: NOW.toISOString(),
    items: null,
    isWhole: false,
  }
  const { totalCents, currency } = frozen
  const least = leastCents(currency)
  if (kind === 'whole') return { ...base, isWhole: true, amountCents: totalCents }
  if (kind === 'amount') return { ...base, amountCents: Math.max(least, partOf(totalCents, part, currency)) }
  const items = spec.items.slice(0, 1)
  const amountCents = totalsOf({ items, taxRateBp: spec.taxRateBp, discountCents: 0, currency }).totalCents
  return kind === 'items' && amountCents > 0 && amountCents <= totalCents ? { ...base, items, amountCents } : null
}

const orderedOf = ({ paidPart, credit: kind, creditPart, ...rest }: Chosen): Ordered => {
  const spec = invoiceSpec({ ...rest, clientCountry: 'DE', clientAddress: 'Torstraße 1', clientCity: 'Berlin' })
  const paidCents = partOf(totalsOf(spec).totalCents, paidPart, spec.currency)
  const payments = paidCents > 0 ? [payment(paidCents)] : []
  const around = sentWorld(spec, { payments })
  const { frozen } = sent(spec, 1, payments)
  const object = invoiceResource(spec)
  const view = viewInvoice(object, around, planInvoice(object, around, NOW).status)
  const credit = creditOf(spec, frozen, kind, creditPart)
  const given = { invoice: frozen, taxRateBp: spec.taxRateBp, number: 'CNINV-026-0001', issuedOn: '2026-11-22' }
  const note = credit && { frozen: enclosed(creditNoteOf(credit, given)), amountCents: credit.amountCents }
  return { spec, frozen, view, note }
}

export const anyOrder: fc.Arbitrary<Ordered> = chosen
  .filter(({ paidPart: _, credit: _kind, creditPart: _part, ...rest }) => faultsOf(invoiceSpec(rest)).length === 0)
  .map(orderedOf)
