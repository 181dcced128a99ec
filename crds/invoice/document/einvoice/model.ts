/**
 * The semantic model of EN 16931-1, as far as our documents fill it, made from a frozen one. Both syntaxes are written
 * from this model, and it is what the rules judge. Numbers behind fields are the standard's business terms.
 */
import assert from 'node:assert/strict'
import { displayCents } from '../../../values/money.ts'
import type { DocumentLang, ZeroRate } from '../../order/frozen.ts'
import { fill, WORDS } from '../words/words.ts'
import type { Source, SourceItem } from './source.ts'
import { vatIdOf } from './vat.ts'
import { EINVOICE_WORDS } from './words.ts'

/** UNTDID 5305: S, whatever is taxed above 0 %, and why nothing is charged (ZeroRate). */
export type Category = 'S' | ZeroRate['category']

/** Tax category and rate; basis points. Outside the scope of tax there is no rate, and `rateBp` is 0. */
export type Tax = { category: Category; rateBp: number }

/** '' is what is not there. */
export type EinvoiceParty = {
  name: string // BT-27, BT-44
  /** Neither a VAT identifier nor an entry of a register. */
  id: string // BT-29, BT-46
  vatId: string // BT-31, BT-48
  /** The tax office's number of a seller without a VAT identifier. */
  taxNumber: string // BT-32
  email: string // BT-34, BT-49
  lines: string[] // BT-35, -36, -162; BT-50, -51, -163
  city: string // BT-37, BT-52
  postcode: string // BT-38, BT-53
  country: string // BT-40, BT-55
}

/** BG-25. `priceCents` is never below zero: a rebate is a negative quantity. */
export type EinvoiceLine = {
  id: string // BT-126
  name: string // BT-153
  description: string // BT-154
  qty: string // BT-129
  priceCents: number // BT-146
  netCents: number // BT-131
  tax: Tax // BT-151, BT-152
}

/** BG-20: the share of the discount that one tax group bears. */
export type EinvoiceAllowance = { amountCents: number; reason: string; tax: Tax }

/** BG-23. `reason` and `reasonCode` say why nothing is charged. */
export type TaxBreakdown = { tax: Tax; baseCents: number; taxCents: number; reason: string; reasonCode: string }

/** BG-22. */
export type Sums = {
  linesCents: number // BT-106
  allowancesCents: number // BT-107
  netCents: number // BT-109
  taxCents: number // BT-110
  grossCents: number // BT-112
  /** Paid, and taken off by credit notes: the standard has no other place for what is not to be paid any more. */
  settledCents: number // BT-113
  dueCents: number // BT-115
}

export type EInvoice = {
  typeCode: '380' | '381' // BT-3
  number: string // BT-1
  issuedOn: string // BT-2
  currency: string // BT-5
  dueDate: string | null // BT-9
  terms: string // BT-20
  notes: string[] // BT-22
  preceding: { number: string; issuedOn: string } | null // BG-3
  seller: EinvoiceParty // BG-4
  buyer: EinvoiceParty // BG-7
  /** BG-16: 58 SEPA credit transfer, 30 credit transfer. */
  transfer: { code: '30' | '58'; iban: string } | null
  lines: EinvoiceLine[]
  allowances: EinvoiceAllowance[]
  taxes: TaxBreakdown[]
  sums: Sums
}

/** The model of a document. Whether it keeps the standard's rules is for `findingsOf` to say. */
export const modelOf = (source: Source): EInvoice => {
  const zero = zeroRateOf(source)
  const isCredit = source.kind === 'credit_note'
  const settledCents = (source.paid?.amountCents ?? 0) + (source.creditedCents ?? 0)
  const netCents = source.subtotalCents - source.discountCents
  return {
    typeCode: isCredit ? '381' : '380',
    number: source.number,
    issuedOn: source.issuedOn,
    currency: source.currency,
    dueDate: isCredit ? null : source.dueDate,
    terms: termsOf(source),
    notes: notesOf(source),
    preceding: precedingOf(source),
    ...partiesOf(source, zero.category),
    transfer: isCredit ? null : transferOf(source),
    lines: source.items.map((item, index) => lineOf(item, index, zero)),
    allowances: allowancesOf(source, zero),
    taxes: source.taxGroups.map(({ rateBp, baseCents, taxCents }) => {
      const tax = taxOf(rateBp, zero)
      return { tax, baseCents, taxCents, ...(tax.category === 'S' ? NO_REASON : reasonOf(source, zero)) }
    }),
    sums: {
      linesCents: source.subtotalCents,
      allowancesCents: source.discountCents,
      netCents,
      taxCents: source.taxCents,
      grossCents: source.totalCents,
      settledCents,
      dueCents: source.totalCents - settledCents,
    },
  }
}

const taxOf = (rateBp: number, zero: ZeroRate): Tax => ({ category: rateBp > 0 ? 'S' : zero.category, rateBp })

/**
 * Why nothing is charged on the lines at 0 %, when the document does not say: a seller with a VAT identifier supplies
 * at the zero rate, which claims no exemption; one without it is outside the scope of VAT, unless other lines are taxed.
 */
