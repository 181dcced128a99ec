/**
 * The invoice as REST shows it: one function for POST, GET and the list (rules/invoice.md#over-rest).
 * Every key is always there; null says that there is no such thing yet.
 */

import type { Meta } from '../kernel/object.ts'
import { numberOf } from '../values/decimal.ts'
import { newestLinks } from '../values/links.ts'
import { documentWarningsOf, warningsOf } from './document/warnings.ts'
import { newestSend } from './facts/ledger.ts'
import { INVOICE_LINKS, type InvoiceLinks } from './facts/versions.ts'
import { faultsOf } from './faults.ts'
import { type ClientView, viewClient } from './order/client.ts'
import { hasFiguresOf } from './order/edit.ts'
import type { Frozen } from './order/frozen.ts'
import { type Gate, gateOf } from './order/gate.ts'
import { type PayloadView, payloadOf, viewPayload } from './order/payload.ts'
import { recipientOf } from './order/sent.ts'
import { type Totals, totalsOf } from './order/totals.ts'
import { type DeliveryView, viewDelivery } from './planning/delivery.ts'
import { type RecurrenceView, viewRecurrence } from './planning/recurrence.ts'
import { type RemindersView, viewReminders } from './planning/reminders.ts'
import { type CollectView, viewCollect, viewRefunded } from './rest/collectview.ts'
import {
  type ClaimView,
  type CreditNoteView,
  createdAtOf,
  historyOf,
  instant,
  type PaymentView,
} from './rest/history.ts'
import { type RevisionView, viewRevision } from './rest/revisionview.ts'
import { DEFAULT_ISSUER, type InvoiceSpec } from './schema.ts'
import type { InvoiceFacts, InvoicePhase } from './status.ts'
import type { InvoiceWorld } from './world.ts'

export type InvoiceItemView = {
  description: string
  qty: number
  unit_cents: number
  tax_rate_bp?: number
  /** Null while the spec has faults. An edited line has its new amount before it is sent. */
  amount_cents: number | null
}

export type InvoiceView = ClientView & {
  id: string
  number: string | null
  status: InvoicePhase
  test: boolean
  external_ref: string | null
  issuer_id: string
  client_name: string | null
  client_email: string | null
  currency: string
  items: InvoiceItemView[]
  tax_rate_bp: number
  discount_cents: number
  /** The totals are those of what was sent last, also while an edit waits to be sent; null while a draft has faults. */
  subtotal_cents: number | null
  tax_cents: number | null
  total_cents: number | null
  paid_cents: number
  credited_cents: number
  balance_cents: number | null
  due_date: string | null
  terms: string | null
  lang: InvoiceSpec['lang']
  url: string | null
  /** Which are good; those of before were ended. */
  link_versions: InvoiceLinks
  sent_at: string | null
  paid_at: string | null
  voided_at: string | null
  viewed_at: string | null
  delivery: DeliveryView
  reminders: RemindersView
  recurrence: RecurrenceView | null
  payments: PaymentView[]
  claims: ClaimView[]
  credit_notes: CreditNoteView[]
  /** What of the card payments the processor has sent back. */
  refunded_cents: number
  collect: CollectView
  metadata: Record<string, unknown>
  warnings: string[]
  created_at: string
  updated_at: string
  version: number
  gate: Gate | null
  send_count: number
  /** The mail that test mode keeps back. */
  would_email: { to: string; mail: 'invoice' | 'receipt'; gate: Gate } | null
  /** What a repeat of the external_ref is compared with; null while the spec has faults. */
  created_from: PayloadView | null
  /** What was edited since it was sent, and takes effect with the next send. */
  pending_revision: RevisionView | null
}

type Viewed = { metadata: Meta; spec: InvoiceSpec; status?: { phase?: string } }

/**
 * @param world null when nothing has been observed yet: the invoice as it was asked for
 * @param facts what the plan of the same pass says; a draft's when absent
 */
