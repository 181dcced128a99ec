/** Electronic invoices: what stands in them, and that they reconcile. */
import fc from 'fast-check'
import { amountText, percentText } from '../../../../crds/invoice/document/einvoice/amount.ts'
import { modelOf } from '../../../../crds/invoice/document/einvoice/model.ts'
import type { Source } from '../../../../crds/invoice/document/einvoice/source.ts'
import { vatIdOf } from '../../../../crds/invoice/document/einvoice/vat.ts'
import {
  attachmentOf,
  enclosureOf,
  findingsOf,
  SYNTAXES,
  type Syntax,
  writeEInvoice,
} from '../../../../crds/invoice/document/einvoice/write.ts'
import type { Frozen } from '../../../../crds/invoice/order/frozen.ts'
import { amountsOf, anySource, creditOf, missing, sourceOf, untaxed } from '../../../support/builders/einvoice.ts'
import { frozenInvoice, HOSTILE } from '../../../support/builders/frozen.ts'
import { type Element, elementsAt, readXml, textsAt } from '../../../support/judges/xml.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const xmlOf = (source: Source, syntax: Syntax): string => {
  const written = writeEInvoice(source, syntax)
  if ('xml' in written) return written.xml
  return missing(written.findings.map(({ rule, words }) => `${rule} ${words}`).join('\n'))
}
const read = (source: Source, syntax: Syntax): Element => readXml(xmlOf(source, syntax))

const CII_TRADE = 'SupplyChainTradeTransaction'
const CII_SETTLEMENT = `${CII_TRADE}/ApplicableHeaderTradeSettlement`
const CII_SELLER = `${CII_TRADE}/ApplicableHeaderTradeAgreement/SellerTradeParty`
const CII_BUYER = `${CII_TRADE}/ApplicableHeaderTradeAgreement/BuyerTradeParty`
const CII_LINE = `${CII_TRADE}/IncludedSupplyChainTradeLineItem`

