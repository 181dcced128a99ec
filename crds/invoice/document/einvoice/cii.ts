/**
 * The model as a Cross Industry Invoice (UN/CEFACT D16B), in the profile EN 16931 of Factur-X 1.0 / ZUGFeRD 2: what is put
 * into a PDF. The order of elements is that of the profile's schema.
 */
import { amountText, percentText } from './amount.ts'
import type { EInvoice, EinvoiceAllowance, EinvoiceLine, EinvoiceParty, Tax, TaxBreakdown } from './model.ts'
import { documentText, group, leaf, present, required, type Xml } from './xml.ts'

const STANDARD = 'urn:un:unece:uncefact:data:standard'
const NAMESPACES = {
  'xmlns:rsm': `${STANDARD}:CrossIndustryInvoice:100`,
  'xmlns:qdt': `${STANDARD}:QualifiedDataType:100`,
  'xmlns:ram': `${STANDARD}:ReusableAggregateBusinessInformationEntity:100`,
  'xmlns:udt': `${STANDARD}:UnqualifiedDataType:100`,
}
const GUIDELINE = 'urn:cen.eu:en16931:2017'
/** UNTDID 2379: YYYYMMDD. */
const DAY_FORMAT = { format: '102' }
/** A piece, of UN/ECE recommendation 20. */
const UNIT = { unitCode: 'C62' }
const EMAIL = { schemeID: 'EM' }
/** UNTDID 5189: discount. */
const DISCOUNT = '95'

/** The XML of a document that `findingsOf` has nothing against. The same model gives the same text. */
export const writeCii = (invoice: EInvoice): string =>
  documentText({
    ...required('rsm:CrossIndustryInvoice', ...headOf(invoice), transactionOf(invoice)),
    attributes: NAMESPACES,
  })

const day = (name: string, date: string | null, type = 'udt'): Xml | null =>
  date === null ? null : group(name, leaf(`${type}:DateTimeString`, date.replaceAll('-', ''), DAY_FORMAT))

const headOf = (invoice: EInvoice): (Xml | null)[] => [
  group(
    'rsm:ExchangedDocumentContext',
    group('ram:GuidelineSpecifiedDocumentContextParameter', leaf('ram:ID', GUIDELINE)),
  ),
  group(
    'rsm:ExchangedDocument',
    leaf('ram:ID', invoice.number),
    leaf('ram:TypeCode', invoice.typeCode),
    day('ram:IssueDateTime', invoice.issuedOn),
    present(invoice.notes.map((note) => group('ram:IncludedNote', leaf('ram:Content', note)))),
  ),
]

const transactionOf = (invoice: EInvoice): Xml =>
  required(
    'rsm:SupplyChainTradeTransaction',
    present(invoice.lines.map((line) => lineOf(line, invoice.currency))),
    group(
      'ram:ApplicableHeaderTradeAgreement',
      partyOf('ram:SellerTradeParty', invoice.seller),
      partyOf('ram:BuyerTradeParty', invoice.buyer),
    ),
    required('ram:ApplicableHeaderTradeDelivery'),
    settlementOf(invoice),
  )

const taxOf = (name: string, { category, rateBp }: Tax): Xml | null =>
  group(name, leaf('ram:TypeCode', 'VAT'), leaf('ram:CategoryCode', category), rateOf({ category, rateBp }))

/** Outside the scope of tax there is no rate, not even 0 (BR-O-05). */
const rateOf = ({ category, rateBp }: Tax): Xml | null =>
  category === 'O' ? null : leaf('ram:RateApplicablePercent', percentText(rateBp))

const lineOf = (line: EinvoiceLine, currency: string): Xml | null =>
  group(
    'ram:IncludedSupplyChainTradeLineItem',
    group('ram:AssociatedDocumentLineDocument', leaf('ram:LineID', line.id)),
    group('ram:SpecifiedTradeProduct', leaf('ram:Name', line.name), leaf('ram:Description', line.description)),
    group(
      'ram:SpecifiedLineTradeAgreement',
      group('ram:NetPriceProductTradePrice', leaf('ram:ChargeAmount', amountText(line.priceCents, currency))),
    ),
    group('ram:SpecifiedLineTradeDelivery', leaf('ram:BilledQuantity', line.qty, UNIT)),
    group(
      'ram:SpecifiedLineTradeSettlement',
      taxOf('ram:ApplicableTradeTax', line.tax),
      group(
        'ram:SpecifiedTradeSettlementLineMonetarySummation',
        leaf('ram:LineTotalAmount', amountText(line.netCents, currency)),
      ),
    ),
  )

