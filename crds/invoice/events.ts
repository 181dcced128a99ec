/**
 * What is told of an invoice to whoever listens: ids, state and amounts, never what stands on the document
 * (rules/invoice.md#events).
 */

import type { INVOICE_CATALOGUE } from '../catalogue/invoice.ts'
import type { Meta } from '../kernel/object.ts'
import { type Books, dueCents } from './money/books.ts'
import type { InvoiceSpec } from './schema.ts'
import { INVOICE_KIND } from './schema.ts'
import type { InvoicePhase } from './status.ts'

export type InvoiceEventType = (typeof INVOICE_CATALOGUE)['events'][number]

export type InvoiceEvent = {
  kind: string
  account: string
  type: InvoiceEventType
  test: boolean
  data: {
    invoice: {
      id: string
      number: string
      external_ref: string | null
      issuer_id: string
      test: boolean
      status: InvoicePhase
      currency: string
      total_cents: number
      paid_cents: number
      credited_cents: number
      balance_cents: number
      metadata: Record<string, unknown>
    }
    /** The credit note that is told of. */
    credit_note?: { id: string; number: string; amount_cents: number }
    /** The payment that its client claims to have made. */
    claim?: { id: string; amount_cents: number; paid_on: string }
    /** The link, or the password of the page, that was ended; `version` is the good one. */
    link?: { purpose: string; version: number }
    /** The mail that failed for good. */
    delivery?: { mail: string; state: string; attempts: number }
  }
}

type Stand = { number: string; issuerId: string; status: InvoicePhase; currency: string; books: Books }

/** @param stand how the invoice stands once this has happened */
export const invoiceEvent = (
  type: InvoiceEventType,
  { metadata, spec }: { metadata: Pick<Meta, 'name'>; spec: InvoiceSpec },
  { number, issuerId, status, currency, books }: Stand,
): InvoiceEvent => ({
  kind: INVOICE_KIND,
  account: spec.account,
  type,
  test: spec.test,
  data: {
    invoice: {
      id: metadata.name,
      number,
      external_ref: spec.externalRef ?? null,
      issuer_id: issuerId,
      test: spec.test,
      status,
      currency,
      total_cents: books.totalCents,
      paid_cents: books.paidCents,
      credited_cents: books.creditedCents,
      balance_cents: status === 'voided' ? 0 : dueCents(books),
      metadata: spec.metadata ?? {},
    },
  },
})
