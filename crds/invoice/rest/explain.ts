/**
 * Every step from qty to balance, as figures and as words, made of the same totals as the document (totals.ts).
 * Source: rules/invoice.md#explain, #totals.
 */
import assert from 'node:assert/strict'
import { decimalOf, formatDecimal, numberOf, parseDecimal, SCALE } from '../../values/decimal.ts'
import { displayCents, leastCents } from '../../values/money.ts'
import type { Frozen } from '../order/frozen.ts'
import { type Totals, type TotalsInput, totalsOf } from '../order/totals.ts'
import type { InvoiceView } from '../view.ts'

type Counted = { amount_cents: number; words: string }

/** Amounts are hundredths of the currency unit; `exact_cents` is a decimal text, what stood before rounding. */
export type ExplainStep = Counted &
  (
    | { step: 'line'; index: number; description: string; qty: number; unit_cents: number; exact_cents: string }
    | { step: 'subtotal' }
    /** The lines of one tax rate together. */
    | { step: 'group'; tax_rate_bp: number }
    /** What a rate bears of the discount: its share rounded down, and the least that the currency has more where the remainder was large enough. */
    | { step: 'discount'; tax_rate_bp: number; floor_cents: number; extra_cents: number }
    | { step: 'tax'; tax_rate_bp: number; base_cents: number; exact_cents: string }
    | { step: 'total' }
    | { step: 'payment'; id: string; received_at: string }
    | { step: 'credit'; id: string; number: string | null }
    | { step: 'balance' }
  )

export type Explanation = {
  id: string
  number: string | null
  currency: string
  total_cents: number
  balance_cents: number
  steps: ExplainStep[]
}

type Explained = Pick<
  InvoiceView,
  | 'id'
  | 'number'
  | 'status'
  | 'currency'
  | 'items'
  | 'tax_rate_bp'
  | 'discount_cents'
  | 'payments'
  | 'credit_notes'
  | 'paid_cents'
  | 'credited_cents'
>
type Say = { money(cents: number): string; view: Explained; totals: Totals }

const BP = 10_000n

/** Basis points as people say them: 2000 → `20 %`, 525 → `5.25 %`. */
const percent = (rateBp: number): string => `${rateBp / 100} %`

/** A ratio of integers as a decimal text; exact wherever the divisor is a power of ten up to 10^6. */
const ratio = (numerator: bigint, denominator: bigint): string => formatDecimal((numerator * SCALE) / denominator)

const qtyOf = (qty: number): bigint => {
  const scaled = parseDecimal(decimalOf(qty) ?? '')
  assert(scaled !== null, `a quantity that was shown is a decimal: ${qty}`)
  return scaled
}

const lineSteps = ({ money, view, totals }: Say): ExplainStep[] =>
  view.items.map(({ description, qty, unit_cents }, index) => {
    const amount_cents = totals.lines[index]?.amountCents ?? 0
    const exact_cents = ratio(qtyOf(qty) * BigInt(unit_cents), SCALE)
    const rounded = exact_cents === String(amount_cents) ? '' : `, rounded from ${exact_cents} hundredths`
    const words = `${qty} × ${money(unit_cents)} = ${money(amount_cents)}${rounded}`
    return { step: 'line', index, description, qty, unit_cents, exact_cents, amount_cents, words }
  })

/** What the lines of each rate come to, in the order of the tax groups. */
const basesOf = ({ lines, taxGroups }: Totals): number[] =>
  taxGroups.map(({ rateBp }) =>
    lines.filter(({ taxRateBp }) => taxRateBp === rateBp).reduce((sum, { amountCents }) => sum + amountCents, 0),
  )

const groupSteps = ({ money, totals }: Say): ExplainStep[] => {
  const bases = basesOf(totals)
  return totals.taxGroups.map(({ rateBp }, index) => {
    const amount_cents = bases[index] ?? 0
    return {
      step: 'group',
      tax_rate_bp: rateBp,
      amount_cents,
      words: `lines at ${percent(rateBp)}: ${money(amount_cents)}`,
    }
  })
}

/** Shares by the largest remainder; a rate whose lines come to less than nothing bears none. */
const discountSteps = ({ money, view, totals }: Say): ExplainStep[] => {
  if (totals.discountCents === 0) return []
  if (totals.taxGroups.length === 0) {
    const amount_cents = totals.discountCents
    const words = `${money(amount_cents)} of discount, with no line to spread it over`
    return [
      {
        step: 'discount',
        tax_rate_bp: view.tax_rate_bp,
        floor_cents: amount_cents,
        extra_cents: 0,
        amount_cents,
        words,
      },
    ]
  }
  const bases = basesOf(totals)
  const weights = bases.map((base) => BigInt(Math.max(0, base)))
  const step = BigInt(leastCents(view.currency))
  const sum = weights.reduce((all, weight) => all + weight, 0n)
  return totals.taxGroups.map(({ rateBp, baseCents }, index) => {
    const amount_cents = (bases[index] ?? 0) - baseCents
    const floor_cents =
      sum === 0n
        ? amount_cents
        : Number(((BigInt(totals.discountCents) * (weights[index] ?? 0n)) / (sum * step)) * step)
    const extra_cents = amount_cents - floor_cents
    const share = `${money(totals.discountCents)} × ${money(Number(weights[index] ?? 0n))} / ${money(Number(sum))}`
    const how = sum === 0n ? 'there is nothing to spread it over' : `${share}, rounded down`
    const more = extra_cents === 0 ? '' : `, and ${money(Number(step))} more for its large remainder`
    const words = `${money(amount_cents)} of the discount at ${percent(rateBp)}: ${how}${more}`
    return { step: 'discount', tax_rate_bp: rateBp, floor_cents, extra_cents, amount_cents, words }
  })
}

