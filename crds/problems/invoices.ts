/** Refusals of invoicing (rules/invoice.md#refusals). */
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
  LOCKED_NUMBERED: {
    status: 409,
    title: 'A numbered invoice cannot be deleted, nor get another currency or issuer',
    next: 'Void it, which keeps its number, and create another invoice; correct a paid one by a credit note.',
  },
  PAID_REQUIRES_SEND: { status: 400, title: 'paid needs send: true', next: 'Set send to true, or leave paid out.' },
  BAD_PAID_AMOUNT: {
    status: 400,
    title: 'The paid amount is outside the total or what is left of it, or none that the currency has',
    next: 'Send an amount in cents from 1 to what is left to pay, in whole units of a currency without decimals, or leave it out to pay all of that.',
  },
  BAD_AMOUNT: {
    status: 400,
    title: 'The currency has no such amount',
    next: 'Send whole units of a currency without decimals: a multiple of 100 hundredths of JPY, KRW and the like.',
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
  CLAIM_LIMIT: {
    status: 409,
    title: 'As many payments were claimed as are kept',
    next: 'Ask the seller which of them arrived.',
  },
  RECIPIENT_CAP: {
    status: 429,
    title: 'As many mails about the invoice went to its client today as may',
    next: 'Send it again tomorrow (UTC), or pass the link on yourself.',
  },
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
  XML_OF_DRAFT: { status: 409, title: 'A draft has no XML', next: 'Send it; its XML is that of the frozen document.' },
  XML_OF_VOID: {
    status: 409,
    title: 'A voided invoice has no XML, which a machine would pay',
    next: 'Name an earlier document in sha256, out of GET /api/invoices/:id/snapshots.',
  },
  XML_INCOMPLETE: {
    status: 409,
    title: 'What was frozen is no electronic invoice by EN 16931',
    next: 'Give what errors[] names, each by its rule, and send the invoice again.',
  },
  BAD_PREFIX: {
    status: 400,
    title: 'number_prefix is not acceptable',
    next: 'Use a capital letter and up to seven more capitals or digits, not TEST and nothing that begins with CN.',
  },
  PREFIX_TAKEN: {
    status: 409,
    title: 'Another issuer of this account has the prefix',
    next: 'Use another number_prefix; that of an archived issuer stays taken.',
  },
  PREFIX_IN_USE: {
    status: 409,
    title: 'Numbers of this year were given under the present prefix',
    next: 'Change it next year before the first number, or make another issuer.',
  },
  NEXT_NUMBER_FIXED: {
    status: 409,
    title: 'A register goes forward only, and is not moved once it has begun',
    next: 'Leave next_number out, or make another issuer.',
  },
  ISSUER_LIMIT: {
    status: 409,
    title: 'The account has as many issuers as it may',
    next: 'Use one that is there, or take an archived one back with archived: false.',
  },
  ISSUER_DEFAULT: {
    status: 409,
    title: 'The default issuer cannot be archived',
    next: 'Change its fields instead, or name another issuer in issuer_id.',
  },
  BAD_LOGO: {
    status: 400,
    title: 'The logo is no picture that can stand on a document',
    next: 'Save it anew as one still PNG, JPEG or WebP of at most 2 MB and 16 megapixels, and send its bytes.',
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
  DOCUMENT_TOO_LARGE: {
    status: 413,
    title: 'The document takes too long to be drawn',
    next: 'Say it in fewer words, or divide it over several invoices.',
  },
  DOCUMENT_SET_ASIDE: {
    status: 503,
    title: 'The document cannot be drawn, and was set aside',
    next: 'Wait for the operator of this installation, who has it listed with the reason (GET /api/admin/quarantine) and releases it, or write it in other words: then it is tried anew.',
  },
  PDF_RENDER_OFF: {
    status: 503,
    title: 'The PDF renderer is switched off',
    next: 'Ask the operator of this installation.',
  },
  PDF_BUSY: { status: 503, title: 'The PDF renderer is busy', next: 'Try again after the time in Retry-After.' },
} as const satisfies Record<string, ProblemEntry>
