/** The arithmetic of EN 16931 (BR-CO-10 to BR-CO-17, BR-x-08 and BR-x-09), checked in integers and so exactly. */
import { displayCents, leastCents } from '../../../values/money.ts'
import { demand, type EinvoiceFinding, type EinvoiceRule } from './finding.ts'
import type { EInvoice, Tax } from './model.ts'

const BP = 10_000n

const sumOf = (cents: readonly number[]): number => cents.reduce((sum, amount) => sum + amount, 0)

/** The same category at the same rate. */
export const isSameTax = (one: Tax, other: Tax): boolean =>
  one.category === other.category && one.rateBp === other.rateBp

const totalRules: EinvoiceRule = ({ lines, allowances, taxes, sums, currency }) => {
  const same = (rule: string, pointer: string, sum: number, parts: number, words: string): EinvoiceFinding[] => {
    const figures = `${displayCents(sum, currency)} is not ${displayCents(parts, currency)}`
    return demand(sum === parts, rule, pointer, `${words}: ${figures}.`)
  }
  const { linesCents, allowancesCents, netCents, taxCents, grossCents, settledCents, dueCents } = sums
  return [
    ...same('BR-CO-10', '/subtotalCents', linesCents, sumOf(lines.map((line) => line.netCents)), 'Sum of the lines'),
    ...same(
      'BR-CO-11',
      '/discountCents',
      allowancesCents,
      sumOf(allowances.map(({ amountCents }) => amountCents)),
      'Sum of the allowances',
    ),
    ...same('BR-CO-13', '/subtotalCents', netCents, linesCents - allowancesCents, 'Total without tax'),
    ...same('BR-CO-14', '/taxCents', taxCents, sumOf(taxes.map((tax) => tax.taxCents)), 'Tax of all groups'),
    ...same('BR-CO-15', '/totalCents', grossCents, netCents + taxCents, 'Total with tax'),
    ...same('BR-CO-16', '/paid', dueCents, grossCents - settledCents, 'Amount due'),
  ]
}

/**
 * Tax on a base is rounded to half of the least that the currency has. A credit of an amount is divided backwards into base
 * and tax, where what was rounded in the base returns with the rate, so up to one whole of it is right. The artefacts bear
 * less than 1.00 in any currency, so of what has no decimals a tax of nearly 100 % on a credit is the one that is off.
 */
const isTaxOf = (taxCents: number, baseCents: number, rateBp: number, least: number): boolean => {
  const difference = BigInt(taxCents) * BP - BigInt(baseCents) * BigInt(rateBp)
  return (difference < 0n ? -difference : difference) <= BP * BigInt(Math.max(1, least - 1))
}

const HALF_A_PERCENT_BP = 50
const HALF_CENTS = 50

/**
 * The artefacts of CEN round the rate to whole percents before they look whether there is any, and then bear no tax that
 * rounds to 1.00: what the standard allows would be refused by whoever receives it.
 */
const isSeen = (taxCents: number, rateBp: number): boolean =>
  rateBp === 0 || rateBp >= HALF_A_PERCENT_BP || Math.abs(taxCents) < HALF_CENTS

const groupRules: EinvoiceRule = ({ lines, allowances, taxes, currency }) =>
  taxes.flatMap(({ tax, baseCents, taxCents }, index) => {
    const pointer = `/taxGroups/${index}`
    const id = `BR-${tax.category}`
    const ofLines = lines.filter((line) => isSameTax(line.tax, tax)).map((line) => line.netCents)
    const taken = allowances.filter((allowance) => isSameTax(allowance.tax, tax)).map(({ amountCents }) => amountCents)
    const base = sumOf(ofLines) - sumOf(taken)
    const shown = `${displayCents(baseCents, currency)} of tax group ${index + 1}`
    return [
      ...demand(
        baseCents === base,
        `${id}-08`,
        `${pointer}/baseCents`,
        `The base ${shown} is not its lines less its discount.`,
      ),
      ...demand(
        isTaxOf(taxCents, baseCents, tax.rateBp, leastCents(currency)),
        tax.category === 'S' ? 'BR-CO-17' : `${id}-09`,
        `${pointer}/taxCents`,
        `The tax on ${shown} is not base × rate.`,
      ),
      ...demand(
        isSeen(taxCents, tax.rateBp),
        'BR-CO-17',
        `${pointer}/taxCents`,
        `The tax on ${shown} is at a rate below half a percent, which the validators take for none.`,
      ),
    ]
  })

/** Findings about sums that do not agree. */
export const sumFindings = (invoice: EInvoice): EinvoiceFinding[] => [...totalRules(invoice), ...groupRules(invoice)]
