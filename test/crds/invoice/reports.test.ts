import fc from 'fast-check'
import { monthSpan, rollupCsv } from '../../../crds/invoice/money/reconciliation.ts'
import { planInvoice } from '../../../crds/invoice/plan.ts'
import { isFinished, quietSince } from '../../../crds/invoice/planning/retention.ts'
import { exportHead, exportLine } from '../../../crds/invoice/rest/csv.ts'
import { type ExplainStep, explain } from '../../../crds/invoice/rest/explain.ts'
import { preflightReminders, preflightTotals, preflightWarnings } from '../../../crds/invoice/rest/preflight.ts'
import type { InvoiceSpec } from '../../../crds/invoice/schema.ts'
import { viewInvoice } from '../../../crds/invoice/view.ts'
import type { InvoiceWorld } from '../../../crds/invoice/world.ts'
import { csvLine } from '../../../crds/text/csv.ts'
import { invoiceResource, invoiceSpec, issuer, NOW, payment, sentWorld } from '../../support/builders/invoice.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const view = (changes: Partial<InvoiceSpec>, around: Partial<InvoiceWorld> = {}) => {
  const object = invoiceResource(changes)
  const world = sentWorld(invoiceSpec(changes), around)
  return viewInvoice(object, world, planInvoice(object, world, NOW).status)
}
const amounts = (steps: readonly ExplainStep[], step: ExplainStep['step']): number[] =>
  steps.filter((one) => one.step === step).map((one) => one.amount_cents)
const sum = (all: readonly number[]): number => all.reduce((total, one) => total + one, 0)

const items = fc.array(
  fc.record(
    {
      description: fc.constant('x'),
      qty: fc.nat({ max: 5_000_000 }).map((millionths) => String(millionths / 1_000_000)),
      unitCents: fc.integer({ min: -50_000, max: 1_000_000 }),
      taxRateBp: fc.constantFrom(0, 525, 1000, 2000),
    },
    { requiredKeys: ['description', 'qty', 'unitCents'] },
  ),
  { maxLength: 8 },
)

spec('explaining an invoice', (t) => {
  t('shows each line before its rounding, the shares of the discount, and the tax of each rate', () => {
    const { steps, total_cents, balance_cents } = explain(
      view(
        {
          items: [
            { description: 'a', qty: '0.333333', unitCents: 1000 },
            { description: 'b', qty: '1', unitCents: 500, taxRateBp: 1000 },
          ],
          discountCents: 100,
        },
        { payments: [payment(200)] },
      ),
    )
    assert.equal(
      steps.map(({ step, amount_cents }) => [step, amount_cents]),
      [
        ['line', 333],
        ['line', 500],
        ['subtotal', 833],
        ['group', 500],
        ['group', 333],
        ['discount', 60],
        ['discount', 40],
        ['tax', 44],
        ['tax', 59],
        ['total', 836],
        ['payment', 200],
        ['balance', 636],
      ],
    )
    assert.is(total_cents, 836)
    assert.is(balance_cents, 636)
    const [line] = steps
    assert.is(line?.step === 'line' && line.exact_cents, '333.333')
    assert.match(line?.words ?? '', /^0\.333333 × 10\.00 EUR = 3\.33 EUR, rounded from 333\.333 hundredths$/)
    assert.equal(
      steps.flatMap((one) => (one.step === 'discount' ? [[one.floor_cents, one.extra_cents]] : [])),
      [
        [60, 0],
        [39, 1],
      ],
    )
  })

  t('the steps alone recompute the total and the balance, whatever the invoice', () => {
    fc.assert(
      fc.property(
        items,
        fc.nat({ max: 100_000 }),
        fc.array(fc.integer({ min: 1, max: 9_999_999 }), { maxLength: 3 }),
        (lines, discountCents, paid) => {
          const payments = paid.map((cents, place) => payment(cents, { id: `pay-${place}`, seq: place + 1 }))
          const shown = viewInvoice(invoiceResource({ send: false, items: lines, discountCents }), null)
          const paid_cents = sum(paid)
          const { steps, total_cents, balance_cents } = explain({
            ...shown,
            paid_cents,
            payments: payments.map(({ id, amountCents: amount_cents, receivedAt: received_at }) => {
              return { id, amount_cents, received_at, method: '', reference: '', declared_by: 'owner' }
            }),
          })
          const net = sum(amounts(steps, 'line')) - sum(amounts(steps, 'discount'))
          assert.is(sum(amounts(steps, 'line')), sum(amounts(steps, 'subtotal')))
          assert.is(sum(amounts(steps, 'group')), sum(amounts(steps, 'subtotal')))
          assert.is(sum(amounts(steps, 'discount')), discountCents)
          assert.is(
            sum(steps.flatMap((one) => (one.step === 'tax' ? [one.base_cents] : []))),
            lines.length > 0 ? net : 0,
          )
          assert.is(net + sum(amounts(steps, 'tax')), total_cents)
          assert.equal(amounts(steps, 'total'), [shown.total_cents])
          assert.equal(amounts(steps, 'balance'), [Math.max(0, total_cents - sum(amounts(steps, 'payment')))])
          assert.is(balance_cents, Math.max(0, total_cents - paid_cents))
          for (const one of steps) {
            if (one.step === 'discount') assert.is(one.floor_cents + one.extra_cents, one.amount_cents)
          }
        },
      ),
    )
  })

  t('asks for nothing of a voided invoice, and says what is owed back', () => {
    const shown = view({}, { payments: [payment(144_000)] })
    const voided = explain({ ...shown, status: 'voided' })
    assert.is(voided.balance_cents, 0)
    assert.match(voided.steps.at(-1)?.words ?? '', /nothing of a voided invoice/)
    const owed = explain({ ...shown, credited_cents: 44_000 })
    assert.match(owed.steps.at(-1)?.words ?? '', /440\.00 EUR is owed back/)
  })
})

