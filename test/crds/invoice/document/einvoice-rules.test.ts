/** The rules of EN 16931: each that our data can break is found, under its own id and at its place. */
import type { EinvoiceFinding } from '../../../../crds/invoice/document/einvoice/finding.ts'
import { modelOf } from '../../../../crds/invoice/document/einvoice/model.ts'
import type { Source } from '../../../../crds/invoice/document/einvoice/source.ts'
import { enclosureOf, findingsOf, SYNTAXES, writeEInvoice } from '../../../../crds/invoice/document/einvoice/write.ts'
import { amountsOf, creditOf, missing, sourceOf, untaxed } from '../../../support/builders/einvoice.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const found = (source: Source): string[] =>
  findingsOf(modelOf(source)).map(({ rule, pointer }: EinvoiceFinding) => `${rule} ${pointer}`)

const { seller, client, items, taxGroups } = sourceOf()
const group = taxGroups[0] ?? missing('a group')
const nowhere = { address: '', city: '', postcode: '', country: '' }
const line = (change: object) =>
  sourceOf(amountsOf([{ description: 'x', qty: '1', unitCents: 100, taxRateBp: 2000, ...change }]))
const zero = (category: 'Z' | 'E' | 'O' | 'AE', changes: Partial<Source> = {}) =>
  untaxed({ zeroRate: { category, reason: '' }, ...changes })
const mixed = amountsOf([
  { description: 'x', qty: '1', unitCents: 100, taxRateBp: 2000 },
  { description: 'y', qty: '1', unitCents: 100, taxRateBp: 0 },
])

/** What is broken → what is found, and nothing else. */
const BROKEN: [string, Source, string[]][] = [
  [
    'a rate that the validators do not see',
    line({ taxRateBp: 49, unitCents: 10_400 }),
    ['BR-CO-17 /taxGroups/0/taxCents'],
  ],
  ['no number', sourceOf({ number: ' ' }), ['BR-02 /number']],
  ['no day of issue', sourceOf({ issuedOn: '2026-02-30' }), ['BR-03 /issuedOn']],
  ['no currency', sourceOf({ currency: '' }), ['BR-05 /currency']],
  ['a currency that nobody has', sourceOf({ currency: 'XTS' }), ['BR-CL-04 /currency']],
  ['a seller without a name', sourceOf({ seller: { ...seller, legalName: '' } }), ['BR-06 /issuer/legalName']],
  ['a client without a name', sourceOf({ client: { ...client, name: '\u00a0 ' } }), ['BR-07 /clientName']],
  [
    'a seller nowhere',
    sourceOf({ seller: { ...seller, ...nowhere } }),
    ['BR-08 /issuer/address', 'BR-09 /issuer/country'],
  ],
  ['a seller in no country', sourceOf({ seller: { ...seller, country: '' } }), ['BR-09 /issuer/country']],
  [
    'a seller in a country that is none',
    sourceOf({ seller: { ...seller, country: 'UK' } }),
    ['BR-CL-14 /issuer/country'],
  ],
  [
    'a client nowhere',
    sourceOf({ client: { ...client, ...nowhere } }),
    ['BR-10 /clientAddress', 'BR-11 /clientCountry'],
  ],
  ['a client in no country', sourceOf({ client: { ...client, country: '' } }), ['BR-11 /clientCountry']],
  ['a client in small letters', sourceOf({ client: { ...client, country: 'de' } }), ['BR-CL-14 /clientCountry']],
  [
    'no line',
    sourceOf({ items: [], subtotalCents: 0, taxGroups: [], taxCents: 0, totalCents: 0 }),
    ['BR-16 /items', 'BR-CO-18 /taxGroups'],
  ],
  ['a line without words', line({ description: ' \n ' }), ['BR-25 /items/0/description']],
  [
    'a credit of nothing named',
    creditOf({ credits: { number: '', issuedOn: '2026-11-21', reason: '' } }),
    ['BR-55 /credits/number'],
  ],
  ['money due on no day', sourceOf({ dueDate: null, terms: '' }), ['BR-CO-25 /dueDate']],
  [
    'a seller without a tax number, who charges tax',
    sourceOf({ seller: { ...seller, taxId: '' } }),
    ['BR-CO-26 /issuer/taxId', 'BR-S-02 /issuer/taxId'],
  ],
  [
    'a seller without a tax number, who charges none',
    untaxed({ seller: { ...seller, taxId: '' } }),
    ['BR-CO-26 /issuer/taxId'],
  ],
  ['an exemption without a ground', zero('E'), ['BR-E-10 /zeroRate/reason']],
  ['reverse charge to nobody', zero('AE', { client: { ...client, taxId: '12' } }), ['BR-AE-02 /clientTaxId']],
  [
    'outside beside inside',
    sourceOf({ ...mixed, zeroRate: { category: 'O', reason: '' } }),
    ['BR-O-11 /zeroRate/category', 'BR-S-02 /issuer/taxId'],
  ],
  ['lines of another sum', sourceOf({ subtotalCents: 120_001 }), ['BR-CO-10 /subtotalCents', 'BR-CO-15 /totalCents']],
  [
    'a discount that no group bears',
    sourceOf({ discountCents: 1 }),
    ['BR-CO-11 /discountCents', 'BR-CO-15 /totalCents'],
  ],
  ['another tax', sourceOf({ taxCents: 24_001, totalCents: 144_001 }), ['BR-CO-14 /taxCents']],
  ['another total', sourceOf({ totalCents: 144_001 }), ['BR-CO-15 /totalCents']],
  [
    'a tax that is not base × rate',
    sourceOf({ taxGroups: [{ ...group, taxCents: 24_002 }], taxCents: 24_002, totalCents: 144_002 }),
    ['BR-CO-17 /taxGroups/0/taxCents'],
  ],
  [
    'a tax on what is free',
    untaxed({ taxGroups: [{ rateBp: 0, baseCents: 120_000, taxCents: 2 }], taxCents: 2, totalCents: 120_002 }),
    ['BR-Z-09 /taxGroups/0/taxCents'],
  ],
  [
    'a line of a rate that no group has',
    sourceOf({ items: items.map((item) => ({ ...item, taxRateBp: 700 })) }),
    ['BR-S-01 /taxGroups', 'BR-CO-11 /discountCents'],
  ],
  [
    'a group that stands twice',
    sourceOf({ taxGroups: [group, group], taxCents: 48_000, totalCents: 168_000 }),
    ['BR-S-01 /taxGroups'],
  ],
]

