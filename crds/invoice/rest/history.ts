/** The history of an invoice as REST shows it: sends, payments, claims and credit notes, each with its instant. */
import type { Meta } from '../../kernel/object.ts'
import type { Credit, Payment } from '../facts/ledger.ts'
import { type BooksSettlement, settlementOf } from '../money/books.ts'
import type { PaymentClaim } from '../money/claim.ts'
import type { InvoiceFacts } from '../status.ts'
import type { InvoiceWorld } from '../world.ts'
import { type RefundView, viewRefund } from './collectview.ts'

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

export const createdAtOf = ({ creationTimestamp }: Meta, world: InvoiceWorld | null): string =>
  world?.returned?.createdAt ?? creationTimestamp

/** What happened to an invoice, and when. */
export const historyOf = (metadata: Meta, world: InvoiceWorld | null, facts: InvoiceFacts | undefined) => {
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

const settledOf = (world: InvoiceWorld | null, facts: InvoiceFacts | undefined): BooksSettlement | null =>
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

const viewClaim = ({ id, amountCents, paidOn, reference, at }: PaymentClaim): ClaimView => ({
  id,
  amount_cents: amountCents,
  paid_on: paidOn,
  reference,
  claimed_at: instant(at),
})

/** One form for all instants, `2026-11-21T19:36:00.000Z`, so that text order is time order. */
export const instant: { (text: string): string; (text: string | null): string | null } = (text: string | null) =>
  (text === null ? null : new Date(text).toISOString()) as string
