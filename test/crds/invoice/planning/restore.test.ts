import fc from 'fast-check'
import { recordedOf } from '../../../../crds/invoice/facts/records.ts'
import { INVOICE_LINKS } from '../../../../crds/invoice/facts/versions.ts'
import { planInvoice } from '../../../../crds/invoice/plan.ts'
import { specOfView } from '../../../../crds/invoice/planning/restore.ts'
import { type InvoiceSpec, spec as specSchema } from '../../../../crds/invoice/schema.ts'
import { viewInvoice } from '../../../../crds/invoice/view.ts'
import { withDefaults } from '../../../../crds/kernel/schema.ts'
import { endedLinks, newestLinks } from '../../../../crds/values/links.ts'
import { arbitraryOf } from '../../../support/builders/arbitrary.ts'
import {
  invoiceResource,
  invoiceSpec,
  NOW,
  payment,
  sent,
  sentWorld,
  totalCentsOf,
} from '../../../support/builders/invoice.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const TEXTS = {
  qty: fc.nat({ max: 99_000_000 }).map((millionths) => (millionths / 1_000_000).toFixed(6).replace(/\.?0+$/, '')),
  currency: fc.constantFrom('EUR', 'JPY'),
  dueDate: fc.constant('2026-12-20'),
  issuerId: fc.constantFrom('iss-b', 'iss-c'),
}
/** What is said as well by leaving it out: reminders and cards are on, first links are good, and a number of its own is past all waiting. */
const plainly = ({ reminders, collect, recurrenceOf, linkVersions, ...rest }: InvoiceSpec): InvoiceSpec => ({
  ...rest,
  ...(endedLinks(newestLinks(INVOICE_LINKS, linkVersions)) && {
    linkVersions: endedLinks(newestLinks(INVOICE_LINKS, linkVersions)) ?? {},
  }),
  ...(reminders?.enabled === false && { reminders }),
  ...(collect?.enabled === false && { collect }),
  ...(recurrenceOf && { recurrenceOf: { ...recurrenceOf, held: false } }),
})
/** What only one of many invoices has, and every field that a spec may hold: one that is added is drawn too. */
const anySpec = (arbitraryOf(specSchema, TEXTS) as fc.Arbitrary<InvoiceSpec>).map((one) => {
  const { paid: _, metadata: __, ...rest } = one
  const whole = { ...rest, account: 'demo', send: true, void: false, test: false }
  return plainly(withDefaults<InvoiceSpec>(specSchema, whole))
})

const shown = (asked: InvoiceSpec) => viewInvoice({ ...invoiceResource(), spec: asked }, null)

spec('an invoice that comes back', (t) => {
  t('has the spec that it was shown with, field by field', () => {
    fc.assert(fc.property(anySpec, (asked) => assert.equal(specOfView('demo', shown(asked)), asked)))
  })

  t('keeps what a caller wrote beside it, and nothing where nobody did', () => {
    const metadata = { order: 7, items: 'x', paid: true }
    assert.equal(specOfView('demo', shown(invoiceSpec({ metadata }))).metadata, metadata)
    assert.is(specOfView('demo', shown(invoiceSpec())).metadata, undefined)
    assert.is(specOfView('demo', shown(invoiceSpec())).issuerId, undefined)
  })

  const receipts: [string, number, InvoiceSpec['paid']][] = [
    ['of the whole total', 144_000, { method: 'transfer', reference: 'ref-1' }],
    ['of a part', 44_000, { method: 'transfer', reference: 'ref-1', amountCents: 44_000 }],
  ]
  for (const [name, amountCents, paid] of receipts) {
    t(`is a receipt again when it was one ${name}`, () => {
      const asked = invoiceSpec({ ...(paid && { paid }) })
      const object = { ...invoiceResource(), spec: asked }
      const world = sentWorld(asked, { payments: [payment(amountCents)] })
      const view = viewInvoice(object, world, planInvoice(object, world, NOW).status)
      assert.equal(specOfView('demo', view), asked)
    })
  }

  t('is adopted with what is on record, and shown as it was: no number, no send, no mail', () => {
    const asked = invoiceSpec()
    const payments = [payment(totalCentsOf(asked), { id: 'pay-1' })]
    const paid = { kind: 'paid', number: 'INV-026-0001', afterSends: 1, sha256: 'x', bytes: 1 } as const
    const snapshots = [{ id: 'paid', at: NOW.toISOString(), ...paid }]
    const before = sentWorld(asked, { payments, snapshots, sends: [sent(asked)] })
    const old = { ...invoiceResource(), metadata: { ...invoiceResource().metadata, generation: 3 } }
    const was = viewInvoice(old, before, planInvoice(old, before, NOW).status)

    const metadata = { ...old.metadata, uid: 'uid-2', generation: 1, creationTimestamp: '2027-01-10T00:00:00Z' }
    const returned = { ...old, metadata, spec: specOfView('demo', was) }
    const [step, ...more] = planInvoice(returned, before, NOW).steps
    assert.equal(step, { do: 'adopt', uid: 'uid-2' })
    assert.equal(more, [])

    const body = { uid: 'uid-2', createdAt: was.created_at, version: was.version }
    const adopted = {
      seq: 9,
      key: 'uid:uid-2',
      kind: 'adopted',
      body,
      state: 'accepted' as const,
      at: '2027-01-10T00:00:00Z',
    }
    const uids = ['uid-1', 'uid-2']
    const after = {
      ...before,
      returned: recordedOf([adopted]).returned,
      record: before.record && { ...before.record, uids },
    }
    const plan = planInvoice(returned, after, NOW)
    assert.equal(plan.steps, [])
    assert.equal(viewInvoice(returned, after, plan.status), was)
  })
})