const partyOf = (name: string, party: EinvoiceParty): Xml | null => {
  const registration = (id: string, schemeID: 'VA' | 'FC') =>
    group('ram:SpecifiedTaxRegistration', leaf('ram:ID', id, { schemeID }))
  const [one = '', two = '', three = ''] = party.lines
  return group(
    name,
    leaf('ram:ID', party.id),
    leaf('ram:Name', party.name),
    group(
      'ram:PostalTradeAddress',
      leaf('ram:PostcodeCode', party.postcode),
      leaf('ram:LineOne', one),
      leaf('ram:LineTwo', two),
      leaf('ram:LineThree', three),
      leaf('ram:CityName', party.city),
      leaf('ram:CountryID', party.country),
    ),
    group('ram:URIUniversalCommunication', leaf('ram:URIID', party.email, EMAIL)),
    registration(party.taxNumber, 'FC'),
    registration(party.vatId, 'VA'),
  )
}

const settlementOf = (invoice: EInvoice): Xml => {
  const { currency, transfer, preceding, terms, dueDate } = invoice
  return required(
    'ram:ApplicableHeaderTradeSettlement',
    transfer && leaf('ram:PaymentReference', invoice.number),
    leaf('ram:InvoiceCurrencyCode', currency),
    transfer &&
      group(
        'ram:SpecifiedTradeSettlementPaymentMeans',
        leaf('ram:TypeCode', transfer.code),
        group('ram:PayeePartyCreditorFinancialAccount', leaf('ram:IBANID', transfer.iban)),
      ),
    present(invoice.taxes.map((tax) => breakdownOf(tax, currency))),
    present(invoice.allowances.map((allowance) => allowanceOf(allowance, currency))),
    group('ram:SpecifiedTradePaymentTerms', leaf('ram:Description', terms), day('ram:DueDateDateTime', dueDate)),
    sumsOf(invoice),
    preceding &&
      group(
        'ram:InvoiceReferencedDocument',
        leaf('ram:IssuerAssignedID', preceding.number),
        day('ram:FormattedIssueDateTime', preceding.issuedOn, 'qdt'),
      ),
  )
}

const breakdownOf = ({ tax, baseCents, taxCents, reason, reasonCode }: TaxBreakdown, currency: string): Xml | null =>
  group(
    'ram:ApplicableTradeTax',
    leaf('ram:CalculatedAmount', amountText(taxCents, currency)),
    leaf('ram:TypeCode', 'VAT'),
    leaf('ram:ExemptionReason', reason),
    leaf('ram:BasisAmount', amountText(baseCents, currency)),
    leaf('ram:CategoryCode', tax.category),
    leaf('ram:ExemptionReasonCode', reasonCode),
    rateOf(tax),
  )

const allowanceOf = ({ amountCents, reason, tax }: EinvoiceAllowance, currency: string): Xml | null =>
  group(
    'ram:SpecifiedTradeAllowanceCharge',
    group('ram:ChargeIndicator', leaf('udt:Indicator', 'false')),
    leaf('ram:ActualAmount', amountText(amountCents, currency)),
    leaf('ram:ReasonCode', DISCOUNT),
    leaf('ram:Reason', reason),
    taxOf('ram:CategoryTradeTax', tax),
  )

const sumsOf = ({ sums, currency }: EInvoice): Xml | null => {
  const amount = (name: string, cents: number) => leaf(`ram:${name}`, amountText(cents, currency))
  return group(
    'ram:SpecifiedTradeSettlementHeaderMonetarySummation',
    amount('LineTotalAmount', sums.linesCents),
    sums.allowancesCents === 0 ? null : amount('AllowanceTotalAmount', sums.allowancesCents),
    amount('TaxBasisTotalAmount', sums.netCents),
    leaf('ram:TaxTotalAmount', amountText(sums.taxCents, currency), { currencyID: currency }),
    amount('GrandTotalAmount', sums.grossCents),
    sums.settledCents === 0 ? null : amount('TotalPrepaidAmount', sums.settledCents),
    amount('DuePayableAmount', sums.dueCents),
  )
}
