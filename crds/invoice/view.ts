/**
 * The invoice as REST shows it: one function for POST, GET and the list (CONTRACT section 4).
 * Every key is always there; null says that there is no such thing yet.
 */
import { numberOf } from '../decimal.ts'
import { displayCents } from '../money.ts'
import type { Meta } from '../object.ts'
import { booksOf, owedBackCents, type Settlement, settlementOf } from './books.ts'
import type { Claim } from './claim.ts'
import { type ClientView, viewClient } from './client.ts'
import { refundingCents } from './collected.ts'
import {
  type CollectView,
  collectWarnings,
  type RefundView,
  viewCollect,
  viewRefund,
  viewRefunded,
} from './collectview.ts'
import { type DeliveryView, viewDelivery } from './delivery.ts'
import type { InvoiceFacts, Phase } from './facts.ts'
import { faultsOf } from './faults.ts'
import { draftOf } from './freeze.ts'
import { type Gate, gateOf } from './gate.ts'
import { paperWarnings } from './paperwords.ts'
import { type PayloadView, payloadOf, viewPayload } from './payload.ts'
import { heldWarning, type RecurrenceView, viewRecurrence } from './recurrence.ts'
import { type RemindersView, viewReminders } from './reminders.ts'
import { DEFAULT_ISSUER, type InvoiceSpec } from './schema.ts'
import { type Totals, totalsOf } from './totals.ts'
import type { Credit, InvoiceWorld, Payment } from './world.ts'

export type PaymentView = {
  id: string
  amount_cents: number
  method: string
  reference: string
  declared_by: 'owner' | 'gateway'
  received_at: string
}

/** A payment that the client says was made; it is no money yet. */
export type ClaimView = {
  id: string
  amount_cents: number
  paid_on: string
  reference: string
  claimed_at: string
}

/** `number` and `sha256` (of its PDF) are null until it is numbered and frozen, a moment later. */
export type CreditNoteView = {
  id: string
  number: string | null
  amount_cents: number
  reason: string
  sha256: string | null
  refund: RefundView | null
  created_at: string
}

export type InvoiceItemView = {
  description: string
  qty: number
  unit_cents: number
  tax_rate_bp?: number
  /** Null while the spec has faults. */
  amount_cents: number | null
}

export type InvoiceView = ClientView & {
  id: string
  number: string | null
  status: Phase
  test: boolean
  external_ref: string | null
  issuer_id: string
  client_name: string | null
  client_email: string | null
  currency: string
  items: InvoiceItemView[]
  tax_rate_bp: number
  discount_cents: number
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
    ...amountsOf(spec, totals, facts),
    url: facts?.url ?? null,
    ...historyOf(metadata, world, facts),
    refunded_cents: viewRefunded(world),
    collect: viewCollect(spec, world, facts),
    delivery: viewDelivery(spec, world),
    reminders: viewReminders(spec.reminders?.enabled !== false, world),
    recurrence: viewRecurrence(spec, world, facts?.phase === 'voided'),
    warnings: [...warningsOf(spec, world, facts), ...paperWarningsOf(object, world, facts)],
    created_at: instant(createdAtOf(metadata, world)),
    // a resource that has come back counts on from where it was
    version: metadata.generation + (world?.returned ? world.returned.version - 1 : 0),
    gate: world && spec.clientEmail !== undefined ? gateOf(world) : null,
    send_count: world?.sends.length ?? 0,
    would_email: wouldEmailOf(spec, world, facts),
    created_from: asked && viewPayload(asked),
  }
}

const wordsOf = (spec: InvoiceSpec) => ({
  test: spec.test,
  external_ref: spec.externalRef ?? null,
  client_name: spec.clientName ?? null,
  client_email: spec.clientEmail ?? null,
  ...viewClient(spec),
  currency: spec.currency,
  due_date: spec.dueDate ?? null,
  terms: spec.terms ?? null,
  lang: spec.lang,
  metadata: spec.metadata ?? {},
})

const amountsOf = (spec: InvoiceSpec, totals: Totals | null, facts: InvoiceFacts | undefined) => {
  return {
    items: spec.items.map(({ description, qty, unitCents, taxRateBp }, index) => ({
      description,
      qty: numberOf(qty),
      unit_cents: unitCents,
      ...(taxRateBp === undefined ? {} : { tax_rate_bp: taxRateBp }),
      amount_cents: totals?.lines[index]?.amountCents ?? null,
    })),
    tax_rate_bp: spec.taxRateBp,
    discount_cents: spec.discountCents,
    subtotal_cents: totals?.subtotalCents ?? null,
    tax_cents: totals?.taxCents ?? null,
    total_cents: totals?.totalCents ?? null,
    paid_cents: facts?.paidCents ?? 0,
    credited_cents: facts?.creditedCents ?? 0,
    balance_cents: totals === null ? null : (facts?.balanceCents ?? totals.totalCents),
  }
}

const createdAtOf = ({ creationTimestamp }: Meta, world: InvoiceWorld | null): string =>
  world?.returned?.createdAt ?? creationTimestamp