/** Term of the standard → where the two syntaxes have it. */
const TERMS: Record<string, { cii: string; ubl: string }> = {
  number: { cii: 'ExchangedDocument/ID', ubl: 'ID' },
  type: { cii: 'ExchangedDocument/TypeCode', ubl: 'InvoiceTypeCode' },
  currency: { cii: `${CII_SETTLEMENT}/InvoiceCurrencyCode`, ubl: 'DocumentCurrencyCode' },
  'issue date': { cii: 'ExchangedDocument/IssueDateTime/DateTimeString', ubl: 'IssueDate' },
  'due date': { cii: `${CII_SETTLEMENT}/SpecifiedTradePaymentTerms/DueDateDateTime/DateTimeString`, ubl: 'DueDate' },
  terms: { cii: `${CII_SETTLEMENT}/SpecifiedTradePaymentTerms/Description`, ubl: 'PaymentTerms/Note' },
  seller: { cii: `${CII_SELLER}/Name`, ubl: 'AccountingSupplierParty/Party/PartyLegalEntity/RegistrationName' },
  'seller country': {
    cii: `${CII_SELLER}/PostalTradeAddress/CountryID`,
    ubl: 'AccountingSupplierParty/Party/PostalAddress/Country/IdentificationCode',
  },
  'seller tax number': {
    cii: `${CII_SELLER}/SpecifiedTaxRegistration/ID`,
    ubl: 'AccountingSupplierParty/Party/PartyTaxScheme/CompanyID',
  },
  'buyer third line': {
    cii: `${CII_BUYER}/PostalTradeAddress/LineThree`,
    ubl: 'AccountingCustomerParty/Party/PostalAddress/AddressLine/Line',
  },
  'buyer VAT id': {
    cii: `${CII_BUYER}/SpecifiedTaxRegistration/ID`,
    ubl: 'AccountingCustomerParty/Party/PartyTaxScheme/CompanyID',
  },
  account: {
    cii: `${CII_SETTLEMENT}/SpecifiedTradeSettlementPaymentMeans/PayeePartyCreditorFinancialAccount/IBANID`,
    ubl: 'PaymentMeans/PayeeFinancialAccount/ID',
  },
  means: {
    cii: `${CII_SETTLEMENT}/SpecifiedTradeSettlementPaymentMeans/TypeCode`,
    ubl: 'PaymentMeans/PaymentMeansCode',
  },
  'line name': { cii: `${CII_LINE}/SpecifiedTradeProduct/Name`, ubl: 'InvoiceLine/Item/Name' },
  'line text': { cii: `${CII_LINE}/SpecifiedTradeProduct/Description`, ubl: 'InvoiceLine/Item/Description' },
  'line qty': { cii: `${CII_LINE}/SpecifiedLineTradeDelivery/BilledQuantity`, ubl: 'InvoiceLine/InvoicedQuantity' },
  'line price': {
    cii: `${CII_LINE}/SpecifiedLineTradeAgreement/NetPriceProductTradePrice/ChargeAmount`,
    ubl: 'InvoiceLine/Price/PriceAmount',
  },
  category: { cii: `${CII_SETTLEMENT}/ApplicableTradeTax/CategoryCode`, ubl: 'TaxTotal/TaxSubtotal/TaxCategory/ID' },
  rate: {
    cii: `${CII_SETTLEMENT}/ApplicableTradeTax/RateApplicablePercent`,
    ubl: 'TaxTotal/TaxSubtotal/TaxCategory/Percent',
  },
  ground: {
    cii: `${CII_SETTLEMENT}/ApplicableTradeTax/ExemptionReason`,
    ubl: 'TaxTotal/TaxSubtotal/TaxCategory/TaxExemptionReason',
  },
  note: { cii: 'ExchangedDocument/IncludedNote/Content', ubl: 'Note' },
  prepaid: {
    cii: `${CII_SETTLEMENT}/SpecifiedTradeSettlementHeaderMonetarySummation/TotalPrepaidAmount`,
    ubl: 'LegalMonetaryTotal/PrepaidAmount',
  },
  'amount due': {
    cii: `${CII_SETTLEMENT}/SpecifiedTradeSettlementHeaderMonetarySummation/DuePayableAmount`,
    ubl: 'LegalMonetaryTotal/PayableAmount',
  },
  credited: {
    cii: `${CII_SETTLEMENT}/InvoiceReferencedDocument/IssuerAssignedID`,
    ubl: 'BillingReference/InvoiceDocumentReference/ID',
  },
}

const day = (text: string, syntax: Syntax): string => (syntax === 'cii' ? text.replaceAll('-', '') : text)

