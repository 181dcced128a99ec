import fc from 'fast-check'
import { faultsOf } from '../../../crds/invoice/faults.ts'
import { gateOf } from '../../../crds/invoice/order/gate.ts'
import { formatNumber, issuedOn, seriesOf } from '../../../crds/invoice/order/number.ts'
import {
  type Payload,
  payloadDiff,
  payloadOf,
  payloadOfView,
  viewPayload,
} from '../../../crds/invoice/order/payload.ts'
import { totalsFit, totalsOf } from '../../../crds/invoice/order/totals.ts'
import type { InvoiceItem, InvoiceSpec } from '../../../crds/invoice/schema.ts'
import { freshName, METADATA_BYTES_MAX, refName } from '../../../crds/kernel/fields.ts'
import { frozen, invoiceSpec } from '../../support/builders/invoice.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const item = (qty: string, unitCents: number, taxRateBp?: number): InvoiceItem => ({
  description: 'x',
  qty,
  unitCents,
  ...(taxRateBp === undefined ? {} : { taxRateBp }),
})

spec('totals', (t) => {
  t('round each line half-up, then sum', () => {
    const totals = totalsOf({
      items: [item('0.5', 1), item('0.5', 1), item('0.333333', 100)],
      taxRateBp: 0,
      discountCents: 0,
      currency: 'EUR',
    })
    assert.equal(
      totals.lines.map((line) => line.amountCents),
      [1, 1, 33],
    )
    assert.is(totals.totalCents, 35)
  })

  t('compute 1.1 × 100 as a decimal, not as a float', () => {
    assert.is(totalsOf({ items: [item('1.1', 50)], taxRateBp: 0, discountCents: 0, currency: 'EUR' }).totalCents, 55)
    assert.is(
      totalsOf({ items: [item('1.005', 100)], taxRateBp: 0, discountCents: 0, currency: 'EUR' }).totalCents,
      101,
    )
  })

  t('take the discount before tax and spread it by largest remainder', () => {
    const items = [item('1', 10_000, 2000), item('1', 5_000, 1000), item('1', 5_000, 0)]
    const totals = totalsOf({ items, taxRateBp: 2000, discountCents: 1_001, currency: 'EUR' })
    assert.is(totals.subtotalCents, 20_000)
    assert.equal(totals.taxGroups, [
      { rateBp: 0, baseCents: 4_750, taxCents: 0 },
      { rateBp: 1000, baseCents: 4_750, taxCents: 475 },
      { rateBp: 2000, baseCents: 9_499, taxCents: 1_900 },
    ])
    assert.is(totals.totalCents, 20_000 - 1_001 + 475 + 1_900)
  })

  t('round tax once per rate, not once per line', () => {
    const items = [item('1', 3), item('1', 3), item('1', 3)]
    assert.is(totalsOf({ items, taxRateBp: 1000, discountCents: 0, currency: 'EUR' }).taxCents, 1)
  })

  t('let a rebate undo exactly the line it mirrors', () => {
    const items = [item('0.5', 3, 1900), item('0.5', -3, 1900)]
    const totals = totalsOf({ items, taxRateBp: 0, discountCents: 0, currency: 'EUR' })
    assert.is(totals.totalCents, 0)
  })

  t('of no items are zero', () => {
    assert.equal(totalsOf({ items: [], taxRateBp: 2000, discountCents: 0, currency: 'EUR' }).totalCents, 0)
  })

  t('say when they would leave 2^53, and stay exact below it', () => {
    const large = { items: [item('999999999', 1_000_000_000_000)], taxRateBp: 0, discountCents: 0, currency: 'EUR' }
    assert.is(totalsFit(large), false)
    assert.throws(() => totalsOf(large))
    const fits = { items: [item('4503', 1_000_000_000_000)], taxRateBp: 10_000, discountCents: 0, currency: 'EUR' }
    assert.is(totalsOf(fits).totalCents, 9_006_000_000_000_000)
  })

  const anyItem = fc.record({
    description: fc.constant('x'),
    qty: fc.integer({ min: 0, max: 10_000_000 }).map((value) => String(value / 1000)),
    unitCents: fc.integer({ min: -1_000_000, max: 1_000_000 }),
    taxRateBp: fc.constantFrom(0, 700, 1000, 1900, 2000, 10_000),
  })
  t('add up, whatever the lines', () => {
    const input = fc.record({
      items: fc.array(anyItem, { maxLength: 30 }),
      taxRateBp: fc.constantFrom(0, 2100),
      discountCents: fc.nat(1_000_000),
      currency: fc.constantFrom('EUR', 'KWD'),
    })
    fc.assert(
      fc.property(input, (invoice) => {
        const totals = totalsOf(frozen(invoice))
        const sum = (amounts: number[]) => amounts.reduce((total, amount) => total + amount, 0)
        assert.is(sum(totals.lines.map((line) => line.amountCents)), totals.subtotalCents)
        assert.is(sum(totals.taxGroups.map((group) => group.taxCents)), totals.taxCents)
        if (invoice.items.length > 0) {
          assert.is(sum(totals.taxGroups.map((group) => group.baseCents)), totals.subtotalCents - totals.discountCents)
        }
        assert.is(totals.totalCents, totals.subtotalCents - totals.discountCents + totals.taxCents)
        for (const group of totals.taxGroups) {
          assert.ok(Math.abs(group.taxCents - (group.baseCents * group.rateBp) / 10_000) <= 0.5)
        }
      }),
    )
  })
})

