/**
 * The model in UBL 2.1 (ISO/IEC 19845), as EN 16931-3-2 binds it: an Invoice, or a CreditNote. The order of elements is
 * that of UBL's schemas, which differ between the two.
 */
import { amountText, percentText } from './amount.ts'
import type { EInvoice, EinvoiceAllowance, EinvoiceLine, EinvoiceParty, Tax, TaxBreakdown } from './model.ts'
import { documentText, group, leaf, present, required, type Xml } from './xml.ts'

const STANDARD = 'urn:oasis:names:specification:ubl:schema:xsd'
const COMMON = {
  'xmlns:cac': `${STANDARD}:CommonAggregateComponents-2`,
  'xmlns:cbc': `${STANDARD}:CommonBasicComponents-2`,
}
const CUSTOMIZATION = 'urn:cen.eu:en16931:2017'
/** A piece, of UN/ECE recommendation 20. */
const UNIT = { unitCode: 'C62' }
const EMAIL = { schemeID: 'EM' }
/** UNTDID 5189: discount. */
const DISCOUNT = '95'

type Shape = { root: 'Invoice' | 'CreditNote'; typeCode: string; line: string; quantity: string }
const SHAPES: Record<EInvoice['typeCode'], Shape> = {
  380: { root: 'Invoice', typeCode: 'InvoiceTypeCode', line: 'InvoiceLine', quantity: 'InvoicedQuantity' },
  381: { root: 'CreditNote', typeCode: 'CreditNoteTypeCode', line: 'CreditNoteLine', quantity: 'CreditedQuantity' },
}

/** The XML of a document that `findingsOf` has nothing against. The same model gives the same text. */
export const writeUbl = (invoice: EInvoice): string => {
  const shape = SHAPES[invoice.typeCode]
  const { root } = shape
  return documentText({
    ...required(root, ...headOf(invoice, shape), ...bodyOf(invoice, shape)),
    attributes: { xmlns: `${STANDARD}:${root}-2`, ...COMMON },
  })
}

const headOf = (invoice: EInvoice, shape: Shape): (Xml | null)[] => [
  leaf('cbc:CustomizationID', CUSTOMIZATION),
  leaf('cbc:ID', invoice.number),
  leaf('cbc:IssueDate', invoice.issuedOn),
  leaf('cbc:DueDate', invoice.dueDate ?? ''),
  leaf(`cbc:${shape.typeCode}`, invoice.typeCode),
  ...invoice.notes.map((note) => leaf('cbc:Note', note)),
  leaf('cbc:DocumentCurrencyCode', invoice.currency),
  invoice.preceding &&
    group(
      'cac:BillingReference',
      group(
        'cac:InvoiceDocumentReference',
        leaf('cbc:ID', invoice.preceding.number),
        leaf('cbc:IssueDate', invoice.preceding.issuedOn),
      ),
    ),
  group('cac:AccountingSupplierParty', partyOf(invoice.seller)),
  group('cac:AccountingCustomerParty', partyOf(invoice.buyer)),
]

const bodyOf = (invoice: EInvoice, shape: Shape): (Xml | readonly Xml[] | null)[] => {
  const { transfer, currency } = invoice
  return [
    transfer &&
      group(
        'cac:PaymentMeans',
        leaf('cbc:PaymentMeansCode', transfer.code),
        leaf('cbc:PaymentID', invoice.number),
        group('cac:PayeeFinancialAccount', leaf('cbc:ID', transfer.iban)),
      ),
    group('cac:PaymentTerms', leaf('cbc:Note', invoice.terms)),
    present(invoice.allowances.map((allowance) => allowanceOf(allowance, currency))),
    group(
      'cac:TaxTotal',
      amount('TaxAmount', invoice.sums.taxCents, currency),
      present(invoice.taxes.map((tax) => breakdownOf(tax, currency))),
    ),
    sumsOf(invoice),
    present(invoice.lines.map((line) => lineOf(line, shape, currency))),
  ]
}