spec('an electronic invoice', (t) => {
  const shows = (source: Source, expected: Record<string, string[]>): void => {
    for (const syntax of SYNTAXES) {
      const root = read(source, syntax)
      for (const [term, values] of Object.entries(expected)) {
        const path = TERMS[term]?.[syntax] ?? missing(term)
        const shown = source.kind === 'credit_note' ? path.replace(/^Invoice(?=Line|TypeCode)/, 'CreditNote') : path
        const dated = values.map((value) => (term.endsWith('date') ? day(value, syntax) : value))
        assert.equal(textsAt(root, shown), dated, `${term} in ${syntax}`)
      }
    }
  }

  t('says who invoices whom, and when it is due', () => {
    shows(sourceOf(), {
      number: ['INV-026-0001'],
      type: ['380'],
      currency: ['EUR'],
      'issue date': ['2026-11-21'],
      'due date': ['2026-12-20'],
      terms: ['Payable within 30 days.'],
      seller: ['Demo Studio SL'],
      'seller country': ['ES'],
      'seller tax number': ['ESB00000000'],
      'buyer third line': ['3. Stock, bei Müller'],
      'buyer VAT id': ['DE123456789'],
      account: ['ES9121000418450200051332'],
      means: ['58'],
      category: ['S'],
      rate: ['20'],
      ground: [],
      note: [],
    })
  })

  t('turns a rebate into a negative quantity, for no price may be below zero', () => {
    const items = [
      { description: 'Work\nin October', qty: '1.5', unitCents: 80_000, taxRateBp: 1950 },
      { description: 'Rebate', qty: '2', unitCents: -50, taxRateBp: 1950 },
    ]
    shows(sourceOf(amountsOf(items)), {
      'line name': ['Work', 'Rebate'],
      'line text': ['Work\nin October'],
      'line qty': ['1.5', '-2'],
      'line price': ['800.00', '0.50'],
      rate: ['19.5'],
    })
  })

  t('says on what ground nothing is charged', () => {
    const zero = (category: 'Z' | 'E' | 'O' | 'AE', reason = '') => untaxed({ zeroRate: { category, reason } })
    shows(zero('Z'), { category: ['Z'], rate: ['0'], ground: [] })
    shows(zero('E', 'Article 132'), { category: ['E'], rate: ['0'], ground: ['Article 132'] })
    shows(zero('AE'), { category: ['AE'], rate: ['0'], ground: ['Reverse charge'] })
    shows(zero('O'), { category: ['O'], rate: [], ground: ['Not subject to VAT'], 'buyer VAT id': [] })
    shows(untaxed({ lang: 'es', zeroRate: { category: 'AE', reason: '' } }), {
      ground: ['Inversión del sujeto pasivo'],
    })
  })

  t('takes a seller with a VAT identifier as zero-rated, and one without as outside VAT, where nothing is said', () => {
    const { seller } = sourceOf()
    shows(untaxed(), { category: ['Z'] })
    shows(untaxed({ seller: { ...seller, taxId: '12-345678' } }), {
      category: ['O'],
      'seller tax number': ['12-345678'],
    })
  })

  t('credits an invoice by its number, and asks for no payment', () => {
    shows(creditOf(), {
      type: ['381'],
      credited: ['INV-026-0001'],
      terms: ['Credits invoice INV-026-0001.'],
      note: ['Order cancelled'],
      account: [],
    })
    assert.is(read(creditOf(), 'ubl').name, 'CreditNote')
  })

  t('says that a test is one', () => {
    shows(sourceOf({ test: true }), { note: ['This is a test document. No payment is asked for.'] })
  })

  t('is made of what is frozen today, once it says where its parties are', () => {
    const frozen: Frozen = frozenInvoice()
    const enclosure = enclosureOf(frozen)
    assert.ok(enclosure.profile === null && enclosure.reason.includes('BR-09, '), JSON.stringify(enclosure))
    const placed = {
      ...frozen,
      seller: { ...frozen.seller, country: 'ES' },
      client: { ...frozen.client, country: 'FR' },
    }
    assert.equal(enclosureOf(placed), { profile: 'EN 16931' })
    const { bytes, ...about } = attachmentOf(placed)
    assert.equal(about, { name: 'factur-x.xml', profile: 'EN 16931' })
    assert.is(bytes.toString('utf8'), xmlOf(placed, 'cii'))
  })

  t('asks for what is left after payments and credit notes, and says what was credited', () => {
    const half = sourceOf({ paid: { amountCents: 40_000 }, creditedCents: 44_000 })
    assert.equal(findingsOf(modelOf(half)), [])
    shows(half, { prepaid: ['840.00'], 'amount due': ['600.00'], note: ['Credited: 440.00 EUR'] })
  })

  for (const [what, text] of Object.entries(HOSTILE)) {
    t(`is well formed with ${what} wherever text stands`, () => {
      const { seller, client } = sourceOf()
      const written = `x ${text}`
      const source = sourceOf({
        seller: { ...seller, legalName: written, address: written, email: written, taxId: written, city: text },
        client: { ...client, name: written, address: written, email: written, taxId: written, postcode: text },
        ...amountsOf([{ description: written, qty: '1', unitCents: 100, taxRateBp: 2000 }]),
        terms: written,
        number: written,
      })
      for (const syntax of SYNTAXES) {
        const [name = ''] = textsAt(read(source, syntax), TERMS.seller?.[syntax] ?? '')
        const expected = written.toWellFormed().replace(/\r\n?/g, '\n').trim()
        // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
        assert.is(name, expected.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd'))
      }
    })
  }

  t('has no empty element but the one that the schema demands', () => {
    const empty = (element: Element): string[] =>
      element.children.length === 0 && element.text.trim() === '' ? [element.name] : element.children.flatMap(empty)
    const { seller, client } = sourceOf()
    const bare = sourceOf({
      seller: { ...seller, address: '', email: '', city: '', postcode: '', iban: '' },
      client: { ...client, address: ' \n ', email: '', city: '', postcode: '', taxId: '' },
    })
    assert.equal(empty(read(bare, 'cii')), ['ram:ApplicableHeaderTradeDelivery'])
    assert.equal(empty(read(bare, 'ubl')), [])
  })
})

spec('numbers of an electronic invoice', (t) => {
  const amounts: [number, string, string][] = [
    [144_000, 'EUR', '1440.00'],
    [5, 'EUR', '0.05'],
    [-5, 'EUR', '-0.05'],
    [0, 'EUR', '0.00'],
    [50_000, 'JPY', '500'],
    [50_050, 'JPY', '500.50'],
    [1234, 'KWD', '12.34'],
    [Number.MAX_SAFE_INTEGER, 'USD', '90071992547409.91'],
  ]
  for (const [cents, currency, text] of amounts) {
    t(`have ${cents} hundredths of ${currency} as ${text}`, () => assert.is(amountText(cents, currency), text))
  }
  t('have rates as per cent', () => {
    assert.equal([0, 1, 700, 1950, 10_000].map(percentText), ['0', '0.01', '7', '19.5', '100'])
  })
})

spec('a VAT identifier', (t) => {
  const numbers: [string, string][] = [
    ['ESB00000000', 'ESB00000000'],
    ['de 123.456.789', 'DE123456789'],
    ['EL123456789', 'EL123456789'],
    ['CHE-123.456.789 MWST', 'CHE123456789MWST'],
    ['NIF 12345678', ''],
    ['12345678', ''],
    ['DE12345', ''],
    ['', ''],
  ]
  for (const [given, id] of numbers) {
    t(`is ${id || 'not'} in ${JSON.stringify(given)}`, () => assert.is(vatIdOf(given), id))
  }
})

/** Hundredths of an amount in XML; throws on anything but digits with at most two decimals. */
const centsOf = (text: string): bigint => {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d{2}))?$/.exec(text) ?? missing(text)
  return BigInt(`${sign}${whole}${fraction.padEnd(2, '0')}`)
}
const sum = (texts: string[]): bigint => texts.map(centsOf).reduce((total, cents) => total + cents, 0n)