spec('numbers', (t) => {
  const written: [number, number, string][] = [
    [2026, 1, 'INV-026-0001'],
    [2026, 9999, 'INV-026-9999'],
    [2026, 10_000, 'INV-026-10000'],
    [2000, 7, 'INV-000-0007'],
    [2999, 7, 'INV-999-0007'],
  ]
  for (const [year, seq, text] of written) {
    t(`the ${seq}. of ${year} is ${text}`, () => assert.is(formatNumber('INV', year, seq), text))
  }

  t('of one series differ whenever their counts differ', () => {
    const counts = fc.tuple(fc.integer({ min: 1, max: 10_000_000 }), fc.integer({ min: 1, max: 10_000_000 }))
    fc.assert(fc.property(counts, ([a, b]) => a === b || formatNumber('INV', 2026, a) !== formatNumber('INV', 2026, b)))
  })

  t('start at 1', () => assert.throws(() => formatNumber('INV', 2026, 0)))

  t('are dated in the zone of the issuer', () => {
    const newYear = new Date('2026-12-31T23:30:00Z')
    assert.is(issuedOn(newYear, 'UTC'), '2026-12-31')
    assert.is(issuedOn(newYear, 'Europe/Madrid'), '2027-01-01')
    assert.throws(
      () => issuedOn(newYear, 'Mars/Olympus'),
      (error: unknown) => error instanceof RangeError,
    )
  })

  const series = (changes: object) =>
    seriesOf({
      account: 'demo',
      issuerId: 'iss-default',
      prefix: 'INV',
      test: false,
      kind: 'invoice',
      issuedOn: '2026-01-01',
      ...changes,
    })

  t('have a series per account, issuer and year', () => {
    const ids = [{}, { account: 'other' }, { issuerId: 'iss-2' }, { issuedOn: '2027-01-01' }, { test: true }].map(
      (one) => series(one).id,
    )
    assert.is(new Set(ids).size, ids.length)
    assert.equal(series({}), { id: 'demo/iss-default/invoice/2026', prefix: 'INV', year: 2026 })
  })

  t('of test invoices share one series per account, prefixed TEST', () => {
    assert.equal(series({ test: true, issuerId: 'iss-2' }), series({ test: true }))
    assert.is(series({ test: true }).prefix, 'TEST')
  })
})

spec('names', (t) => {
  t('are fixed by account and reference, and tell the two apart', () => {
    const name = refName('inv', { account: 'demo', externalRef: 'order-1001' })
    assert.is(name, refName('inv', { account: 'demo', externalRef: 'order-1001' }))
    assert.match(name, /^inv-[0-9a-f]{32}$/)
    const others = [
      refName('inv', { account: 'demo', externalRef: 'order-1002' }),
      refName('inv', { account: 'other', externalRef: 'order-1001' }),
      refName('inv', { account: 'demoo', externalRef: 'rder-1001' }),
    ]
    assert.is(new Set([name, ...others]).size, 4)
  })

  t('without a reference come from random bytes', () => {
    assert.is(freshName('inv', new Uint8Array(16).fill(171)), `inv-${'ab'.repeat(16)}`)
    assert.throws(() => freshName('inv', new Uint8Array(8)))
  })
})

spec('the payload of an order', (t) => {
  const base: Payload = payloadOf(invoiceSpec(), 'iss-default')
  const changes: Partial<Payload>[] = [
    { totalCents: 1 },
    { currency: 'USD' },
    { clientEmail: null },
    { issuerId: 'iss-2' },
    { test: true },
    { send: false },
  ]
  for (const change of changes) {
    const field = Object.keys(change)[0]
    t(`differs in ${field}`, () => assert.equal(payloadDiff(base, { ...base, ...change }), [`/${field}`]))
  }
  t('is the same when only words differ', () => {
    const other = invoiceSpec({ clientName: 'Acme Inc.', terms: 'soon', metadata: { a: 1 } })
    assert.equal(payloadDiff(base, payloadOf(other, 'iss-default')), [])
  })
  t('goes to REST names and back', () => assert.equal(payloadOfView(viewPayload(base)), base))
})

spec('the delivery gate', (t) => {
  t('gives no password to a client with an account', () => assert.is(gateOf({ clientIsAccount: true }), 'account'))
  t('gives a password to everybody else', () => assert.is(gateOf({ clientIsAccount: false }), 'password'))
})