const amount = (name: string, cents: number, currency: string): Xml | null =>
  leaf(`cbc:${name}`, amountText(cents, currency), { currencyID: currency })

const scheme = (id: string): Xml | null => group('cac:TaxScheme', leaf('cbc:ID', id))

/** Outside the scope of tax there is no rate, not even 0 (BR-O-05). */
const taxOf = (name: string, { category, rateBp }: Tax, why: (Xml | null)[] = []): Xml | null =>
  group(
    name,
    leaf('cbc:ID', category),
    category === 'O' ? null : leaf('cbc:Percent', percentText(rateBp)),
    ...why,
    scheme('VAT'),
  )

const partyOf = (party: EinvoiceParty): Xml | null => {
  const [street = '', more = '', rest = ''] = party.lines
  const registration = (id: string, name: 'VAT' | 'FC') =>
    id === '' ? null : group('cac:PartyTaxScheme', leaf('cbc:CompanyID', id), scheme(name))
  return group(
    'cac:Party',
    leaf('cbc:EndpointID', party.email, EMAIL),
    group('cac:PartyIdentification', leaf('cbc:ID', party.id)),
    group(
      'cac:PostalAddress',
      leaf('cbc:StreetName', street),
      leaf('cbc:AdditionalStreetName', more),
      leaf('cbc:CityName', party.city),
      leaf('cbc:PostalZone', party.postcode),
      group('cac:AddressLine', leaf('cbc:Line', rest)),
      group('cac:Country', leaf('cbc:IdentificationCode', party.country)),
    ),
    registration(party.vatId, 'VAT'),
    registration(party.taxNumber, 'FC'),
    group('cac:PartyLegalEntity', leaf('cbc:RegistrationName', party.name)),
  )
}

const allowanceOf = ({ amountCents, reason, tax }: EinvoiceAllowance, currency: string): Xml | null =>
  group(
    'cac:AllowanceCharge',
    leaf('cbc:ChargeIndicator', 'false'),
    leaf('cbc:AllowanceChargeReasonCode', DISCOUNT),
    leaf('cbc:AllowanceChargeReason', reason),
    amount('Amount', amountCents, currency),
    taxOf('cac:TaxCategory', tax),
  )

const breakdownOf = ({ tax, baseCents, taxCents, reason, reasonCode }: TaxBreakdown, currency: string): Xml | null =>
  group(
    'cac:TaxSubtotal',
    amount('TaxableAmount', baseCents, currency),
    amount('TaxAmount', taxCents, currency),
    taxOf('cac:TaxCategory', tax, [
      leaf('cbc:TaxExemptionReasonCode', reasonCode),
      leaf('cbc:TaxExemptionReason', reason),
    ]),
  )

const sumsOf = ({ sums, currency }: EInvoice): Xml | null =>
  group(
    'cac:LegalMonetaryTotal',
    amount('LineExtensionAmount', sums.linesCents, currency),
    amount('TaxExclusiveAmount', sums.netCents, currency),
    amount('TaxInclusiveAmount', sums.grossCents, currency),
    sums.allowancesCents === 0 ? null : amount('AllowanceTotalAmount', sums.allowancesCents, currency),
    sums.settledCents === 0 ? null : amount('PrepaidAmount', sums.settledCents, currency),
    amount('PayableAmount', sums.dueCents, currency),
  )

const lineOf = (line: EinvoiceLine, shape: Shape, currency: string): Xml | null =>
  group(
    `cac:${shape.line}`,
    leaf('cbc:ID', line.id),
    leaf(`cbc:${shape.quantity}`, line.qty, UNIT),
    amount('LineExtensionAmount', line.netCents, currency),
    group(
      'cac:Item',
      leaf('cbc:Description', line.description),
      leaf('cbc:Name', line.name),
      taxOf('cac:ClassifiedTaxCategory', line.tax),
    ),
    group('cac:Price', amount('PriceAmount', line.priceCents, currency)),
  )
