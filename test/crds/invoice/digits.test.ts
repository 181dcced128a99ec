/** Money that a currency has (rules/invoice.md#digits): nothing below it is computed, asked for, taken or shown. */
import fc from 'fast-check'
import { modelOf } from '../../../crds/invoice/document/einvoice/model.ts'
import { findingsOf } from '../../../crds/invoice/document/einvoice/write.ts'
import { faultsOf } from '../../../crds/invoice/faults.ts'
import { claimKey } from '../../../crds/invoice/money/claim.ts'
import { creditNoteOf } from '../../../crds/invoice/money/credit.ts'
import { totalsOf } from '../../../crds/invoice/order/totals.ts'
import { planInvoice } from '../../../crds/invoice/plan.ts'
import { explain } from '../../../crds/invoice/rest/explain.ts'
import { preflightTotals } from '../../../crds/invoice/rest/preflight.ts'
import type { InvoiceItem, InvoiceSpec } from '../../../crds/invoice/schema.ts'
import { viewInvoice } from '../../../crds/invoice/view.ts'
import { isWholeAmount, leastCents } from '../../../crds/values/money.ts'
import { frozen, invoiceResource, invoiceSpec, NOW, sent, sentWorld } from '../../support/builders/invoice.ts'
import { makeBooks } from '../../support/doubles/invoicebooks.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const WHOLE = 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'.split(' ')
const item = (qty: string, unitCents: number, taxRateBp?: number): InvoiceItem => ({
  description: 'x',
  qty,
  unitCents,
  ...(taxRateBp === undefined ? {} : { taxRateBp }),
})
const yen = (changes: Partial<InvoiceSpec> = {}): Partial<InvoiceSpec> => ({
  currency: 'JPY',
  taxRateBp: 1000,
  items: [item('1', 1_234_500)],
  ...changes,
})

spec('what a currency has', (t) => {
  t('is a whole unit where ISO 4217 gives it no decimals, and a hundredth elsewhere, of the dinar too', () => {
    for (const code of WHOLE) assert.is(leastCents(code), 100, code)
    for (const code of ['EUR', 'HUF', 'MGA', 'KWD', 'CLF']) assert.is(leastCents(code), 1, code)
    assert.equal([isWholeAmount(50, 'JPY'), isWholeAmount(-300, 'JPY'), isWholeAmount(50, 'KWD')], [false, true, true])
  })

  t('is what lines, tax, discount and total are rounded to', () => {
    const taxed = totalsOf({ items: [item('1', 1_234_500)], taxRateBp: 1000, discountCents: 0, currency: 'JPY' })
    assert.equal([taxed.taxCents, taxed.totalCents], [123_500, 1_358_000], '12,345 × 10 % is 1,235 yen')
    const line = totalsOf({ items: [item('1.5', 33_300)], taxRateBp: 0, discountCents: 0, currency: 'KRW' })
    assert.equal([line.lines[0]?.amountCents, line.totalCents], [50_000, 50_000], '1.5 × 333 is 500 won')
    const shared = totalsOf({
      items: [item('1', 10_000, 800), item('1', 20_000, 1000)],
      taxRateBp: 0,
      discountCents: 10_000,
      currency: 'JPY',
    })
    assert.equal(
      shared.taxGroups.map(({ baseCents, taxCents }) => [baseCents, taxCents]),
      [
        [6_700, 500],
        [13_300, 1_300],
      ],
    )
    const undone = totalsOf({
      items: [item('0.5', 300), item('0.5', -300)],
      taxRateBp: 0,
      discountCents: 0,
      currency: 'ISK',
    })
    assert.is(undone.totalCents, 0, 'a rebate undoes the line it mirrors')
  })

  const anyItem = fc.record({
    description: fc.constant('x'),
    qty: fc.integer({ min: 0, max: 10_000_000 }).map((value) => String(value / 1000)),
    unitCents: fc.integer({ min: -10_000, max: 1_000_000 }).map((units) => units * 100),
    taxRateBp: fc.constantFrom(0, 700, 800, 1000, 1950, 2100, 10_000),
  })
  const order = fc.record({
    items: fc.array(anyItem, { minLength: 1, maxLength: 20 }),
    taxRateBp: fc.constantFrom(0, 1000),
    discountCents: fc.nat(10_000).map((units) => units * 100),
    currency: fc.constantFrom(...WHOLE),
  })

  t('is kept by every figure of every order, and the figures add up', () => {
    fc.assert(
      fc.property(order, (input) => {
        const totals = totalsOf(frozen(input))
        const figures = [
          totals.subtotalCents,
          totals.discountCents,
          totals.taxCents,
          totals.totalCents,
          ...totals.lines.map(({ amountCents }) => amountCents),
          ...totals.taxGroups.flatMap(({ baseCents, taxCents }) => [baseCents, taxCents]),
        ]
        for (const cents of figures) assert.is(Math.abs(cents % 100), 0, `${cents} hundredths of ${input.currency}`)
        const sum = (amounts: number[]) => amounts.reduce((total, amount) => total + amount, 0)
        assert.is(sum(totals.lines.map(({ amountCents }) => amountCents)), totals.subtotalCents)
        assert.is(sum(totals.taxGroups.map(({ baseCents }) => baseCents)), totals.subtotalCents - totals.discountCents)
        assert.is(totals.totalCents, totals.subtotalCents - totals.discountCents + totals.taxCents)
        for (const { baseCents, taxCents, rateBp } of totals.taxGroups)
          assert.ok(Math.abs(taxCents - (baseCents * rateBp) / 10_000) <= 50)
      }),
    )
  })

  t('is shown alike by the view, by preflight and by every step of explain', () => {
    fc.assert(
      fc.property(order, (input) => {
        const asked = invoiceSpec(input)
        if (faultsOf(asked).length > 0) return
        const object = invoiceResource(input)
        const around = sentWorld(asked)
        const view = viewInvoice(object, around, planInvoice(object, around, NOW).status)
        assert.is(preflightTotals(asked)?.total_cents, view.total_cents)
        const { steps, total_cents } = explain(view)
        assert.is(total_cents, view.total_cents)
        for (const one of steps) assert.is(Math.abs(one.amount_cents % 100), 0, one.words)
        for (const one of steps)
          if (one.step === 'discount') assert.is(one.floor_cents + one.extra_cents, one.amount_cents, one.words)
      }),
      { numRuns: 100 },
    )
  })

  t('is kept by the credit note of an amount, whose sums an electronic invoice can bear', () => {
    fc.assert(
      fc.property(order, fc.double({ min: 0.01, max: 1, noNaN: true }), (input, part) => {
        const asked = invoiceSpec({ ...input, clientCountry: 'DE', clientAddress: 'Torstraße 1', clientCity: 'Berlin' })
        if (faultsOf(asked).length > 0 || input.items.some(({ taxRateBp }) => taxRateBp === 10_000)) return
        const invoice = sent(asked).frozen
        const amountCents = Math.max(100, Math.floor((invoice.totalCents * part) / 100) * 100)
        const credit = {
          id: 'cn-1',
          seq: 2,
          amountCents,
          isWhole: false,
          items: null,
          reason: '',
          refund: false,
          at: NOW.toISOString(),
        }
        const given = { invoice, taxRateBp: asked.taxRateBp, number: 'CNINV-026-0001', issuedOn: '2026-11-21' }
        const note = creditNoteOf(credit, given)
        assert.is(note.totalCents, amountCents)
        for (const { baseCents, taxCents } of note.taxGroups)
          assert.equal([Math.abs(baseCents % 100), Math.abs(taxCents % 100)], [0, 0])
        assert.equal(findingsOf(modelOf(note)), [])
      }),
      { numRuns: 100 },
    )
  })
})