type Sums = { lines: bigint; allowances: bigint; net: bigint; tax: bigint; gross: bigint; paid: bigint; due: bigint }
type Figures = Sums & { lineSum: bigint; allowanceSum: bigint; groupBases: bigint; groupTaxes: bigint }

const FIGURES: Record<Syntax, Record<keyof Figures, string>> = {
  cii: {
    lines: `${CII_SETTLEMENT}/SpecifiedTradeSettlementHeaderMonetarySummation/LineTotalAmount`,
    allowances: `${CII_SETTLEMENT}/SpecifiedTradeSettlementHeaderMonetarySummation/AllowanceTotalAmount`,
    net: `${CII_SETTLEMENT}/SpecifiedTradeSettlementHeaderMonetarySummation/TaxBasisTotalAmount`,
    tax: `${CII_SETTLEMENT}/SpecifiedTradeSettlementHeaderMonetarySummation/TaxTotalAmount`,
    gross: `${CII_SETTLEMENT}/SpecifiedTradeSettlementHeaderMonetarySummation/GrandTotalAmount`,
    paid: `${CII_SETTLEMENT}/SpecifiedTradeSettlementHeaderMonetarySummation/TotalPrepaidAmount`,
    due: `${CII_SETTLEMENT}/SpecifiedTradeSettlementHeaderMonetarySummation/DuePayableAmount`,
    lineSum: `${CII_LINE}/SpecifiedLineTradeSettlement/SpecifiedTradeSettlementLineMonetarySummation/LineTotalAmount`,
    allowanceSum: `${CII_SETTLEMENT}/SpecifiedTradeAllowanceCharge/ActualAmount`,
    groupBases: `${CII_SETTLEMENT}/ApplicableTradeTax/BasisAmount`,
    groupTaxes: `${CII_SETTLEMENT}/ApplicableTradeTax/CalculatedAmount`,
  },
  ubl: {
    lines: 'LegalMonetaryTotal/LineExtensionAmount',
    allowances: 'LegalMonetaryTotal/AllowanceTotalAmount',
    net: 'LegalMonetaryTotal/TaxExclusiveAmount',
    tax: 'TaxTotal/TaxAmount',
    gross: 'LegalMonetaryTotal/TaxInclusiveAmount',
    paid: 'LegalMonetaryTotal/PrepaidAmount',
    due: 'LegalMonetaryTotal/PayableAmount',
    lineSum: 'Line/LineExtensionAmount',
    allowanceSum: 'AllowanceCharge/Amount',
    groupBases: 'TaxTotal/TaxSubtotal/TaxableAmount',
    groupTaxes: 'TaxTotal/TaxSubtotal/TaxAmount',
  },
}

