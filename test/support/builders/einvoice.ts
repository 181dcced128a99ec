/** Builders: documents that can be electronic invoices, by hand and at random. */
import fc from 'fast-check'
import type { Source } from '../../../crds/invoice/document/einvoice/source.ts'
import { LANGS } from '../../../crds/invoice/order/frozen.ts'
import { totalsOf } from '../../../crds/invoice/order/totals.ts'
import { leastCents } from '../../../crds/values/money.ts'
import { frozenInvoice } from './frozen.ts'

type Item = { description: string; qty: string; unitCents: number; taxRateBp: number }

/** What is not there fails the test, by its name. */
export const missing = (what: string): never => {
  throw new Error(`missing: ${what}`)
}

/** Amounts of these items, made by the one function that makes them. */
export const amountsOf = (items: readonly Item[], { discountCents = 0, currency = 'EUR' } = {}) => {
  const { lines, ...totals } = totalsOf({ items, discountCents, taxRateBp: 0, currency })
  return {
    currency,
    ...totals,
    items: items.map((item, index) => ({ ...item, amountCents: lines[index]?.amountCents ?? 0 })),
  }
}

const plain = frozenInvoice()

/** 1,200.00 + 20 % = 1,440.00 EUR, from Madrid to Berlin. */
export const sourceOf = (changes: Partial<Source> = {}): Source => ({
  ...plain,
  seller: { ...plain.seller, city: 'Madrid', postcode: '28001', country: 'ES', iban: 'ES91 2100 0418 4502 0005 1332' },
  client: {
    ...plain.client,
    address: 'Torstraße 1\nHinterhaus\n3. Stock\nbei Müller',
    city: 'Berlin',
    postcode: '10115',
    country: 'DE',
    taxId: 'DE 123 456 789',
  },
  ...changes,
})

/** The same at 0 %. */
export const untaxed = (changes: Partial<Source> = {}): Source =>
  sourceOf({ ...amountsOf([{ description: 'Course', qty: '2', unitCents: 60_000, taxRateBp: 0 }]), ...changes })

/** A credit note over the whole of it. */
export const creditOf = (changes: Partial<Source> = {}): Source =>
  sourceOf({
    kind: 'credit_note',
    number: 'CNINV-026-0001',
    dueDate: null,
    terms: '',
    credits: { number: 'INV-026-0001', issuedOn: '2026-11-21', reason: 'Order cancelled' },
    ...changes,
  })

const decimals = (places: number) =>
  fc.tuple(fc.nat(9999), fc.nat(10 ** places - 1)).map(([whole, part]) => {
    const fraction = String(part).padStart(places, '0').replace(/0+$/, '')
    return fraction === '' ? String(whole) : `${whole}.${fraction}`
  })

const texts = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom('<a href="x">&amp;</a>', 'first\r\nsecond\rthird', ']]> -->', 'a\u0000\u001f\ufffe\ud800b'),
)

const RATES = [0, 50, 333, 700, 1000, 1950, 2000, 2550, 9999, 10_000]

const anyItem = fc.record({
  description: texts.map((text) => `Work ${text}`),
  qty: decimals(6),
  unitCents: fc.oneof(fc.integer({ min: -50_000, max: 100_000_00 }), fc.integer({ min: -3, max: 3 })),
  taxRateBp: fc.constantFrom(...RATES),
})

/**
 * Random documents whose data allow the standard: all classes of currencies, discounts, rebates, mixed and odd rates, odd
 * quantities, every ground for charging nothing, invoices and credit notes.
 */
export const anySource: fc.Arbitrary<Source> = fc
  .record({
    items: fc.array(anyItem, { minLength: 1, maxLength: 8 }),
    discountCents: fc.oneof(fc.constant(0), fc.nat(300_000)),
    currency: fc.constantFrom('EUR', 'USD', 'JPY', 'ISK', 'KWD', 'CLF'),
    lang: fc.constantFrom(...LANGS),
    taxId: fc.constantFrom('ESB00000000', '1234-567', 'CHE-123.456.789 MWST'),
    zero: fc.constantFrom(null, 'Z', 'E', 'AE', 'O' as const),
    reason: texts.map((text) => `Article 132 ${text}`),
    text: texts,
    credit: fc.boolean(),
    test: fc.boolean(),
    paidPart: fc.constantFrom(0, 0.3, 1),
  })
  .map(({ items, discountCents, taxId, zero, reason, text, credit, paidPart, ...rest }) => {
    // what is outside the scope of tax stands alone
    const alone = zero === 'O' ? items.map((item) => ({ ...item, taxRateBp: 0 })) : items
    const { currency } = rest
    const priced = alone.map((item) => ({ ...item, unitCents: item.unitCents * leastCents(currency) }))
    const amounts = amountsOf(priced, { discountCents: discountCents * leastCents(currency), currency })
    const paidCents =
      Math.floor((Math.max(amounts.totalCents, 0) * paidPart) / leastCents(currency)) * leastCents(currency)
    const base = credit ? creditOf() : sourceOf()
    return {
      ...base,
      ...rest,
      ...amounts,
      seller: { ...base.seller, legalName: `Studio ${text}`, taxId, address: text },
      client: { ...base.client, name: `Client ${text}` },
      terms: `${text} 30 days`,
      zeroRate: zero === null ? null : { category: zero, reason },
      paid: paidCents > 0 && !credit ? { amountCents: paidCents } : null,
    }
  })
