/** Builders: frozen invoices, by hand and at random, and strings that mean harm. */
import fc from 'fast-check'
import { type Frozen, type FrozenItem, LANGS } from '../../../crds/invoice/order/frozen.ts'
import { totalsOf } from '../../../crds/invoice/order/totals.ts'
import { leastCents } from '../../../crds/values/money.ts'

export const frozenItem = (changes: Partial<FrozenItem> = {}): FrozenItem => ({
  description: 'October retainer',
  qty: '1.5',
  unitCents: 80_000,
  taxRateBp: 2000,
  amountCents: 120_000,
  ...changes,
})

/** 1,200.00 + 20 % = 1,440.00 EUR, due 2026-12-20. */
export const frozenInvoice = (changes: Partial<Frozen> = {}): Frozen => ({
  number: 'INV-026-0001',
  kind: 'invoice',
  test: false,
  issuedOn: '2026-11-21',
  dueDate: '2026-12-20',
  lang: 'en',
  currency: 'EUR',
  seller: {
    legalName: 'Demo Studio SL',
    taxId: 'ESB00000000',
    address: 'Calle Mayor 1\n28001 Madrid',
    email: 'owner@demo.test',
    footer: 'IBAN ES91 2100 0418 4502 0005 1332',
  },
  client: { name: 'ACME', email: 'billing@acme.test' },
  items: [frozenItem()],
  subtotalCents: 120_000,
  discountCents: 0,
  taxGroups: [{ rateBp: 2000, baseCents: 120_000, taxCents: 24_000 }],
  taxCents: 24_000,
  totalCents: 144_000,
  paid: null,
  terms: 'Payable within 30 days.',
  ...changes,
})

/** The same between two countries, so that it can be an electronic invoice. */
export const placedInvoice = (changes: Partial<Frozen> = {}): Frozen => {
  const frozen = frozenInvoice(changes)
  const { seller, client } = frozen
  return { ...frozen, seller: { country: 'ES', ...seller }, client: { country: 'DE', ...client } }
}

export const paidInFull = { amountCents: 144_000, method: 'Bank transfer', reference: 'SEPA-42', on: '2026-11-22' }

/** Each has broken some document, page or mail before. */
export const HOSTILE: Record<string, string> = {
  markup: '"><script>alert(1)</script><img src=x onerror=alert(1)>\'',
  entity: '&lt;b&gt; &amp; &#0; </title></style><!-- ]]>',
  'pdf syntax': ') Tj ET /JS (app.alert(1)) /URI (http://evil.test) >> endobj \\( \\) %',
  newlines: 'a\r\nBcc: evil@evil.test\r\n\r\nb\u2028c\u2029d',
  controls: 'a\u0000b\u0007c\u001bd\u007fe\u0085f',
  'direction marks': '\u202egnp.exe\u2066x\u2069\u200f',
  'other scripts': 'שלום مرحبا 你好 🧾 \u{10ffff}',
  'lone surrogates': 'a\ud800b\udc00c',
  'stacked marks': `Z${'\u0301\u0489'.repeat(60)}`,
  'one long word': 'W'.repeat(1_900),
  'many lines': 'x\n'.repeat(900),
  template: `{number} {seller} \${1} {{x}} $& $1 __proto__`,
  empty: '',
  spaces: ' \t\u00a0\u3000 ',
}

/** A frozen invoice with the same text wherever text stands. */
export const frozenWith = (text: string): Frozen =>
  frozenInvoice({
    seller: { legalName: text, taxId: text, address: text, email: text, footer: text },
    client: { name: text, email: text },
    items: [frozenItem({ description: text }), frozenItem({ description: text })],
    paid: { ...paidInFull, method: text, reference: text },
    terms: text,
  })

const qty = fc.tuple(fc.nat(9999), fc.nat(999_999)).map(([whole, part]) => {
  const fraction = String(part).padStart(6, '0').replace(/0+$/, '')
  return fraction === '' ? String(whole) : `${whole}.${fraction}`
})

const money = {
  items: fc.array(
    fc.record({
      description: fc.string({ unit: 'grapheme', maxLength: 60 }),
      qty,
      unitCents: fc.integer({ min: 0, max: 1_000_000_00 }),
      taxRateBp: fc.constantFrom(0, 700, 1000, 1950, 2000),
    }),
    { minLength: 1, maxLength: 8 },
  ),
  discountCents: fc.nat(5000),
  currency: fc.constantFrom('EUR', 'JPY', 'KWD', 'USD'),
  lang: fc.constantFrom(...LANGS),
  paidPart: fc.constantFrom(0, 0.3, 1),
}

/** Random invoices whose totals were made by the one function that makes them. */
export const anyFrozen: fc.Arbitrary<Frozen> = fc.record(money).map(({ items: chosen, paidPart, ...rest }) => {
  const { currency } = rest
  const least = leastCents(currency)
  const items = chosen.map((item) => ({ ...item, unitCents: item.unitCents * least }))
  const discountCents = rest.discountCents * least
  const { lines, ...totals } = totalsOf({ items, discountCents, taxRateBp: 0, currency })
  const amountCents = Math.floor((Math.max(totals.totalCents, 0) * paidPart) / least) * least
  return frozenInvoice({
    ...rest,
    ...totals,
    items: items.map((item, index) => ({ ...item, amountCents: lines[index]?.amountCents ?? 0 })),
    paid: amountCents > 0 ? { ...paidInFull, amountCents } : null,
  })
})
