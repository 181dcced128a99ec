import fc from 'fast-check'
import { INVOICE } from '../../../crds/invoice/kind.ts'
import { type InvoiceSpec, spec as invoice } from '../../../crds/invoice/schema.ts'
import {
  codeAt,
  fixedFaults,
  restPointer,
  restSchema,
  toCamel,
  toPatch,
  toRest,
  toSnake,
  toSpec,
} from '../../../crds/kernel/rest.ts'
import { isObject, type Schema, textPattern, textPatternRe2, withDefaults } from '../../../crds/kernel/schema.ts'
import { KINDS } from '../../../crds/kinds.ts'
import { isDay, isInstant, isTimeZone } from '../../../crds/values/calendar.ts'
import { isDeepStrictEqual } from '../../../crds/values/compare.ts'
import { decimalOf } from '../../../crds/values/decimal.ts'
import { frozen, invoiceSpec } from '../../support/builders/invoice.ts'
import { schemaFits, testAjv } from '../../support/judges/schemafits.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const ajv = testAjv()
const restFits = ajv.compile(restSchema(invoice))

const crdFits = schemaFits(INVOICE)

/** Every node of a schema, with its path. */
const nodesOf = (schema: Schema, path: string): [string, Schema][] => {
  const children: [string, Schema][] = isObject(schema)
    ? Object.entries(schema.properties).map(([name, child]) => [`${path}.${name}`, child])
    : schema.type === 'array'
      ? [[`${path}[]`, schema.items]]
      : []
  return [[path, schema], ...children.flatMap(([where, child]) => nodesOf(child, where))]
}
const allNodes = KINDS.flatMap((kind) => [
  ...nodesOf(kind.spec, `${kind.kind}.spec`),
  ...nodesOf(kind.status, `${kind.kind}.status`),
])

spec('every schema', (t) => {
  t('describes each node in a sentence', () => {
    for (const [path, node] of allNodes) assert.match(node.description, /^[\p{L}].*[.:]?$/u, path)
  })
  t('bounds each text and list, so that the cost of its rules can be priced', () => {
    for (const [path, node] of allNodes) {
      if (node.type === 'string' && !node.enum) assert.ok(node.maxLength, path)
      if (node.type === 'array') assert.ok(node.maxItems, path)
    }
  })
  t('says how each list merges', () => {
    for (const [path, node] of allNodes) if (node.type === 'array') assert.ok(node['x-list'], path)
  })
  t('has names that go to snake_case and come back', () => {
    for (const [path] of allNodes) {
      const name = path.split('.').at(-1)?.replace('[]', '') ?? ''
      assert.is(toCamel(toSnake(name)), name, path)
    }
  })
  t('has patterns that compile', () => {
    for (const [path, node] of allNodes)
      if (node.type === 'string' && node.pattern) assert.ok(new RegExp(node.pattern, 'u'), path)
  })
  t('rules out in RE2 what it rules out in JavaScript', () => {
    for (const text of ['line', 'block'] as const) {
      const there = new RegExp(textPatternRe2(text).replace(/\\x\{([0-9A-F]+)\}/g, '\\u{$1}'), 'u')
      const here = new RegExp(textPattern(text), 'u')
      for (let point = 0; point < 0x3000; point++) {
        const character = String.fromCodePoint(point)
        assert.is(there.test(character), here.test(character), `U+${point.toString(16)}`)
      }
    }
  })
})