spec('tables for a spreadsheet', (t) => {
  t('quote what needs it, and let no text become a formula', () => {
    assert.is(
      csvLine(['a,b', 'say "x"', 'two\r\nlines', null, -5, 'plain']),
      '"a,b","say ""x""","two\r\nlines",,-5,plain\r\n',
    )
    for (const text of ['=1+1', '+1', '-1', '@x', '\tx', '\rx']) assert.match(csvLine([text]), /^"?'/, text)
  })

  t('have the columns that were promised, in their order', () => {
    assert.is(
      exportHead(),
      'number,status,issuer_id,client_name,client_email,currency,subtotal_cents,discount_cents,tax_cents,total_cents,paid_cents,credited_cents,balance_cents,sent_at,due_date,paid_at,external_ref\r\n',
    )
    const row = { ...view({ externalRef: '-1', clientName: '=cmd' }), client_email: 'a@b.test' }
    assert.is(
      exportLine(row),
      "INV-026-0001,sent,iss-default,'=cmd,a@b.test,EUR,120000,0,24000,144000,0,0,144000,2026-11-21T12:00:00.000Z,2026-12-20,,'-1\r\n",
    )
  })

  t('say of which month they are', () => {
    assert.match(rollupCsv('2026-11', []), /^month,currency,issuer_id,issued_count,[a-z_,]+\r\n$/)
  })
})

spec('a month of an issuer', (t) => {
  const spans: [string, string, string, string][] = [
    ['2026-11', 'UTC', '2026-11-01T00:00:00.000Z', '2026-12-01T00:00:00.000Z'],
    ['2026-03', 'Europe/Madrid', '2026-02-28T23:00:00.000Z', '2026-03-31T22:00:00.000Z'],
    ['2026-12', 'Asia/Kolkata', '2026-11-30T18:30:00.000Z', '2026-12-31T18:30:00.000Z'],
    // the night on which the clocks go forward at midnight has no first hour
    ['2018-11', 'America/Sao_Paulo', '2018-11-01T03:00:00.000Z', '2018-12-01T02:00:00.000Z'],
  ]
  for (const [month, zone, from, until] of spans) {
    t(`${month} begins and ends at midnight in ${zone}`, () => assert.equal(monthSpan(month, zone), { from, until }))
  }
})

spec('a finished invoice', (t) => {
  const paid = { observedGeneration: 1, number: 'INV-026-0001', phase: 'paid' }
  const ready = [
    {
      type: 'Ready',
      status: 'True' as const,
      reason: 'Paid',
      message: '',
      observedGeneration: 1,
      lastTransitionTime: '',
    },
  ]
  const old = '2026-10-01T00:00:00Z'
  const finished = (status: object, meta: object = {}, changes: Partial<InvoiceSpec> = {}) => {
    const object = invoiceResource(changes)
    return isFinished(
      {
        ...object,
        metadata: { ...object.metadata, creationTimestamp: old, ...meta },
        status: { ...paid, conditions: ready, ...status },
      },
      NOW,
    )
  }
  t('may leave when it is paid or voided and in order', () => {
    assert.is(finished({}), true)
    assert.is(finished({ phase: 'voided' }), true)
    assert.is(quietSince(NOW, 30), '2026-10-22T12:00:00.000Z')
  })
  const stays: [string, object, object?, Partial<InvoiceSpec>?][] = [
    ['something is left to pay', { phase: 'partial' }],
    ['it is overdue', { phase: 'overdue' }],
    ['it is a draft', { phase: 'draft', number: undefined }],
    ['it is stalled', { conditions: [{ ...ready[0], status: 'False' }] }],
    ['it was edited and not judged again', {}, { generation: 2 }],
    ['it is paused', {}, { annotations: { 'bottega.dev/paused': 'true' } }],
    ['it has just come back', {}, { creationTimestamp: '2026-11-21T11:30:00Z' }],
    ['it is being deleted', {}, { deletionTimestamp: '2026-11-21T11:30:00Z' }],
    ['it is a test', {}, {}, { test: true }],
  ]
  for (const [why, status, meta, changes] of stays) {
    t(`stays while ${why}`, () => assert.is(finished(status, meta, changes), false))
  }
})

spec('rehearsing an invoice', (t) => {
  t('tells the totals by rate, and none where they cannot be computed', () => {
    const totals = preflightTotals(invoiceSpec({ discountCents: 1 }))
    assert.equal(totals, {
      subtotal_cents: 120_000,
      discount_cents: 1,
      tax_groups: [{ tax_rate_bp: 2000, base_cents: 119_999, tax_cents: 24_000 }],
      tax_cents: 24_000,
      total_cents: 143_999,
    })
    assert.is(preflightTotals(invoiceSpec({ items: [{ description: 'x', qty: '999999999', unitCents: 1e12 }] })), null)
    assert.is(preflightTotals(invoiceSpec({ items: [{ description: 'x', qty: '1e9', unitCents: 1 }] })), null)
  })

  t('tells the days of the reminders that are still to come', () => {
    const days = (changes: Partial<InvoiceSpec>) =>
      preflightReminders(invoiceSpec(changes), issuer(), NOW).map(({ on }) => on)
    assert.equal(days({}), ['2026-12-17', '2026-12-20', '2026-12-27', '2027-01-03'])
    assert.equal(days({ dueDate: '2026-11-22' }), ['2026-11-22', '2026-11-29', '2026-12-06'])
    for (const none of [
      { send: false },
      { test: true },
      { dueDate: undefined },
      { reminders: { enabled: false } },
      { paid: { method: 'x', reference: '' } },
    ])
      assert.equal(days(none as Partial<InvoiceSpec>), [])
  })

  t('warns of a missing recipient, and of what keeps it from being an electronic invoice', () => {
    const { clientEmail: _, ...nobody } = invoiceSpec()
    const [silent] = preflightWarnings(nobody, issuer(), NOW)
    assert.match(silent ?? '', /no client_email/)
    const rules = preflightWarnings(invoiceSpec(), issuer({ taxId: '' }), NOW)
    assert.ok(rules.length > 0)
    for (const words of rules) assert.match(words, /^No electronic invoice by EN 16931: /)
    const whole = invoiceSpec({ clientCountry: 'ES' })
    assert.equal(preflightWarnings(whole, issuer(), NOW), [])
  })
})
