/** The JSON schema of `InvoiceView`, for the OpenAPI document and the clients made from it. Open: fields may be added. */
import { named } from '../../kernel/named.ts'
import { type JsonSchema, restSchema } from '../../kernel/rest.ts'
import { DELIVERY_STATES } from '../facts/deliveries.ts'
import { clientAnswer } from '../order/client.ts'
import { PHASES, spec } from '../schema.ts'
import { collectAnswer, refundAnswer } from './collectanswer.ts'
import { revisionAnswer } from './revisionview.ts'
import { recurrenceAnswer, remindersAnswer } from './timinganswer.ts'

const asked = restSchema(spec).properties as Record<string, JsonSchema>

/** A field as in the request, without the words that only bind what is sent. */
const same = (name: string, nullable = false): JsonSchema => {
  const { type, description, enum: words } = asked[name] ?? {}
  return { type: nullable ? [type, 'null'] : type, description, ...(words ? { enum: words } : {}) }
}
const text = (description: string): JsonSchema => ({ type: 'string', description })
const textOrNull = (description: string): JsonSchema => ({ type: ['string', 'null'], description })
const cents = (description: string): JsonSchema => ({ type: 'integer', description })
const centsOrNull = (description: string): JsonSchema => ({ type: ['integer', 'null'], description })
const object = (description: string, properties: Record<string, JsonSchema>, optional: string[] = []): JsonSchema => ({
  type: 'object',
  description,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  properties,
})

const item = named(
  'InvoiceItem',
  object(
    'One line.',
    {
      description: text('What is invoiced.'),
      qty: { type: 'number', description: 'How many.' },
      unit_cents: cents('Price of one.'),
      tax_rate_bp: cents('Tax of this line in basis points, where it is its own.'),
      amount_cents: centsOrNull('qty times price, rounded half-up, before discount and tax.'),
    },
    ['tax_rate_bp'],
  ),
)

const payment = named(
  'Payment',
  object('Money that came in.', {
    id: text('Names the payment.'),
    amount_cents: cents('How much.'),
    method: text('How it was paid.'),
    reference: text('What it can be found by.'),
    declared_by: {
      type: 'string',
      description: 'owner: attested by the caller; gateway: verified by the service.',
      enum: ['owner', 'gateway'],
    },
    received_at: text('When, as an instant.'),
  }),
)

export const creditNoteAnswer = named(
  'CreditNote',
  object('What was credited.', {
    id: text('Names the credit note.'),
    number: textOrNull('Number in a register of its own; null until it is numbered, a moment later.'),
    amount_cents: cents('How much, tax included.'),
    reason: text('As it was given.'),
    sha256: textOrNull('Names its PDF among the snapshots of the invoice.'),
    refund: refundAnswer,
    created_at: text('When, as an instant.'),
  }),
)

const delivery = named(
  'InvoiceDelivery',
  object('The last mail to the client about this invoice; how the invoice stands is another matter.', {
    state: {
      type: 'string',
      description:
        'none: there is none; queued: not tried yet; deferred: tried, and tried again; accepted: the mail server of the recipient has taken it; bounced: that server refuses it for good; failed: given up; unknown: no answer came, so it is repeated.',
      enum: ['none', ...DELIVERY_STATES],
    },
    attempts: { type: 'integer', description: 'How often it was tried.' },
    last_error: textOrNull('Why the last try that failed did.'),
    next_attempt_at: textOrNull('When it is tried again.'),
    unknown_attempts: {
      type: 'integer',
      description: 'Tries of which nobody knows whether they arrived: the client may have the mail more than once.',
    },
    to: textOrNull('The recipient.'),
  }),
)

export const claimAnswer = named(
  'PaymentClaim',
  object('A payment that the client says was made. It is no money yet.', {
    id: text('Names the claim.'),
    amount_cents: cents('How much.'),
    paid_on: text('The day of the payment, YYYY-MM-DD.'),
    reference: text('What it can be found by.'),
    claimed_at: text('When it was claimed, as an instant.'),
  }),
)