spec('faults of an invoice', (t) => {
  const paid = { method: 'cash', reference: '' }
  const cases: [string, Partial<InvoiceSpec>, string[]][] = [
    ['none in a plain one', {}, []],
    ['none in a draft without items', { send: false, items: [] }, []],
    ['a send without items', { items: [] }, ['NO_ITEMS /items']],
    ['a send of nothing', { items: [item('0', 100)] }, ['ZERO_TOTAL /items']],
    ['a send below zero', { discountCents: 1_000_000 }, ['ZERO_TOTAL /items']],
    ['a currency that ISO does not know', { currency: 'ABC' }, ['INVALID_FIELD /currency']],
    ['a day that the calendar does not have', { dueDate: '2026-02-30' }, ['INVALID_FIELD /dueDate']],
    ['a leap day in a common year', { dueDate: '2026-02-29' }, ['INVALID_FIELD /dueDate']],
    ['no leap day in a leap year', { dueDate: '2028-02-29' }, []],
    ['paid without send', { send: false, paid }, ['PAID_REQUIRES_SEND /paid']],
    ['paid the whole total', { paid: { ...paid, amountCents: 144_000 } }, []],
    ['paid a cent too much', { paid: { ...paid, amountCents: 144_001 } }, ['BAD_PAID_AMOUNT /paid/amountCents']],
    ['paid nothing', { paid: { ...paid, amountCents: 0 } }, ['BAD_PAID_AMOUNT /paid/amountCents']],
    ['a reference with a blank', { externalRef: 'a b' }, ['BAD_EXTERNAL_REF /externalRef']],
    ['a reference of 129 characters', { externalRef: 'a'.repeat(129) }, ['BAD_EXTERNAL_REF /externalRef']],
    ['a newline in a name', { clientName: 'ACME\nBcc: x' }, ['INVALID_FIELD /clientName']],
    ['a NUL in the terms', { terms: 'a\u0000b' }, ['INVALID_FIELD /terms']],
    ['no newline or tab in the terms', { terms: 'a\n\tb' }, []],
    ['a carriage return in the terms', { terms: 'a\rb' }, ['INVALID_FIELD /terms']],
    ['a bidi override', { clientName: 'ACME \u202Egpj.exe' }, ['INVALID_FIELD /clientName']],
    ['a bidi isolate', { terms: '\u2066x' }, ['INVALID_FIELD /terms']],
    ['a bidi override in the terms', { terms: '\u202Ex' }, ['INVALID_FIELD /terms']],
    ['a C1 control', { clientName: '\u0085' }, ['INVALID_FIELD /clientName']],
    ['a lone surrogate', { clientName: '\uD800' }, ['INVALID_FIELD /clientName']],
    ['no emoji, accent or Hebrew', { clientName: 'Ñandú 🧾 שלום' }, []],
    ['no HTML', { clientName: '<script>alert(1)</script>' }, []],
    [
      'a hostile description',
      { items: [item('1', 1), { ...item('1', 1), description: '\u0007' }] },
      ['INVALID_FIELD /items/1/description'],
    ],
    ['a hostile reference of payment', { paid: { method: 'x', reference: 'a\nb' } }, ['INVALID_FIELD /paid/reference']],
    ['seven decimals', { items: [item('0.0000001', 1)] }, ['INVALID_FIELD /items/0/qty']],
    ['amounts beyond 2^53', { items: [item('999999999', 1e12)] }, ['INVALID_FIELD /items']],
    ['a nested value', { metadata: { a: { b: 1 } } }, ['BAD_METADATA /metadata/a']],
    ['a list as a value', { metadata: { 'a/b~c': [1] } }, ['BAD_METADATA /metadata/a~1b~0c']],
    ['a null as a value', { metadata: { a: null } }, ['BAD_METADATA /metadata/a']],
    ['an integer that JSON cannot carry', { metadata: { a: 2 ** 53 } }, ['BAD_METADATA /metadata/a']],
    ['a NUL in metadata', { metadata: { a: '\u0000' } }, ['BAD_METADATA /metadata/a']],
    ['no scalars', { metadata: { a: 'x', b: 1.5, c: true, __proto: '' } }, []],
    [
      '21 keys',
      { metadata: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`k${i}`, i])) },
      ['BAD_METADATA /metadata'],
    ],
    ['20 keys', { metadata: Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`k${i}`, i])) }, []],
    ['metadata of the most bytes', { metadata: { a: 'é'.repeat((METADATA_BYTES_MAX - 8) / 2) } }, []],
    [
      'metadata of a byte more',
      { metadata: { a: `${'é'.repeat((METADATA_BYTES_MAX - 8) / 2)}x` } },
      ['BAD_METADATA /metadata'],
    ],
  ]
  for (const [name, changes, expected] of cases) {
    t(name, () => {
      const found = faultsOf(frozen(invoiceSpec(changes)))
      assert.equal(
        found.map((fault) => `${fault.code} ${fault.pointer}`),
        expected,
      )
    })
  }
})
