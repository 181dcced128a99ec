/** The routes that move money, send again and void, as data (rules/invoice.md#over-rest). */

import { creditBody, paymentBody } from '../../../crds/invoice/order/requests.ts'
import { creditNoteAnswer, invoiceAnswer } from '../../../crds/invoice/rest/answer.ts'
import { named } from '../../../crds/kernel/named.ts'
import { restSchema } from '../../../crds/kernel/rest.ts'
import type { Scope } from '../../auth/scopes.ts'
import { object, text, textOrNull, withExamples } from '../../openapi/schemas.ts'
import type { Route } from '../../wiring/route.ts'
import type { InvoiceNeeds } from '../needs.ts'
import { sendInvoice, voidInvoice } from '../send/send.ts'
import { pendingAnswer, wrapped } from '../shapes.ts'
import { creditInvoice, recordPayment } from './money.ts'

const scope = (name: Scope) => ({ kind: 'scope' as const, scope: name })
const tag = 'Invoices'
const one = '/api/invoices/:id'

const replayed = {
  type: 'boolean',
  description: 'True where the same was asked before without a key, and was undecided: this is that one, counted once.',
} as const
const paid = named('PaidInvoice', object('How it stands.', { invoice: invoiceAnswer, replayed }))
const sent = named(
  'SentInvoice',
  object('How it was sent.', {
    number: textOrNull('Number in the register.'),
    url: textOrNull("The client's page."),
    password: text('Opens the page from now on; the one before does not. Only for a client without an account.'),
    would_email: { type: ['object', 'null'], description: 'In test mode: the mail that was not sent.' },
    invoice: invoiceAnswer,
    replayed,
  }),
)
const credited = named(
  'CreditedInvoice',
  object('What was credited.', { credit_note: creditNoteAnswer, invoice: invoiceAnswer, replayed }),
)

export const moneyRoutes: Route<InvoiceNeeds>[] = [
  {
    method: 'POST',
    path: `${one}/payments`,
    summary: 'Record a payment',
    description:
      'All that is left to pay, or a part of it. With the last part the invoice is paid: its document is stamped PAID and a receipt is mailed.',
    tag,
    scope: scope('payments:write'),
    body: withExamples(
      restSchema(paymentBody),
      {},
      { amount_cents: 40_000, method: 'bank transfer', reference: 'TX-93' },
    ),
    answers: { 200: { description: 'The invoice.', schema: paid }, 202: pendingAnswer },
    codes: ['NOT_FOUND', 'BAD_PAID_AMOUNT', 'NOT_PAYABLE', 'NOTHING_DUE', 'LEDGER_BEHIND'],
    handle: recordPayment,
  },
  {
    method: 'POST',
    path: `${one}/send`,
    summary: 'Send an invoice',
    description:
      'A draft, or again: a new snapshot, a new mail and a new password; what was edited since takes effect. Counts as a send.',
    tag,
    scope: scope('invoices:write'),
    answers: { 200: { description: 'Sent.', schema: sent }, 202: pendingAnswer },
    codes: [
      'NOT_FOUND',
      'NO_ITEMS',
      'BAD_AMOUNT',
      'ZERO_TOTAL',
      'CURRENCY_UNSUPPORTED_FOR_COLLECT',
      'BAD_ISSUER',
      'LOCKED_VOID',
      'LOCKED_NUMBERED',
      'LOCKED_PAID',
      'LOCKED_PARTIAL',
      'NOT_NUMBERED',
      'SEND_CAP',
      'RECIPIENT_CAP',
      'DOCUMENT_TOO_LARGE',
      'DOCUMENT_SET_ASIDE',
      'LEDGER_BEHIND',
    ],
    handle: sendInvoice,
  },
  {
    method: 'POST',
    path: `${one}/credit-note`,
    summary: 'Credit an invoice',
    description: 'All that is left, an amount, or items. The credit note has a number of its own register and a PDF.',
    tag,
    scope: scope('invoices:write'),
    body: withExamples(
      restSchema(creditBody),
      { reason: 'Ordered twice' },
      { amount_cents: 12_000, reason: 'Late delivery' },
      { items: [{ description: 'Hours not worked', qty: 0.5, unit_cents: 80_000 }] },
    ),
    answers: { 201: { description: 'Credited.', schema: credited }, 202: pendingAnswer },
    codes: [
      'NOT_FOUND',
      'NOT_NUMBERED',
      'LOCKED_VOID',
      'CREDIT_EXCEEDS_REST',
      'BAD_AMOUNT',
      'ZERO_TOTAL',
      'NO_GATEWAY_PAYMENT',
      'CURRENCY_UNSUPPORTED_FOR_COLLECT',
      'INVALID_FIELD',
      'DOCUMENT_TOO_LARGE',
      'DOCUMENT_SET_ASIDE',
      'LEDGER_BEHIND',
    ],
    handle: creditInvoice,
  },
  {
    method: 'POST',
    path: `${one}/void`,
    summary: 'Void an invoice',
    description: 'The number is kept. What was paid stays on record, and is listed in warnings.',
    tag,
    scope: scope('invoices:write'),
    answers: { 200: { description: 'The invoice.', schema: wrapped }, 202: pendingAnswer },
    codes: ['NOT_FOUND', 'NOT_NUMBERED', 'LOCKED_VOID', 'DOCUMENT_TOO_LARGE', 'DOCUMENT_SET_ASIDE', 'LEDGER_BEHIND'],
    handle: voidInvoice,
  },
]