const historyOf = (metadata: Meta, world: InvoiceWorld | null, facts: InvoiceFacts | undefined) => {
  const { payments = [], credits = [], snapshots = [], claims = [], views = [] } = world ?? {}
  const createdAt = createdAtOf(metadata, world)
  const happened = [
    createdAt,
    ...(world?.record ? [world.record.issuedAt] : []),
    ...(world?.sends ?? []).map((send) => send.at),
    ...payments.map((payment) => payment.receivedAt),
    ...credits.map((credit) => credit.at),
    ...snapshots.map((snapshot) => snapshot.at),
    ...claims.map((claim) => claim.at),
    ...views.map((view) => view.at),
  ].map(instant)
  return {
    sent_at: world?.sends[0] ? instant(world.sends[0].at) : null,
    paid_at: instant(settledOf(world, facts)?.at ?? null),
    voided_at: instant(snapshots.find(({ kind }) => kind === 'void')?.at ?? null),
    viewed_at: instant(views[0]?.at ?? null),
    payments: payments.map(viewPayment),
    claims: claims.map(viewClaim),
    credit_notes: credits.map((credit) => viewCredit(credit, snapshots, world)),
    updated_at: happened.sort().at(-1) ?? instant(createdAt),
  }
}

const settledOf = (world: InvoiceWorld | null, facts: InvoiceFacts | undefined): Settlement | null =>
  world && facts?.phase === 'paid' && facts.totalCents !== undefined ? settlementOf(facts.totalCents, world) : null

export const viewCredit = (
  credit: Credit,
  snapshots: InvoiceWorld['snapshots'],
  world: InvoiceWorld | null,
): CreditNoteView => {
  const { id, amountCents, reason, at } = credit
  const note = snapshots.find((snapshot) => snapshot.id === id)
  return {
    id,
    number: note?.number ?? null,
    amount_cents: amountCents,
    reason,
    sha256: note?.sha256 ?? null,
    refund: world && viewRefund(credit, world.collected),
    created_at: instant(at),
  }
}

const viewPayment = (payment: Payment): PaymentView => ({
  id: payment.id,
  amount_cents: payment.amountCents,
  method: payment.method,
  reference: payment.reference,
  declared_by: payment.declaredBy,
  received_at: instant(payment.receivedAt),
})

const viewClaim = ({ id, amountCents, paidOn, reference, at }: Claim): ClaimView => ({
  id,
  amount_cents: amountCents,
  paid_on: paidOn,
  reference,
  claimed_at: instant(at),
})

/** One form for all instants, `2026-11-21T19:36:00.000Z`, so that text order is time order. */
const instant: { (text: string): string; (text: string | null): string | null } = (text: string | null) =>
  (text === null ? null : new Date(text).toISOString()) as string

const wouldEmailOf = (
  spec: InvoiceSpec,
  world: InvoiceWorld | null,
  facts: InvoiceFacts | undefined,
): InvoiceView['would_email'] => {
  if (!spec.test || !world || world.sends.length === 0 || spec.clientEmail === undefined) return null
  return { to: spec.clientEmail, mail: facts?.phase === 'paid' ? 'receipt' : 'invoice', gate: gateOf(world) }
}

/** On what was sent last, else on the draft; there is nothing to be mended on a voided one. */
const paperWarningsOf = (
  { metadata, spec }: Viewed,
  world: InvoiceWorld | null,
  facts: InvoiceFacts | undefined,
): string[] => {
  const sent = world?.sends.at(-1)?.frozen
  if (!world || facts?.phase === 'voided') return []
  if (sent) return paperWarnings(sent)
  if (!world.issuer || faultsOf(spec).length > 0) return []
  return paperWarnings(draftOf(spec, world.issuer, new Date(metadata.creationTimestamp)))
}

export const warningsOf = (
  spec: InvoiceSpec,
  world: InvoiceWorld | null,
  facts: InvoiceFacts | undefined,
): string[] => {
  const money = (cents: number) => displayCents(cents, facts?.currency ?? spec.currency)
  const backCents = refundingCents(world?.collected.refunds ?? [])
  const keptCents = (facts?.paidCents ?? 0) - backCents
  const owed =
    world && facts?.totalCents !== undefined ? owedBackCents(booksOf(facts.totalCents, world)) - backCents : 0
  return [
    ...heldWarning(spec),
    ...(spec.send && !spec.test && spec.clientEmail === undefined
      ? ['There is no client_email, so nothing is emailed: pass the link on yourself.']
      : []),
    ...(facts?.phase === 'voided' && keptCents > 0
      ? [`${money(keptCents)} came in for this voided invoice and stays on record: give it back to the client.`]
      : []),
    ...(facts?.phase !== 'voided' && owed > 0
      ? [`${money(owed)} was paid beyond the total less its credit notes: give it back to the client.`]
      : []),
    ...collectWarnings(world, facts?.currency ?? spec.currency),
  ]
}
