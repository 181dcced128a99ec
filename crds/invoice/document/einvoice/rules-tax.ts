/** The rules of EN 16931 for each tax category (BR-S, BR-Z, BR-E, BR-O, BR-AE): who must be named, rates, and grounds. */
import { percentText } from './amount.ts'
import { demand, type EinvoiceFinding } from './finding.ts'
import type { Category, EInvoice, TaxBreakdown } from './model.ts'
import { isSameTax } from './rules-sums.ts'

const CATEGORIES: readonly Category[] = ['S', 'Z', 'E', 'O', 'AE']

/** Whom the category asks to be named by a tax number, as BR-x-02 to BR-x-04 say for lines and allowances. */
const numberFindings = ({ seller, buyer }: EInvoice, category: Category): EinvoiceFinding[] => {
  const rule = `BR-${category}-02`
  const sellerNamed = seller.vatId !== '' || seller.taxNumber !== ''
  switch (category) {
    case 'S':
    case 'Z':
    case 'E':
      return demand(sellerNamed, rule, '/issuer/taxId', 'Taxed and tax-free supplies need a tax_id of the issuer.')
    case 'AE':
      return [
        ...demand(sellerNamed, rule, '/issuer/taxId', 'Reverse charge needs a tax_id of the issuer.'),
        ...demand(
          buyer.vatId !== '',
          rule,
          '/clientTaxId',
          'Reverse charge needs the VAT identifier of the recipient.',
        ),
      ]
    case 'O': {
      const words = 'What is not subject to VAT may name no VAT identifier.'
      return demand(seller.vatId === '' && buyer.vatId === '', rule, '/issuer/taxId', words)
    }
    default:
      return category satisfies never
  }
}

/** BR-x-05 and BR-x-06: only what is charged has a rate. */
const rateFindings = ({ lines }: EInvoice, category: Category): EinvoiceFinding[] =>
  lines.flatMap(({ tax }, index) =>
    tax.category !== category
      ? []
      : demand(
          category === 'S' ? tax.rateBp > 0 : tax.rateBp === 0,
          `BR-${category}-05`,
          `/items/${index}/taxRateBp`,
          `Line ${index + 1} of category ${category} has a rate of ${percentText(tax.rateBp)} %.`,
        ),
  )

/** BR-x-10: a ground where nothing is charged, none where there is none to give. */
const groundFindings = ({ tax, reason, reasonCode }: TaxBreakdown): EinvoiceFinding[] => {
  const has = reason.trim() !== '' || reasonCode !== ''
  const wants = tax.category !== 'S' && tax.category !== 'Z'
  const words = wants
    ? 'It is not said why nothing is charged: give the ground.'
    : 'A ground is given, yet none is due.'
  return demand(has === wants, `BR-${tax.category}-10`, '/zeroRate/reason', words)
}

/** Lines and allowances have their group, and each group stands once (BR-S-01, BR-Z-01, …). */
const groupFindings = ({ lines, allowances, taxes }: EInvoice, category: Category): EinvoiceFinding[] => {
  const groups = taxes.filter(({ tax }) => tax.category === category).map(({ tax }) => tax)
  const used = [...lines, ...allowances].map(({ tax }) => tax).filter((tax) => tax.category === category)
  const complete = used.every((tax) => groups.filter((group) => isSameTax(group, tax)).length === 1)
  const words = `The tax breakdown has not exactly one group for each rate of category ${category}.`
  return demand(complete, `BR-${category}-01`, '/taxGroups', words)
}

/** BR-O-11 to BR-O-14: what is not subject to VAT stands on a document of its own. */
const outsideFindings = ({ taxes }: EInvoice): EinvoiceFinding[] => {
  const categories = new Set(taxes.map(({ tax }) => tax.category))
  const words = 'Supplies outside the scope of VAT may not stand beside others: make two documents.'
  return demand(!categories.has('O') || categories.size === 1, 'BR-O-11', '/zeroRate/category', words)
}

/** Findings about taxes. */
export const taxFindings = (invoice: EInvoice): EinvoiceFinding[] => {
  const used = new Set([...invoice.lines, ...invoice.taxes].map(({ tax }) => tax.category))
  return [
    ...CATEGORIES.filter((category) => used.has(category)).flatMap((category) => [
      ...groupFindings(invoice, category),
      ...numberFindings(invoice, category),
      ...rateFindings(invoice, category),
    ]),
    ...invoice.taxes.flatMap(groundFindings),
    ...outsideFindings(invoice),
  ]
}