spec('a REST body', (t) => {
  const body = {
    client_email: 'a@b.test',
    items: [{ description: 'x', qty: 0.1, unit_cents: 5 }],
    metadata: { some_key: 1, otherKey: 2 },
  }

  t('becomes a spec with defaults, the account, and decimals as text', () => {
    const made = toSpec(INVOICE, frozen(body), { account: 'demo' })
    assert.equal(made, {
      account: 'demo',
      clientEmail: 'a@b.test',
      items: [{ description: 'x', qty: '0.1', unitCents: 5 }],
      metadata: { some_key: 1, otherKey: 2 },
      currency: 'EUR',
      discountCents: 0,
      lang: 'en',
      send: false,
      taxRateBp: 0,
      test: false,
      void: false,
    } satisfies InvoiceSpec)
  })

  t('cannot set what is hidden', () => {
    assert.is(toSpec(INVOICE, { account: 'victim' }, { account: 'demo' }).account, 'demo')
    assert.is(Object.hasOwn(toPatch(INVOICE, { account: 'victim' }), 'account'), false)
    assert.is(restFits({ account: 'victim' }), false)
  })

  t('as a patch keeps nulls and fills nothing in', () => {
    assert.equal(toPatch(INVOICE, { due_date: null, tax_rate_bp: 5 }), { dueDate: null, taxRateBp: 5 })
  })

  t('as a patch may be partial and null where a field may be absent', () => {
    const patchFits = ajv.compile(restSchema(invoice, { partial: true }))
    for (const good of [{}, { due_date: null }, { lang: null }, { metadata: null }])
      assert.ok(patchFits(good), JSON.stringify(patchFits.errors))
    assert.is(patchFits({ items: [{ description: 'x' }] }), false)
  })

  const bad: [string, unknown][] = [
    ['an unknown field', { foo: 1 }],
    ['an unknown field of an item', { items: [{ description: 'x', qty: 1, unit_cents: 1, foo: 1 }] }],
    ['camelCase', { clientEmail: 'a@b.test' }],
    ['a float in money', { items: [{ description: 'x', qty: 1, unit_cents: 1.5 }] }],
    ['a text for a number', { items: [{ description: 'x', qty: '1', unit_cents: 1 }] }],
    ['two addresses', { client_email: 'a@b.test, c@d.test' }],
    ['a newline behind an address', { client_email: 'a@b.test\n' }],
    ['a name in an address', { client_email: 'A <a@b.test>' }],
    ['nested metadata', { metadata: { a: {} } }],
    ['501 items', { items: Array.from({ length: 501 }, () => ({ description: 'x', qty: 1, unit_cents: 1 })) }],
    ['a negative quantity', { items: [{ description: 'x', qty: -1, unit_cents: 1 }] }],
    ['a list as body', []],
    ['null as body', null],
  ]
  for (const [name, value] of bad) t(`is refused with ${name}`, () => assert.is(restFits(value), false))

  t('goes to the spec and back as it came', () => {
    assert.equal(toRest(invoice, toSpec(INVOICE, body)), {
      ...body,
      currency: 'EUR',
      discount_cents: 0,
      lang: 'en',
      send: false,
      tax_rate_bp: 0,
      test: false,
    })
  })

  t('that names a prototype changes none', () => {
    const hostile = JSON.parse('{"__proto__": {"send": true}, "metadata": {"__proto__": "x"}}')
    assert.is(restFits(hostile), false)
    const made = toSpec(INVOICE, hostile)
    assert.is(made.send, false)
    assert.is(Object.getPrototypeOf(made), Object.prototype)
    assert.ok(Object.hasOwn(made.metadata ?? {}, '__proto__'))
  })
})

spec('REST and the custom resource', (t) => {
  const text = fc.string({ maxLength: 12 })
  const hostile = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 6 }),
    fc.constantFrom('', 'a\nb', 'a\tb', '\u202E', '\u2028', '\u0085', 'x'.repeat(5000), 'a@b', 'a@b.test,c@d.test'),
    fc.constantFrom('2026-02-30', 'eur', 'ß', true, null),
    fc.constantFrom(-1, 1.5, 0.0000001, 1e12 + 1, 1e16, 10_001),
    fc.constantFrom([], {}),
  )
  const line = fc.record(
    {
      description: text,
      qty: fc.constantFrom(0, 1, 1.5, 0.000001, 999999999.999999),
      unit_cents: fc.integer({ min: -1e6, max: 1e6 }),
      tax_rate_bp: fc.nat(10_000),
    },
    { requiredKeys: ['description', 'qty', 'unit_cents'] },
  )
  const receipt = { method: fc.constant('cash'), reference: text, amount_cents: fc.integer({ min: 1, max: 1e6 }) }
  const good: Record<string, fc.Arbitrary<unknown>> = {
    external_ref: fc.constantFrom('order-1', 'A.b_c:d/e-f'),
    send: fc.boolean(),
    test: fc.boolean(),
    client_name: text,
    client_email: fc.constantFrom('a@b.test', 'o_x+y@mail.acme-co.test'),
    currency: fc.constantFrom('EUR', 'JPY', 'ABC'),
    due_date: fc.constantFrom('2026-12-20', '2028-02-29'),
    terms: text,
    lang: fc.constantFrom('en', 'zh-Hans'),
    items: fc.array(line, { maxLength: 3 }),
    tax_rate_bp: fc.nat(10_000),
    discount_cents: fc.nat(1e6),
    issuer_id: fc.constantFrom('iss-default', 'iss-2'),
    paid: fc.record(receipt, { requiredKeys: ['method'] }),
    metadata: fc.constantFrom({}, { a: 1, B: 'x', c: true }),
  }
  const mutated = (body: Record<string, unknown>, [path, value]: [string, unknown]): Record<string, unknown> => {
    const [field = '', inner] = path.split('.')
    if (inner === undefined) return { ...body, [field]: value }
    const item = { description: 'x', qty: 1, unit_cents: 1, [inner]: value }
    return { ...body, [field]: field === 'items' ? [item] : { method: 'cash', [inner]: value } }
  }
  const places = [
    ...Object.keys(good).filter((name) => name !== 'metadata'),
    ...['items.description', 'items.qty', 'items.unit_cents', 'items.tax_rate_bp', 'items.foo'],
    ...['paid.method', 'paid.reference', 'paid.amount_cents', 'paid.foo', 'foo'],
  ]
  const anyBody = fc
    .tuple(fc.record(good, { requiredKeys: [] }), fc.option(fc.tuple(fc.constantFrom(...places), hostile), { freq: 3 }))
    .map(([body, change]) => (change ? mutated(body, change) : body))

  /** JSON schema cannot count decimals: over REST `faultsOf` refuses what the pattern refuses in the cluster. */
  const decimals = (body: Record<string, unknown>): boolean =>
    !Array.isArray(body.items) || body.items.every((one) => typeof one.qty !== 'number' || decimalOf(one.qty) !== null)

  t('accept and refuse the same shapes', () => {
    let accepted = 0
    let refused = 0
    fc.assert(
      fc.property(anyBody, (body) => {
        const overRest = restFits(body) && decimals(body)
        const overKubectl = crdFits({ ...toPatch(INVOICE, body), account: 'demo' })
        if (overRest) accepted += 1
        else refused += 1
        assert.is(overRest, overKubectl, JSON.stringify({ body, rest: restFits.errors, crd: crdFits.errors }))
      }),
      { numRuns: 4000 },
    )
    assert.ok(accepted > 500 && refused > 500, `${accepted} accepted, ${refused} refused: too few to see a difference`)
  })
})