const taxSteps = ({ money, totals }: Say): ExplainStep[] =>
  totals.taxGroups.map(({ rateBp, baseCents, taxCents }) => {
    const exact_cents = ratio(BigInt(baseCents) * BigInt(rateBp), BP)
    const rounded = exact_cents === String(taxCents) ? '' : `, rounded from ${exact_cents} hundredths`
    const words = `${percent(rateBp)} of ${money(baseCents)} = ${money(taxCents)}${rounded}`
    return { step: 'tax', tax_rate_bp: rateBp, base_cents: baseCents, exact_cents, amount_cents: taxCents, words }
  })

const movedSteps = ({ money, view }: Say): ExplainStep[] => [
  ...view.payments.map(({ id, amount_cents, received_at }): ExplainStep => {
    return { step: 'payment', id, received_at, amount_cents, words: `${money(amount_cents)} was paid` }
  }),
  ...view.credit_notes.map(({ id, number, amount_cents }): ExplainStep => {
    const words = `${money(amount_cents)} was credited${number === null ? '' : ` by ${number}`}`
    return { step: 'credit', id, number, amount_cents, words }
  }),
]

const balanceStep = ({ money, view, totals }: Say): ExplainStep => {
  const { paid_cents, credited_cents, status } = view
  const leftCents = totals.totalCents - paid_cents - credited_cents
  const amount_cents = status === 'voided' ? 0 : Math.max(0, leftCents)
  const sum = `${money(totals.totalCents)} − ${money(paid_cents)} paid − ${money(credited_cents)} credited`
  const words =
    status === 'voided'
      ? 'nothing of a voided invoice is asked for'
      : leftCents < 0
        ? `${sum}: nothing is left, and ${money(-leftCents)} is owed back to the client`
        : `${sum} = ${money(amount_cents)} left to pay`
  return { step: 'balance', amount_cents, words }
}

/** What totals are made of, as a view shows it; its amounts have no fault. */
export const inputOf = (
  view: Pick<Explained, 'items' | 'tax_rate_bp' | 'discount_cents' | 'currency'>,
): TotalsInput => {
  const items = view.items.map(({ description, qty, unit_cents, tax_rate_bp }) => ({
    description,
    qty: decimalOf(qty) ?? '',
    unitCents: unit_cents,
    ...(tax_rate_bp === undefined ? {} : { taxRateBp: tax_rate_bp }),
  }))
  return { items, taxRateBp: view.tax_rate_bp, discountCents: view.discount_cents, currency: view.currency }
}

/** The view with the figures of the document: an edit that was not sent is owed by nobody. */
const asSent = (view: Explained, { items, discountCents, currency }: Frozen): Explained => ({
  ...view,
  items: items.map(({ description, qty, unitCents, taxRateBp, amountCents }) => ({
    description,
    qty: numberOf(qty),
    unit_cents: unitCents,
    tax_rate_bp: taxRateBp,
    amount_cents: amountCents,
  })),
  discount_cents: discountCents,
  currency,
})

/** @param asked of an invoice whose amounts have no fault  @param sent the document that was sent last; none of a draft */
export const explain = (asked: Explained, sent?: Frozen): Explanation => {
  const view = sent ? asSent(asked, sent) : asked
  const totals = sent ? { ...sent, lines: sent.items } : totalsOf(inputOf(view))
  const money = (cents: number) => displayCents(cents, view.currency)
  const say = { money, view, totals }
  const { subtotalCents, discountCents, taxCents, totalCents } = totals
  const sum = `${money(subtotalCents)} − ${money(discountCents)} discount + ${money(taxCents)} tax`
  const balance = balanceStep(say)
  return {
    id: view.id,
    number: view.number,
    currency: view.currency,
    total_cents: totalCents,
    balance_cents: balance.amount_cents,
    steps: [
      ...lineSteps(say),
      { step: 'subtotal', amount_cents: subtotalCents, words: `the lines together: ${money(subtotalCents)}` },
      ...groupSteps(say),
      ...discountSteps(say),
      ...taxSteps(say),
      { step: 'total', amount_cents: totalCents, words: `${sum} = ${money(totalCents)}` },
      ...movedSteps(say),
      balance,
    ],
  }
}