const figuresOf = (source: Source, syntax: Syntax): Figures => {
  const root = read(source, syntax)
  const line = source.kind === 'credit_note' ? 'CreditNoteLine/' : 'InvoiceLine/'
  const pairs = Object.entries(FIGURES[syntax]).map(([name, path]) => {
    return [name, sum(textsAt(root, path.replace(/^Line\//, line)))]
  })
  return Object.fromEntries(pairs)
}

spec('any electronic invoice', (t) => {
  const runs = process.env.BOTTEGA_TEST_FULL ? 10_000 : 1_500

  t(
    'shows the cents of the one totals function, reconciles, and is found faultless',
    () => {
      fc.assert(
        fc.property(anySource, (source) => {
          const figures = figuresOf(source, 'cii')
          assert.equal(figuresOf(source, 'ubl'), figures)
          const paid = source.paid?.amountCents ?? 0
          const { subtotalCents, discountCents, taxCents, totalCents } = source
          assert.equal(
            [figures.lines, figures.allowances, figures.tax, figures.gross, figures.paid, figures.due],
            [subtotalCents, discountCents, taxCents, totalCents, paid, totalCents - paid].map(BigInt),
          )
          assert.is(figures.lineSum, figures.lines)
          assert.is(figures.allowanceSum, figures.allowances)
          assert.is(figures.net, figures.lines - figures.allowances)
          assert.is(figures.groupBases, figures.net)
          assert.is(figures.groupTaxes, figures.tax)
          assert.is(figures.gross, figures.net + figures.tax)
          assert.is(figures.due, figures.gross - figures.paid)
        }),
        { numRuns: runs },
      )
    },
    { timeoutMs: 120_000 },
  )

  t('has the same bytes each time, and keeps the document as it was', () => {
    fc.assert(
      fc.property(anySource, (source) => {
        const before = structuredClone(source)
        for (const syntax of SYNTAXES) assert.is(xmlOf(source, syntax), xmlOf(structuredClone(source), syntax))
        assert.equal(source, before)
      }),
      { numRuns: 200 },
    )
  })

  t('has its lines in their order', () => {
    const items = Array.from({ length: 500 }, (_, index) => ({
      description: `Line ${index + 1}`,
      qty: '1',
      unitCents: 100 + index,
      taxRateBp: 2000,
    }))
    const lines = elementsAt(read(sourceOf(amountsOf(items)), 'cii'), CII_LINE)
    assert.equal(
      lines.map((line) => textsAt(line, 'SpecifiedTradeProduct/Name')[0]),
      items.map(({ description }) => description),
    )
  })
})
