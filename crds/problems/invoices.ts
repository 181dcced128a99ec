/** Refusals of invoicing (spec/1 Errors; CONTRACT section 10). */
import type { ProblemEntry } from './entry.ts'

export const INVOICE_PROBLEMS = {
  TEST_IMMUTABLE: { status: 400, title: 'test is fixed at creation', next: 'Create another invoice.' },
  REF_PAYLOAD_MISMATCH: {
    status: 409,
    title: 'The same reference was used with another payload',
    next: 'Send the original payload, or use another external_ref.',
  },
  NO_ITEMS: { status: 409, title: 'An invoice without items cannot be sent', next: 'Add at least one item.' },
  ZERO_TOTAL: {
    status: 409,
    title: 'An invoice without a positive total cannot be sent',
    next: 'Correct items or discount until the total is positive.',
  },
  LOCKED_PAID: { status: 409, title: 'A paid invoice is a record', next: 'Correct it by a credit note.' },
  LOCKED_PARTIAL: { status: 409, title: 'A partly paid invoice is a record', next: 'Correct it by a credit note.' },
  LOCKED_VOID: { status: 409, title: 'A voided invoice is a record', next: 'Create another invoice.' },
  LOCKED_NUMBERED: { status: 409, title: 'A numbered invoice cannot be deleted', next: 'Void it; its number is kept.' },
  PAID_REQUIRES_SEND: { status: 400, title: 'paid needs send: true', next: 'Set send to true, or leave paid out.' },
  BAD_PAID_AMOUNT: {
    status: 400,
    title: 'The paid amount is outside the total, or outside what is left of it',
    next: 'Send an amount in cents from 1 to what is left to pay, or leave it out to pay all of that.',
  },
  NOT_NUMBERED: {
    status: 409,
    title: 'A draft has no number yet',
    next: 'Send it first, or edit or delete the draft.',
  },
  NOT_PAYABLE: {
    status: 409,
    title: 'Only a sent invoice can be paid',
    next: 'Send the draft first; for a voided invoice create another one.',
  },
  NOTHING_DUE: { status: 409, title: 'Nothing is left to pay', next: 'Read the invoice: its balance is zero.' },
  CREDIT_EXCEEDS_REST: {
    status: 409,
    title: 'More is to be credited than is left',
    next: 'Credit at most total_cents minus credited_cents.',
  },
  NO_GATEWAY_PAYMENT: {
    status: 409,
    title: 'No card payment can be refunded',
    next: 'Leave refund out, and give the money back the way it came.',
  },
  BAD_ISSUER: {
    status: 404,
    title: 'issuer_id is not an issuer of this account',
    next: 'Use an id from GET /api/invoices/issuers, or leave it out.',
  },
  PDF_RENDER_OFF: {
    status: 503,
    title: 'The PDF renderer is switched off',
    next: 'Ask the operator of this installation.',
  },
  PDF_BUSY: { status: 503, title: 'The PDF renderer is busy', next: 'Try again after the time in Retry-After.' },
} as const satisfies Record<string, ProblemEntry>