spec('the rules of EN 16931', (t) => {
  t('find nothing against a good document', () => {
    const good = [sourceOf(), creditOf(), untaxed(), zero('Z'), zero('AE'), zero('O'), sourceOf(mixed)]
    for (const source of good) assert.equal(found(source), [])
    assert.equal(found(untaxed({ zeroRate: { category: 'E', reason: 'Article 132' } })), [])
    assert.equal(found(sourceOf({ dueDate: null, terms: '', paid: { amountCents: 144_000 } })), [])
  })

  for (const [what, source, rules] of BROKEN) {
    t(`find ${what}: ${rules.join(', ')}`, () => {
      assert.equal(found(source).sort(), [...rules].sort())
      for (const syntax of SYNTAXES) assert.ok('findings' in writeEInvoice(source, syntax))
    })
  }

  t('bear the hundredth that a credit of an amount may round away', () => {
    const split = { rateBp: 10_000, baseCents: 1, taxCents: 0 }
    const one = { description: 'x', qty: '1', unitCents: 1, taxRateBp: 10_000, amountCents: 1 }
    const credit = creditOf({ items: [one], subtotalCents: 1, taxGroups: [split], taxCents: 0, totalCents: 1 })
    assert.equal(found(credit), [])
    const beyond = { ...split, taxCents: 3 }
    assert.equal(found({ ...credit, taxGroups: [beyond], taxCents: 3, totalCents: 4 }), [
      'BR-CO-17 /taxGroups/0/taxCents',
    ])
  })

  t('are the stated reason of a PDF that stays plain, the first of them by name', () => {
    const enclosure = enclosureOf(sourceOf({ client: { ...client, country: '' }, dueDate: null, terms: '' }))
    assert.ok(enclosure.profile === null)
    assert.is(enclosure.reason, 'EN 16931 asks for more: BR-11, BR-CO-25')
    assert.equal(
      enclosure.findings.map(({ pointer }) => pointer),
      ['/clientCountry', '/dueDate'],
    )
    const nameless = Array.from({ length: 1_000 }, () => ({ description: '', qty: '1', unitCents: 1, taxRateBp: 0 }))
    const long = enclosureOf(sourceOf(amountsOf(nameless)))
    assert.is(long.profile === null && long.findings.length, 20)
  })

  t('say what to do about each', () => {
    for (const [what, source] of BROKEN) {
      for (const { words } of findingsOf(modelOf(source))) assert.match(words, /^[A-Z].*\.$/, what)
    }
  })
})