const zeroRateOf = ({ zeroRate, seller, items }: Source): ZeroRate => {
  if (zeroRate) return zeroRate
  const outside = vatIdOf(seller.taxId) === '' && items.every(({ taxRateBp }) => taxRateBp === 0)
  return { category: outside ? 'O' : 'Z', reason: '' }
}

const NO_REASON = { reason: '', reasonCode: '' }

/** Codes of the list VATEX, for the grounds that have one of their own. */
const REASON_CODES: Record<ZeroRate['category'], string> = { Z: '', E: '', O: 'VATEX-EU-O', AE: 'VATEX-EU-AE' }

const reasonOf = ({ lang }: Source, zero: ZeroRate): { reason: string; reasonCode: string } => ({
  reason: groundOf(zero, lang),
  reasonCode: REASON_CODES[zero.category],
})

/** Why nothing is charged, in the words that the document shows; '' where there is no ground to give. */
export const groundOf = ({ category, reason }: ZeroRate, lang: DocumentLang): string => {
  const words = EINVOICE_WORDS[lang]
  switch (category) {
    case 'Z':
      return ''
    case 'E':
      return reason.trim()
    case 'O':
      return reason.trim() || words.outside
    case 'AE':
      return reason.trim() || words.reverseCharge
    default:
      return category satisfies never
  }
}

/** What a reader has to know beside the fields: that it is a test, what was credited since, why it was credited. */
const notesOf = ({ test, lang, currency, creditedCents = 0, credits }: Source): string[] =>
  [
    test ? WORDS[lang].testNote : '',
    creditedCents === 0 ? '' : `${WORDS[lang].credited}: ${displayCents(creditedCents, currency)}`,
    credits?.reason ?? '',
  ].filter(Boolean)

const precedingOf = ({ credits }: Source): EInvoice['preceding'] =>
  credits === undefined ? null : { number: credits.number, issuedOn: credits.issuedOn }

/** A credit note asks for no payment, and says instead what it credits. */
const termsOf = ({ kind, lang, terms, credits }: Source): string =>
  kind === 'credit_note' && terms.trim() === '' && credits
    ? fill(EINVOICE_WORDS[lang].credits, { number: credits.number })
    : terms.trim()

const LINES_MAX = 3

/** The standard has three lines of an address; what is beyond stands in the third. */
const linesOf = (address: string): string[] => {
  const lines = address
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
  const last = lines.slice(LINES_MAX - 1).join(', ')
  return [...lines.slice(0, LINES_MAX - 1), ...(last === '' ? [] : [last])]
}

type Given = {
  name: string
  taxId?: string
  email: string
  address?: string
  city?: string
  postcode?: string
  country?: string
}

const partyOf = (given: Given): Omit<EinvoiceParty, 'id' | 'vatId' | 'taxNumber'> => ({
  name: given.name.trim(),
  email: given.email.trim(),
  lines: linesOf(given.address ?? ''),
  city: given.city?.trim() ?? '',
  postcode: given.postcode?.trim() ?? '',
  country: given.country ?? '',
})

/** Outside the scope of tax no VAT identifier may stand (BR-O-02): a number that is one names its party all the same. */
const partiesOf = ({ seller, client }: Source, zero: Category): Pick<EInvoice, 'seller' | 'buyer'> => {
  const numbers = (taxId: string) => {
    const vatId = zero === 'O' ? '' : vatIdOf(taxId)
    return { vatId, id: vatId === '' ? taxId.trim() : '' }
  }
  const { vatId, id } = numbers(seller.taxId)
  const taxNumber = vatIdOf(seller.taxId) === '' ? id : ''
  return {
    seller: { ...partyOf({ ...seller, name: seller.legalName }), vatId, id, taxNumber },
    buyer: { ...partyOf(client), ...numbers(client.taxId ?? ''), taxNumber: '' },
  }
}

const transferOf = ({ seller, currency }: Source): EInvoice['transfer'] => {
  const iban = (seller.iban ?? '').replace(/\s/g, '').toUpperCase()
  return iban === '' ? null : { code: currency === 'EUR' ? '58' : '30', iban }
}

const lineOf = (item: SourceItem, index: number, zero: ZeroRate): EinvoiceLine => {
  const description = item.description.trim()
  const name = description.split('\n', 1)[0]?.trim() ?? ''
  const isRebate = item.unitCents < 0 && !/^0(\.0+)?$/.test(item.qty)
  return {
    id: String(index + 1),
    name,
    description: description === name ? '' : description,
    qty: isRebate ? `-${item.qty}` : item.qty,
    priceCents: Math.abs(item.unitCents),
    netCents: item.amountCents,
    tax: taxOf(item.taxRateBp, zero),
  }
}

/** What the discount took from each tax group: its lines, less the base that is left. */
const allowancesOf = ({ items, taxGroups, lang }: Source, zero: ZeroRate): EinvoiceAllowance[] =>
  taxGroups.flatMap(({ rateBp, baseCents }) => {
    const lines = items.filter(({ taxRateBp }) => taxRateBp === rateBp)
    const amountCents = lines.reduce((sum, line) => sum + line.amountCents, 0) - baseCents
    assert(Number.isSafeInteger(amountCents), 'cents are safe integers')
    return amountCents === 0 ? [] : [{ amountCents, reason: WORDS[lang].discount, tax: taxOf(rateBp, zero) }]
  })