spec('an amount that its currency does not have', (t) => {
  const cases: [string, Partial<InvoiceSpec>, string[]][] = [
    ['no unit price of whole yen', yen(), []],
    ['a unit price of half a yen', yen({ items: [item('2', 50)] }), ['BAD_AMOUNT /items/0/unitCents']],
    [
      'the same in a draft',
      yen({ send: false, items: [item('1', 100), item('2', 50)] }),
      ['BAD_AMOUNT /items/1/unitCents'],
    ],
    [
      'a rebate of half a won',
      { currency: 'KRW', items: [item('1', 900), item('1', -50)] },
      ['BAD_AMOUNT /items/1/unitCents'],
    ],
    ['a discount of half a yen', yen({ discountCents: 50 }), ['BAD_AMOUNT /discountCents']],
    [
      'a receipt of half a yen',
      yen({ paid: { method: 'cash', reference: '', amountCents: 50 } }),
      ['BAD_PAID_AMOUNT /paid/amountCents'],
    ],
    ['no receipt of one yen', yen({ paid: { method: 'cash', reference: '', amountCents: 100 } }), []],
    ['no hundredth of a dinar', { currency: 'KWD', items: [item('1', 1)] }, []],
  ]
  for (const [name, changes, expected] of cases) {
    t(`is refused: ${name}`, () => {
      const found = faultsOf(frozen(invoiceSpec(changes)))
      assert.equal(
        found.map(({ code, pointer }) => `${code} ${pointer}`),
        expected,
      )
    })
  }

  t('stalls what comes by kubectl with the same code, and takes no number', () => {
    const books = makeBooks()
    const plan = books.pass(invoiceResource(yen({ items: [item('2', 50)] })))
    assert.match(plan?.verdict.message ?? '', /^BAD_AMOUNT: \/items\/0\/unitCents .*0\.50 JPY/)
    assert.is(books.observe().record, null)
  })

  const refusals = (does: (books: ReturnType<typeof makeBooks>) => void) => {
    const books = makeBooks()
    const object = invoiceResource(yen())
    books.pass(object)
    does(books)
    books.pass(object)
    return books.facts.flatMap(({ refusedCode, outcome }) =>
      refusedCode ? [`${refusedCode}: ${outcome?.detail}`] : [],
    )
  }
  const credited = (unitCents: number) => ({ items: [item('1', unitCents)] })
  const moves: [string, Parameters<typeof refusals>[0], RegExp][] = [
    ['paid', (books) => books.pay('a', 150), /^BAD_PAID_AMOUNT: 1\.50 JPY is no amount of JPY, .*1 JPY/],
    ['credited', (books) => books.credit('a', { amountCents: 150 }), /^BAD_AMOUNT: \/amountCents 1\.50 JPY/],
    ['credited as a line', (books) => books.credit('a', credited(50)), /^BAD_AMOUNT: \/items\/0\/unitCents 0\.50 JPY/],
    [
      'claimed to be paid',
      (books) =>
        books.report(claimKey('a'), 'claim', { paidOn: '2026-11-20', reference: '', amountCents: 150 }, 'pending'),
      /^BAD_PAID_AMOUNT: .*1\.50 JPY/,
    ],
  ]
  for (const [name, does, words] of moves) {
    t(`cannot be ${name}`, () => {
      const found = refusals(does)
      assert.is(found.length, 1, found.join())
      assert.match(found[0] ?? '', words)
    })
  }

  t('is no balance: parts, credits and what is left are whole', () => {
    assert.equal(
      refusals((books) => {
        books.pay('a', 100_000)
        books.credit('b', { amountCents: 100 })
        books.credit('c', { items: [item('0.333', 10_000)] })
        books.pay('d', null)
      }),
      [],
    )
  })
})
