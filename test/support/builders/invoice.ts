/** Builders: an invoice and the world around it, frozen, so that a plan that writes to its inputs is caught. */

import { freezeOf } from '../../../crds/invoice/document/freeze.ts'
import { NOTHING_COLLECTED } from '../../../crds/invoice/facts/collected.ts'
import type { MailDelivery } from '../../../crds/invoice/facts/deliveries.ts'
import type { InvoiceRecord, NewestSend, Payment } from '../../../crds/invoice/facts/ledger.ts'
import { FIRST_LINKS } from '../../../crds/invoice/facts/versions.ts'
import type { PaymentClaim } from '../../../crds/invoice/money/claim.ts'
import { payloadOf } from '../../../crds/invoice/order/payload.ts'
import { totalsOf } from '../../../crds/invoice/order/totals.ts'
import { planInvoice } from '../../../crds/invoice/plan.ts'
import { type InvoiceResource, type InvoiceSpec, spec as specSchema } from '../../../crds/invoice/schema.ts'
import type { InvoicePlan } from '../../../crds/invoice/steps.ts'
import type { InvoiceWorld, Issuer } from '../../../crds/invoice/world.ts'
import { GROUP, VERSION } from '../../../crds/kernel/object.ts'
import { withDefaults } from '../../../crds/kernel/schema.ts'

export const NOW = new Date('2026-11-21T12:00:00.000Z')

/** Freezes a value and all that it holds. */
export const frozen = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const child of Object.values(value)) frozen(child)
  }
  return value
}

export const issuer = (changes: Partial<Issuer> = {}): Issuer => ({
  id: 'iss-default',
  legalName: 'Demo Studio SL',
  taxId: 'ESB00000000',
  address: 'Calle Mayor 1\n28001 Madrid',
  city: 'Madrid',
  postcode: '28001',
  country: 'ES',
  iban: '',
  logo: null,
  email: 'owner@demo.test',
  footer: '',
  timeZone: 'Europe/Madrid',
  numberPrefix: 'INV',
  ...changes,
})

/** 1.5 × 800.00 EUR + 20 % = 1,440.00 EUR, to be sent. */
export const invoiceSpec = (changes: Partial<InvoiceSpec> = {}): InvoiceSpec =>
  withDefaults(specSchema, {
    account: 'demo',
    send: true,
    clientName: 'ACME',
    clientEmail: 'billing@acme.test',
    dueDate: '2026-12-20',
    taxRateBp: 2000,
    items: [{ description: 'October retainer', qty: '1.5', unitCents: 80_000 }],
    ...changes,
  })

export const invoiceResource = (changes: Partial<InvoiceSpec> = {}, uid = 'uid-1'): InvoiceResource =>
  frozen({
    apiVersion: `${GROUP}/${VERSION}`,
    kind: 'Invoice',
    metadata: {
      name: 'inv-october-acme',
      namespace: 'default',
      uid,
      resourceVersion: '7',
      generation: 1,
      creationTimestamp: '2026-11-21T11:59:00Z',
    },
    spec: invoiceSpec(changes),
  })

export const world = (changes: Partial<InvoiceWorld> = {}): InvoiceWorld =>
  frozen({
    account: { name: 'demo', plan: 'team', email: 'owner@demo.test' },
    issuer: issuer(),
    clientIsAccount: false,
    record: null,
    sends: [],
    resends: 0,
    payments: [],
    credits: [],
    snapshots: [],
    requests: [],
    collected: NOTHING_COLLECTED,
    processor: null,
    order: null,
    unsent: null,
    deliveries: [],
    undelivered: [],
    claims: [],
    pendingClaims: [],
    views: [],
    pendingViews: [],
    returned: null,
    restored: null,
    openPreviews: [],
    undrawn: [],
    chasing: { given: [], asked: [], overdue: [] },
    recurring: { anchor: null, made: [] },
    scheduled: [],
    factSeq: 0,
    links: { recorded: FIRST_LINKS, asked: [] },
    linkVersions: FIRST_LINKS,
    hasQuota: true,
    linkToken: 'token',
    publicUrl: 'https://bottega.test',
    mailDomain: 'bottega.test',
    ...changes,
  })

export const record = (spec: InvoiceSpec = invoiceSpec(), changes: Partial<InvoiceRecord> = {}): InvoiceRecord => ({
  number: 'INV-026-0001',
  seriesId: 'demo/iss-default/invoice/2026',
  seq: 1,
  issuedAt: NOW.toISOString(),
  uids: ['uid-1'],
  claimed: payloadOf(spec, spec.issuerId ?? 'iss-default'),
  ...changes,
})

export const payment = (amountCents: number, changes: Partial<Payment> = {}): Payment => ({
  id: 'receipt',
  seq: 1,
  amountCents,
  method: 'transfer',
  reference: 'ref-1',
  declaredBy: 'owner',
  receivedAt: NOW.toISOString(),
  ...changes,
})

export const delivery = (changes: Partial<MailDelivery> = {}): MailDelivery => ({
  purpose: 'invoice:1',
  state: 'accepted',
  attempts: 1,
  unknowns: 0,
  lastError: null,
  nextAttemptAt: null,
  at: NOW.toISOString(),
  ...changes,
})

export const claim = (changes: Partial<PaymentClaim> = {}): PaymentClaim => ({
  id: 'clm-1',
  seq: 1,
  paidOn: '2026-11-20',
  reference: 'SEPA-7',
  amountCents: 144_000,
  at: NOW.toISOString(),
  ...changes,
})

export const sent = (spec: InvoiceSpec = invoiceSpec(), n = 1, payments: Payment[] = []): NewestSend => {
  const around = world({ record: record(spec), payments })
  const step = freezeOf({ spec, world: around, record: record(spec), n, receipt: null })
  return { n, at: NOW.toISOString(), gate: 'password', sha256: '00', bytes: 1, frozen: step.frozen }
}

/** The world after a spec was numbered and frozen once. */
export const sentWorld = (spec: InvoiceSpec = invoiceSpec(), changes: Partial<InvoiceWorld> = {}): InvoiceWorld =>
  world({ record: record(spec), sends: [sent(spec, 1, changes.payments)], ...changes })

/** The plan once its rows of the schedule are written: what a test that is not about them looks at. */
export const planNoted = (object: InvoiceResource, around: InvoiceWorld, now: Date): InvoicePlan => {
  const plan = planInvoice(object, around, now)
  const [step] = plan.steps
  if (step?.do === 'schedule') return planNoted(object, { ...around, scheduled: step.rows }, now)
  if (step?.do !== 'freeze') return plan
  const { schedule: _rows, ...freeze } = step
  return { ...plan, steps: [freeze, ...plan.steps.slice(1)] }
}

export const totalCentsOf = (spec: InvoiceSpec): number => totalsOf(spec).totalCents