const gate = { enum: ['account', 'password'], description: 'How the client gets to the page.' }

const wouldEmail = named('WouldEmail', {
  ...object('The mail that test mode keeps back.', {
    to: text('The recipient.'),
    mail: { type: 'string', description: 'Which mail.', enum: ['invoice', 'receipt'] },
    gate: { type: 'string', ...gate },
  }),
  type: ['object', 'null'],
})

const createdFrom = named('CreatedFrom', {
  ...object('What a repeat of the external_ref is compared with.', {
    total_cents: cents('The total.'),
    currency: text('The currency.'),
    client_email: textOrNull('The recipient.'),
    issuer_id: text('The issuer.'),
    test: { type: 'boolean', description: 'Test mode.' },
    send: { type: 'boolean', description: 'Whether it was to be sent.' },
  }),
  type: ['object', 'null'],
})

const linksAnswer = named(
  'InvoiceLinkVersions',
  object('Which are good: those of a lower version were ended.', {
    link: { type: 'integer', description: "Of the link to the client's page." },
    password: { type: 'integer', description: 'Of its password.' },
  }),
)

const pendingRevision = named('PendingRevision', revisionAnswer(object, cents))

export const invoiceAnswer: JsonSchema = named(
  'Invoice',
  object('An invoice. Amounts are hundredths of the currency unit.', {
    id: text('Names the invoice.'),
    number: textOrNull('Number in the register; null for a draft.'),
    status: { type: 'string', description: 'How it stands.', enum: [...PHASES] },
    test: same('test'),
    external_ref: same('external_ref', true),
    issuer_id: text('The issuer used.'),
    client_name: same('client_name', true),
    client_email: same('client_email', true),
    ...clientAnswer(same),
    currency: same('currency'),
    items: { type: 'array', description: 'The lines.', items: item },
    tax_rate_bp: same('tax_rate_bp'),
    discount_cents: same('discount_cents'),
    subtotal_cents: centsOrNull('The lines together, before the discount.'),
    tax_cents: centsOrNull('Tax, rounded once per rate.'),
    total_cents: centsOrNull('Lines minus discount plus tax.'),
    paid_cents: cents('What has been paid.'),
    credited_cents: cents('What has been credited.'),
    balance_cents: centsOrNull('What is left to pay.'),
    due_date: same('due_date', true),
    terms: same('terms', true),
    lang: same('lang'),
    url: textOrNull("The client's page; null until it is sent."),
    link_versions: linksAnswer,
    sent_at: textOrNull('When it was first sent.'),
    paid_at: textOrNull('When the balance reached zero.'),
    voided_at: textOrNull('When it was voided.'),
    viewed_at: textOrNull('When the client first looked at its page.'),
    delivery,
    reminders: remindersAnswer,
    recurrence: recurrenceAnswer,
    payments: { type: 'array', description: 'Money that came in, oldest first.', items: payment },
    claims: {
      type: 'array',
      description: 'Payments that the client says were made, oldest first.',
      items: claimAnswer,
    },
    credit_notes: { type: 'array', description: 'What was credited, oldest first.', items: creditNoteAnswer },
    refunded_cents: cents('What of the card payments the processor has sent back.'),
    collect: collectAnswer,
    metadata: { type: 'object', description: 'As it was sent.' },
    warnings: { type: 'array', description: 'What deserves a look.', items: text('A sentence.') },
    created_at: text('When it was created.'),
    updated_at: text('When something last happened to it.'),
    version: { type: 'integer', description: 'Rises with every edit.' },
    gate: { type: ['string', 'null'], ...gate, enum: [...gate.enum, null] },
    send_count: { type: 'integer', description: 'How often it was sent.' },
    would_email: wouldEmail,
    created_from: createdFrom,
    pending_revision: pendingRevision,
    stalled: {
      ...object('Why nothing more happens until a person acts.', {
        code: text('The code that a request would have been refused with.'),
        detail: text('The rule and the figures.'),
      }),
      type: ['object', 'null'],
    },
    fact_seq: { type: 'integer', description: 'Recorded facts that this view has taken in.' },
  }),
)
