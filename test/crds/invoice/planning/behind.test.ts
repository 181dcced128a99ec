import { planInvoice } from '../../../../crds/invoice/plan.ts'
import { partsOfNumber } from '../../../../crds/invoice/planning/recovery/behind.ts'
import type { InvoiceResource, InvoiceStatus } from '../../../../crds/invoice/schema.ts'
import type { InvoiceWorld } from '../../../../crds/invoice/world.ts'
import { isMass } from '../../../../crds/kernel/desire/absence.ts'
import {
  frozen,
  invoiceResource,
  invoiceSpec,
  NOW,
  record,
  sentWorld,
  world,
} from '../../../support/builders/invoice.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

/** A status that was written when the number and the document were on record, and two things had happened. */
const STATUS: InvoiceStatus = {
  observedGeneration: 1,
  factSeq: 2,
  phase: 'partial',
  number: 'INV-026-0444',
  paidCents: 100,
  url: 'https://bottega.test/i/token',
  conditions: [],
}
const KNOWN = record(invoiceSpec(), { number: 'INV-026-0444', seq: 444 })
const known = (changes: Partial<InvoiceWorld> = {}) =>
  sentWorld(invoiceSpec(), { record: KNOWN, factSeq: 2, ...changes })
const seen = (status: InvoiceStatus = STATUS, test = false): InvoiceResource =>
  frozen({ ...invoiceResource({ test }), status })
const planned = (object: InvoiceResource, around: InvoiceWorld) => {
  const { steps, verdict, status } = planInvoice(object, around, NOW)
  return { steps, code: verdict.state === 'stalled' ? verdict.code : verdict.state, message: verdict.message, status }
}

spec('an invoice that the ledger is behind of', (t) => {
  const behind: [string, InvoiceWorld][] = [
    ['its number is not in the register', world()],
    ['the register has another number for it', known({ record: { ...KNOWN, number: 'INV-026-0445' } })],
    ['the register has its number for another resource', known({ record: { ...KNOWN, uids: ['uid-of-another'] } })],
    ['its document went out and is not on record', known({ sends: [] })],
    ['less has happened to it than it has taken in', known({ factSeq: 1 })],
  ]
  for (const [what, around] of behind) {
    t(`is not touched when ${what}`, () => {
      const plan = planned(seen(), around)
      assert.equal([plan.steps, plan.code], [[], 'LEDGER_BEHIND'])
      assert.match(plan.message, 'INV-026-0444')
      assert.match(plan.message, 'put back its newest copy')
      const { observedGeneration: _, conditions: __, ...facts } = STATUS
      assert.equal(plan.status, facts, 'what is known of it stays said')
    })
  }

  t('is none when the ledger knows as much, or more', () => {
    assert.is.not(planned(seen(), known()).code, 'LEDGER_BEHIND')
    assert.is.not(planned(seen(), known({ factSeq: 3 })).code, 'LEDGER_BEHIND')
    assert.is.not(planned(seen({ observedGeneration: 1 }), world()).code, 'LEDGER_BEHIND')
  })

  t('is none for a test of which the ledger has been cleared; its number is another matter', () => {
    assert.is.not(planned(seen(STATUS, true), known({ factSeq: 0, sends: [] })).code, 'LEDGER_BEHIND')
    assert.is(planned(seen(STATUS, true), world()).code, 'LEDGER_BEHIND')
  })

  t('is told by a number, taken apart', () => {
    assert.equal(partsOfNumber('INV-026-0444'), { prefix: 'INV-026-', seq: 444 })
    assert.equal(partsOfNumber('CNINV-026-12345'), { prefix: 'CNINV-026-', seq: 12_345 })
    assert.is(partsOfNumber('444'), null)
  })
})

spec('absence', (t) => {
  t('is mass from 21 on, and above a tenth of what was known', () => {
    assert.equal([isMass(20, 20), isMass(21, 21), isMass(21, 209), isMass(21, 210)], [false, true, true, false])
  })
})
