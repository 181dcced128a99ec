/**
 * Totals by one function, for the API, the page, the PDF and the mail alike (rules/invoice.md#totals). Each line is rounded,
 * then summed; the discount comes before tax, spread over the tax groups; tax is rounded once per rate (EN 16931 CO-10 to
 * CO-17). What is rounded to is what the currency has: a hundredth of a euro, a whole yen.
 */
import assert from 'node:assert/strict'
import { parseDecimal, SCALE } from '../../values/decimal.ts'
import { divideToStep, leastCents, splitByLargestRemainder } from '../../values/money.ts'
import { oncePerFrozen } from '../../values/once.ts'
import type { InvoiceItem } from '../schema.ts'
import type { TaxGroup } from './frozen.ts'

export type TotalsInput = {
  items: readonly InvoiceItem[]
  taxRateBp: number
  /** Whole units where the currency has no others: `faultsOf` has said so before. */
  discountCents: number
  currency: string
}

/** All in hundredths of the currency unit, and none below what the currency has. `taxGroups` by rising rate, bases after their share of the discount. */
export type Totals = {
  lines: { amountCents: number; taxRateBp: number }[]
  subtotalCents: number
  discountCents: number
  taxGroups: TaxGroup[]
  taxCents: number
  totalCents: number
}

const BP = 10_000n
const SAFE = BigInt(Number.MAX_SAFE_INTEGER)

const sumOf = (amounts: readonly bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n)
const absolute = (amount: bigint): bigint => (amount < 0n ? -amount : amount)

const stepOf = ({ currency }: Pick<TotalsInput, 'currency'>): bigint => BigInt(leastCents(currency))

const lineAmount = (item: InvoiceItem, step: bigint): bigint => {
  const qty = parseDecimal(item.qty)
  assert(qty !== null, `qty is a decimal: ${item.qty}`)
  return divideToStep(qty * BigInt(item.unitCents), SCALE, step)
}

/**
 * False when some amount would leave the integers that JSON carries exactly (2^53 − 1). Lines, discount and tax (at most
 * the lines again) are bounded together, so every figure of `totalsOf` is then exact.
 */
export const totalsFit = ({ items, discountCents, currency }: TotalsInput): boolean => {
  const amounts = items.map((item) => absolute(lineAmount(item, stepOf({ currency }))))
  return 2n * (sumOf(amounts) + BigInt(discountCents)) <= SAFE
}

/** The totals of an invoice. Asserts `totalsFit` and that every qty is a decimal: `faultsOf` has said so before. */
export const totalsOf = (input: TotalsInput): Totals => oncePerFrozen(input, computed, computeTotals)

const computed = new WeakMap<TotalsInput, Totals>()
const computeTotals = (input: TotalsInput): Totals => {
  assert(totalsFit(input), 'totals stay within 2^53')
  const step = stepOf(input)
  const lines = input.items.map((item) => ({
    amount: lineAmount(item, step),
    rateBp: item.taxRateBp ?? input.taxRateBp,
  }))
  const rates = [...new Set(lines.map((line) => line.rateBp))].sort((a, b) => a - b)
  const bases = rates.map((rate) => sumOf(lines.filter((line) => line.rateBp === rate).map((line) => line.amount)))
  const discount = divideToStep(BigInt(input.discountCents), 1n, step)
  const discounts = splitByLargestRemainder(discount / step, bases).map((share) => share * step)
  const groups = rates.map((rateBp, index) => {
    const base = (bases[index] ?? 0n) - (discounts[index] ?? 0n)
    return { rateBp, base, tax: divideToStep(base * BigInt(rateBp), BP, step) }
  })
  const subtotal = sumOf(lines.map((line) => line.amount))
  const tax = sumOf(groups.map((group) => group.tax))
  return {
    lines: lines.map((line) => ({ amountCents: Number(line.amount), taxRateBp: line.rateBp })),
    subtotalCents: Number(subtotal),
    discountCents: Number(discount),
    taxGroups: groups.map(({ rateBp, base, tax: taxOf }) => ({
      rateBp,
      baseCents: Number(base),
      taxCents: Number(taxOf),
    })),
    taxCents: Number(tax),
    totalCents: Number(subtotal - discount + tax),
  }
}
