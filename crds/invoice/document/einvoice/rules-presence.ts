/**
 * The rules of EN 16931 about what must be there (BR-02 to BR-55, BR-CO-25, BR-CO-26) and about codes (BR-CL). Those that
 * no model can break are not here: its types have every code, quantity, unit and sum that the rules ask for.
 */
import { isDay } from '../../../values/calendar.ts'
import { isCountry } from '../../../values/countries.ts'
import { isCurrency } from '../../../values/money.ts'
import { demand, type EinvoiceFinding, type EinvoiceRule } from './finding.ts'
import type { EInvoice, EinvoiceParty } from './model.ts'

const given = (text: string): boolean => text.trim() !== ''

const hasAddress = ({ lines, city, postcode, country }: EinvoiceParty): boolean =>
  lines.length > 0 || [city, postcode, country].some(given)

const headRules: EinvoiceRule = ({ number, issuedOn, currency, lines, taxes, preceding }) => [
  ...demand(given(number), 'BR-02', '/number', 'The document has no number: send it first.'),
  ...demand(isDay(issuedOn), 'BR-03', '/issuedOn', 'The document has no day of issue.'),
  ...demand(given(currency), 'BR-05', '/currency', 'The document names no currency.'),
  ...demand(
    !given(currency) || isCurrency(currency),
    'BR-CL-04',
    '/currency',
    `${currency} is no currency of ISO 4217.`,
  ),
  ...demand(lines.length > 0, 'BR-16', '/items', 'The document has no line: add an item.'),
  ...demand(taxes.length > 0, 'BR-CO-18', '/taxGroups', 'The document has no tax breakdown.'),
  ...demand(
    preceding === null || given(preceding.number),
    'BR-55',
    '/credits/number',
    'The credited invoice has no number.',
  ),
]

const countryRules = (
  party: EinvoiceParty,
  { pointer, rule, whose }: { pointer: string; rule: string; whose: string },
): EinvoiceFinding[] =>
  given(party.country)
    ? demand(
        isCountry(party.country),
        'BR-CL-14',
        pointer,
        `${whose} country ${party.country} is no code of ISO 3166-1.`,
      )
    : demand(false, rule, pointer, `${whose} address has no country: give its code, such as DE.`)

const partyRules: EinvoiceRule = ({ seller, buyer }) => [
  ...demand(given(seller.name), 'BR-06', '/issuer/legalName', 'The seller has no name: set legal_name of the issuer.'),
  ...demand(given(buyer.name), 'BR-07', '/clientName', 'The recipient has no name: set client_name.'),
  ...demand(hasAddress(seller), 'BR-08', '/issuer/address', 'The seller has no address: set that of the issuer.'),
  ...countryRules(seller, { pointer: '/issuer/country', rule: 'BR-09', whose: "The seller's" }),
  ...demand(hasAddress(buyer), 'BR-10', '/clientAddress', 'The recipient has no address.'),
  ...countryRules(buyer, { pointer: '/clientCountry', rule: 'BR-11', whose: "The recipient's" }),
  ...demand(
    given(seller.vatId) || given(seller.id),
    'BR-CO-26',
    '/issuer/taxId',
    'Nothing identifies the seller: set tax_id of the issuer.',
  ),
]

const lineRules: EinvoiceRule = ({ lines }) =>
  lines.flatMap(({ name, priceCents }, index) => [
    ...demand(given(name), 'BR-25', `/items/${index}/description`, `Line ${index + 1} has no description.`),
    ...demand(priceCents >= 0, 'BR-27', `/items/${index}/unitCents`, `The price of line ${index + 1} is below zero.`),
  ])

const dueRules: EinvoiceRule = ({ sums, dueDate, terms }) =>
  demand(
    sums.dueCents <= 0 || dueDate !== null || given(terms),
    'BR-CO-25',
    '/dueDate',
    'An amount is due, yet not said when: give a due_date or terms.',
  )

/** Findings about what is missing or no such code. */
export const presenceFindings = (invoice: EInvoice): EinvoiceFinding[] =>
  [headRules, partyRules, lineRules, dueRules].flatMap((rule) => rule(invoice))