export const viewInvoice = (object: Viewed, world: InvoiceWorld | null, facts?: InvoiceFacts): InvoiceView => {
  const { metadata, spec } = object
  const totals = faultsOf(spec).length === 0 ? totalsOf(spec) : null
  const issuerId = world?.record?.claimed.issuerId ?? spec.issuerId ?? world?.issuer?.id ?? DEFAULT_ISSUER
  const asked = world?.record?.claimed ?? (totals === null ? null : payloadOf(spec, issuerId))
  return {
    id: metadata.name,
    number: facts?.number ?? null,
    status: facts?.phase ?? 'draft',
    issuer_id: issuerId,
    ...wordsOf(spec),
    currency: facts?.currency ?? spec.currency,
    ...amountsOf(spec, totals, facts, newestSend(world?.sends ?? [])?.frozen),
    url: facts?.url ?? null,
    link_versions: world?.linkVersions ?? newestLinks(INVOICE_LINKS, spec.linkVersions),
    ...historyOf(metadata, world, facts),
    refunded_cents: viewRefunded(world),
    collect: viewCollect(spec, world, facts),
    delivery: viewDelivery(spec, world),
    reminders: viewReminders(spec.reminders?.enabled !== false, world),
    recurrence: viewRecurrence(spec, world, facts?.phase === 'voided'),
    warnings: [...warningsOf(spec, world, facts), ...documentWarningsOf(object, world, facts)],
    created_at: instant(createdAtOf(metadata, world)),
    // a resource that has come back counts on from where it was
    version: metadata.generation + (world?.returned ? world.returned.version - 1 : 0),
    gate: world && spec.clientEmail !== undefined ? gateOf(world) : null,
    send_count: world?.sends.length ?? 0,
    would_email: wouldEmailOf(spec, world, facts),
    created_from: asked && viewPayload(asked),
    pending_revision: viewRevision(metadata.name, spec, world),
  }
}

const wordsOf = (spec: InvoiceSpec) => ({
  test: spec.test,
  external_ref: spec.externalRef ?? null,
  client_name: spec.clientName ?? null,
  client_email: spec.clientEmail ?? null,
  ...viewClient(spec),
  due_date: spec.dueDate ?? null,
  terms: spec.terms ?? null,
  lang: spec.lang,
  metadata: spec.metadata ?? {},
})

/** The lines as they are asked for, an edit that was not sent among them; the totals as they were sent, which is what is owed. */
const amountsOf = (
  spec: InvoiceSpec,
  totals: Totals | null,
  facts: InvoiceFacts | undefined,
  sent: Frozen | undefined,
) => {
  const owed = sent ?? totals
  const lines = sent && hasFiguresOf(spec, sent) ? sent.items : totals?.lines
  return {
    items: spec.items.map(({ description, qty, unitCents, taxRateBp }, index) => ({
      description,
      qty: numberOf(qty),
      unit_cents: unitCents,
      ...(taxRateBp === undefined ? {} : { tax_rate_bp: taxRateBp }),
      amount_cents: lines?.[index]?.amountCents ?? null,
    })),
    tax_rate_bp: spec.taxRateBp,
    discount_cents: spec.discountCents,
    subtotal_cents: owed?.subtotalCents ?? null,
    tax_cents: owed?.taxCents ?? null,
    total_cents: owed?.totalCents ?? null,
    paid_cents: facts?.paidCents ?? 0,
    credited_cents: facts?.creditedCents ?? 0,
    balance_cents: owed === null ? null : (facts?.balanceCents ?? owed.totalCents),
  }
}

const wouldEmailOf = (
  spec: InvoiceSpec,
  world: InvoiceWorld | null,
  facts: InvoiceFacts | undefined,
): InvoiceView['would_email'] => {
  const last = world?.sends.at(-1)
  const to = world ? recipientOf(world) : ''
  if (!spec.test || !last || to === '') return null
  return { to, mail: facts?.phase === 'paid' ? 'receipt' : 'invoice', gate: last.gate }
}
