/** Electronic invoices before the validators that the world uses: Mustang with the artefacts of CEN and the schemas. */
import fc from 'fast-check'
import type { Source } from '../../../../crds/invoice/document/einvoice/source.ts'
import { SYNTAXES, writeEInvoice } from '../../../../crds/invoice/document/einvoice/write.ts'
import { amountsOf, anySource, creditOf, missing, sourceOf, untaxed } from '../../../support/builders/einvoice.ts'
import { HOSTILE } from '../../../support/builders/frozen.ts'
import { type Judged, validate } from '../../../support/judges/validators.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const SEED = 16_931
const RANDOM = 15
const timeoutMs = 400_000

const { seller, client } = sourceOf()
const zero = (category: 'Z' | 'E' | 'O' | 'AE') => untaxed({ zeroRate: { category, reason: 'Article 132' } })
const items = [
  { description: 'Work\nin October', qty: '1.5', unitCents: 80_000, taxRateBp: 1950 },
  { description: 'Rebate', qty: '2', unitCents: -50, taxRateBp: 700 },
  { description: 'Free', qty: '0', unitCents: 0, taxRateBp: 0 },
]

/** Rates beside the border at which the validators see any, and the smallest tax that they miss. */
const low = (taxRateBp: number, unitCents: number) =>
  sourceOf(amountsOf([{ description: 'x', qty: '1', unitCents, taxRateBp }]))

const SAMPLES: Record<string, Source> = {
  plain: sourceOf(),
  credit: creditOf(),
  test: sourceOf({ test: true }),
  paid: sourceOf({ paid: { amountCents: 144_000 }, dueDate: null, terms: '' }),
  rebate: sourceOf(amountsOf(items, { discountCents: 333 })),
  yen: sourceOf({ currency: 'JPY' }),
  'yen-rounded': sourceOf(
    amountsOf(
      [
        { description: 'x', qty: '1', unitCents: 1_234_500, taxRateBp: 1000 },
        { description: 'y', qty: '1.5', unitCents: 33_300, taxRateBp: 800 },
      ],
      { discountCents: 10_100, currency: 'JPY' },
    ),
  ),
  // 7,777 yen with 10 % tax in them, divided backwards
  'yen-credited': creditOf({
    currency: 'JPY',
    items: [{ description: 'x', qty: '1', unitCents: 707_000, taxRateBp: 1000, amountCents: 707_000 }],
    subtotalCents: 707_000,
    discountCents: 0,
    taxGroups: [{ rateBp: 1000, baseCents: 707_000, taxCents: 70_700 }],
    taxCents: 70_700,
    totalCents: 777_700,
  }),
  dinar: sourceOf({ currency: 'KWD', seller: { ...seller, taxId: '12-345678' } }),
  'rate-of-half': low(50, 1_000_000),
  'rate-below-half': low(49, 10_000),
  bare: sourceOf({
    seller: { ...seller, address: '', email: '', city: '', postcode: '', iban: '' },
    client: { ...client, address: '', email: '', city: '', postcode: '', taxId: '' },
  }),
  zero: zero('Z'),
  exempt: zero('E'),
  outside: zero('O'),
  reverse: zero('AE'),
  ...Object.fromEntries(
    Object.entries(HOSTILE).map(([what, text]) => [
      what.replaceAll(' ', '-'),
      sourceOf({
        seller: { ...seller, legalName: `x ${text}`, address: text },
        client: { ...client, name: `x ${text}`, address: text },
        ...amountsOf([{ description: `x ${text}`, qty: '1', unitCents: 100, taxRateBp: 2000 }]),
        terms: `x ${text}`,
      }),
    ]),
  ),
  ...Object.fromEntries(
    fc.sample(anySource, { numRuns: RANDOM, seed: SEED }).map((source, at) => [`random-${at}`, source]),
  ),
}

const filesOf = (source: Source, name: string): [string, string][] =>
  SYNTAXES.map((syntax) => {
    const written = writeEInvoice(source, syntax)
    return [`${name}-${syntax}.xml`, 'xml' in written ? written.xml : missing(JSON.stringify(written))]
  })

/** What our own rules would have refused, and a schema that is not kept: the validators must see each. */
const broken = (change: (xml: string) => string): [string, string][] =>
  filesOf(sourceOf(), 'broken').map(([name, xml]) => {
    const changed = change(xml)
    assert.is.not(changed, xml, name)
    return [name, changed]
  })
const BROKEN: Record<string, [(xml: string) => string, RegExp]> = {
  total: [(xml) => xml.replace(/(GrandTotalAmount|TaxInclusiveAmount currencyID="EUR")>1440/, '$1>1441'), /BR-CO-15/],
  country: [
    (xml) => xml.replace(/(CountryID|IdentificationCode)>DE/, '$1>XX'),
    /BR-CL-14|'ram:CountryID' is not allowed/,
  ],
  name: [(xml) => xml.replace(/<(ram:Name|cbc:RegistrationName)>ACME<\/\1>/, ''), /BR-07|'ram:Name' must occur/],
  order: [
    (xml) =>
      xml
        .replace(/(<ram:ID>INV-026-0001<\/ram:ID>)(\s*)(<ram:TypeCode>380<\/ram:TypeCode>)/, '$3$2$1')
        .replace(/(<cbc:ID>INV-026-0001<\/cbc:ID>)(\s*)(<cbc:IssueDate>[^<]*<\/cbc:IssueDate>)/, '$3$2$1'),
    /./,
  ],
}

spec('Mustang', (t) => {
  t(
    'accepts what we write, in both syntaxes',
    async () => {
      const files = Object.fromEntries(Object.entries(SAMPLES).flatMap(([name, source]) => filesOf(source, name)))
      const judged = await validate(files)
      assert.ok(judged.length > 70)
      assert.equal(
        judged.filter(({ faults }) => faults.length > 0),
        [],
      )
    },
    { timeoutMs },
  )

  t(
    'refuses what breaks a rule or the schema, so its word counts',
    async () => {
      const files = Object.entries(BROKEN).flatMap(([what, [change]]) =>
        broken(change).map(([name, xml]): [string, string] => [`${what}-${name}`, xml]),
      )
      const judged = await validate(Object.fromEntries(files))
      const rulesOf = ({ name }: Judged) => BROKEN[name.split('-')[0] ?? '']?.[1] ?? missing(name)
      for (const one of judged) assert.match(one.faults.join('\n'), rulesOf(one), one.name)
      assert.is(judged.length, files.length)
    },
    { timeoutMs },
  )
})