spec('pointers and codes', (t) => {
  t('are renamed, but not inside metadata', () => {
    assert.is(restPointer('/clientEmail'), '/client_email')
    assert.is(restPointer('/items/0/unitCents'), '/items/0/unit_cents')
    assert.is(restPointer('/metadata/someKey'), '/metadata/someKey')
    assert.is(restPointer(''), '')
  })
  t('name the code of the nearest node that has one', () => {
    const places = [
      '/external_ref',
      '/paid/amount_cents',
      '/paid/method',
      '/metadata/a',
      '/issuerId',
      '/items/0/qty',
      '/nothing',
    ]
    const codes = [
      'BAD_EXTERNAL_REF',
      'BAD_PAID_AMOUNT',
      'INVALID_FIELD',
      'BAD_METADATA',
      'BAD_ISSUER',
      'INVALID_FIELD',
      'INVALID_FIELD',
    ]
    assert.equal(
      places.map((place) => codeAt(invoice, place)),
      codes,
    )
  })
  t('tell what is fixed at creation, adding and taking away included', () => {
    const before = invoiceSpec({ externalRef: 'a' })
    assert.equal(fixedFaults(invoice, before, before), [])
    assert.equal(
      fixedFaults(invoice, before, invoiceSpec({ externalRef: 'b', test: true })).map((fault) => fault.code),
      ['REF_IMMUTABLE', 'TEST_IMMUTABLE'],
    )
    assert.equal(
      fixedFaults(invoice, invoiceSpec(), before).map((fault) => fault.pointer),
      ['/externalRef'],
    )
    assert.equal(
      fixedFaults(invoice, before, invoiceSpec()).map((fault) => fault.pointer),
      ['/externalRef'],
    )
  })
})

spec('small pure things', (t) => {
  t('defaults leave what is given and the input alone', () => {
    const given = frozen({ account: 'demo', currency: 'USD' })
    assert.is(withDefaults<InvoiceSpec>(invoice, given).currency, 'USD')
    assert.is(withDefaults<InvoiceSpec>(invoice, given).lang, 'en')
    assert.is.not(withDefaults<InvoiceSpec>(invoice, given).items, withDefaults<InvoiceSpec>(invoice, given).items)
  })
  t('days and zones are those of the calendar', () => {
    assert.equal(['2026-02-28', '2028-02-29', '2026-02-29', '2026-13-01', '2026-1-1', '0000-01-01', 'x'].map(isDay), [
      true,
      true,
      false,
      false,
      false,
      false,
      false,
    ])
    const good = ['2026-02-28T23:59:59Z', '2028-02-29T00:00:00.123456789+14:00']
    const bad = ['2026-02-29T00:00:00Z', '2026-01-01T24:00:00Z', '2026-01-01T10:00:00', '2026-01-01', 'tomorrow', '']
    assert.equal([good.every(isInstant), bad.some(isInstant)], [true, false])
    assert.equal(['UTC', 'Europe/Madrid', 'Mars/Olympus', ''].map(isTimeZone), [true, true, false, false])
  })
  t('values are equal whatever the order of their keys', () => {
    assert.ok(isDeepStrictEqual({ a: 1, b: [1, { c: 2 }] }, { b: [1, { c: 2 }], a: 1 }))
    const pairs = [
      [{ a: undefined }, {}],
      [{ a: null }, {}],
      [[], {}],
      [[1], [1, 2]],
      [1, '1'],
      [{ a: 1 }, { b: 1 }],
    ]
    for (const [a, b] of pairs) assert.is(isDeepStrictEqual(a, b), false, JSON.stringify([a, b]))
  })
})
