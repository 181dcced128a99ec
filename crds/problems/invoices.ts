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
    title: 'The paid amount is outside the total',
    next: 'Send an amount between 1 and the total in cents.',
  },
  BAD_ISSUER: {
    status: 404,
    title: 'issuer_id is not an issuer of this account',
    next: 'Use an id from GET /api/invoices/issuers, or leave it out.',
  },
  INVOICE_AI_QUOTA: {
    status: 429,
    title: "The account's drafts by AI of this day are used up",
    next: 'Send the invoice as JSON, which is never capped, or ask again after the time in Retry-After.',
  },
  BAD_CONTRACT: {
    status: 400,
    title: 'The contract cannot be read',
    next: 'Send {"text": …} as JSON, a PDF that opens without a password, or plain text in UTF-8.',
  },
  CONTRACT_TOO_LONG: {
    status: 400,
    title: 'The contract is too long',
    next: 'Send the part that says what is to be paid, within the limit named here.',
  },
  CONTRACT_WITHOUT_TEXT: {
    status: 422,
    title: 'The PDF holds pictures of text, not text',
    next: 'Send a PDF with text (run character recognition over the scan first), or the text itself.',
  },
  PDF_RENDER_OFF: {
    status: 503,
    title: 'The PDF renderer is switched off',
    next: 'Ask the operator of this installation.',
  },
  PDF_BUSY: { status: 503, title: 'The PDF renderer is busy', next: 'Try again after the time in Retry-After.' },
} as const satisfies Record<string, ProblemEntry>
