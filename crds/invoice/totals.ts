/**
 * Totals by one function, for the API, the page, the PDF and the mail alike (DESIGN sections 5 and 6). Each line is rounded
 * to the cent, then summed; the discount comes before tax, spread over the tax groups; tax is rounded once per rate
 * (EN 16931 CO-10 to CO-17).
 */
import assert from 'node:assert/strict'
import { parseDecimal, SCALE } from '../decimal.ts'
import { divideHalfUp, splitByLargestRemainder } from '../money.ts'
import { oncePerFrozen } from '../once.ts'
import type { TaxGroup } from './frozen.ts'
import type { InvoiceItem } from './schema.ts'

export type TotalsInput = { items: readonly InvoiceItem[]; taxRateBp: number; discountCents: number }

/** All in hundredths of the currency unit. `taxGroups` by rising rate, bases after their share of the discount. */
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

const lineAmount = (item: InvoiceItem): bigint => {
  const qty = parseDecimal(item.qty)
  assert(qty !== null, `qty is a decimal: ${item.qty}`)
  return divideHalfUp(qty * BigInt(item.unitCents), SCALE)
}

/**
 * False when some amount would leave the integers that JSON carries exactly (2^53 − 1). Lines, discount and tax (at most
 * the lines again) are bounded together, so every figure of `totalsOf` is then exact.
 */
export const totalsFit = ({ items, discountCents }: TotalsInput): boolean =>
  2n * (sumOf(items.map((item) => absolute(lineAmount(item)))) + BigInt(discountCents)) <= SAFE

/** The totals of an invoice. Asserts `totalsFit` and that every qty is a decimal: `faultsOf` has said so before. */
export const totalsOf = (input: TotalsInput): Totals => oncePerFrozen(input, computed, computeTotals)

const computed = new WeakMap<TotalsInput, Totals>()
const computeTotals = (input: TotalsInput): Totals => {
  assert(totalsFit(input), 'totals stay within 2^53')
  const lines = input.items.map((item) => ({ amount: lineAmount(item), rateBp: item.taxRateBp ?? input.taxRateBp }))
  const rates = [...new Set(lines.map((line) => line.rateBp))].sort((a, b) => a - b)
  const bases = rates.map((rate) => sumOf(lines.filter((line) => line.rateBp === rate).map((line) => line.amount)))
  const discounts = splitByLargestRemainder(BigInt(input.discountCents), bases)
  const groups = rates.map((rateBp, index) => {
    const base = (bases[index] ?? 0n) - (discounts[index] ?? 0n)
    return { rateBp, base, tax: divideHalfUp(base * BigInt(rateBp), BP) }
  })
  const subtotal = sumOf(lines.map((line) => line.amount))
  const tax = sumOf(groups.map((group) => group.tax))
  return {
    lines: lines.map((line) => ({ amountCents: Number(line.amount), taxRateBp: line.rateBp })),
    subtotalCents: Number(subtotal),
    discountCents: input.discountCents,
    taxGroups: groups.map(({ rateBp, base, tax: taxOf }) => ({
      rateBp,
      baseCents: Number(base),
      taxCents: Number(taxOf),
    })),
    taxCents: Number(tax),
    totalCents: Number(subtotal - BigInt(input.discountCents) + tax),
  }
}
