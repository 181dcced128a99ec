/**
 * The Invoice: shape, limits and how kubectl shows it. Names are those of REST in camelCase
 * (rules/platform.md#names-of-fields). Source: rules/invoice.md#fields-of-an-order.
 */

import { accountField, externalRefField, ID_MAX, metadataField } from '../kernel/fields.ts'
import { COMMON_STATUS } from '../kernel/kind.ts'
import type { Resource } from '../kernel/object.ts'
import { EMAIL_MAX, EMAIL_PATTERN, type Infer, type ObjectSchema } from '../kernel/schema.ts'
import { DECIMAL_PATTERN } from '../values/decimal.ts'
import { INVOICE_LINK_FIELDS } from './facts/versions.ts'
import { clientFields } from './order/client.ts'
import { LANGS } from './order/frozen.ts'
import { timingFields } from './order/timing.ts'

/** The kind's name, for what its kind.ts rests on itself. */
export const INVOICE_KIND = 'Invoice'

export const ITEMS_MAX = 500
export const DESCRIPTION_MAX = 2000
export const TERMS_MAX = 4000
export const NAME_MAX = 200
export const REFERENCE_MAX = 128
export const UNIT_CENTS_MAX = 1_000_000_000_000
export const AMOUNT_CENTS_MAX = 1_000_000_000_000_000
export const TAX_RATE_BP_MAX = 10_000

/** The issuer that is used when none is named. */
export const DEFAULT_ISSUER = 'iss-default'
/** Those of a status: the newest. */
export const CREDIT_NOTES_SHOWN_MAX = 100
export const PHASES = ['draft', 'sent', 'partial', 'paid', 'overdue', 'voided'] as const

const taxRateBp = { type: 'integer', minimum: 0, maximum: TAX_RATE_BP_MAX } as const

export const item = {
  type: 'object',
  title: 'OrderedItem',
  description: 'One line of the invoice.',
  required: ['description', 'qty', 'unitCents'],
  properties: {
    description: { type: 'string', description: 'What is invoiced.', maxLength: DESCRIPTION_MAX, 'x-text': 'block' },
    qty: { type: 'string', description: 'How many.', pattern: DECIMAL_PATTERN, maxLength: 16, 'x-rest': 'decimal' },
    unitCents: {
      type: 'integer',
      description: 'Price of one, in hundredths of the currency unit; below zero for a rebate.',
      minimum: -UNIT_CENTS_MAX,
      maximum: UNIT_CENTS_MAX,
    },
    taxRateBp: { ...taxRateBp, description: 'Tax of this line in basis points, instead of that of the invoice.' },
  },
} as const satisfies ObjectSchema

const paid = {
  type: 'object',
  title: 'ReceiptPayment',
  description: 'Receipt mode: the invoice is numbered and already paid. Needs send.',
  required: ['method'],
  properties: {
    method: {
      type: 'string',
      description: 'How it was paid.',
      minLength: 1,
      maxLength: REFERENCE_MAX,
      'x-text': 'line',
    },
    reference: {
      type: 'string',
      description: 'What the payment can be found by.',
      maxLength: REFERENCE_MAX,
      default: '',
      'x-text': 'line',
    },
    amountCents: {
      type: 'integer',
      description: 'How much was paid, in hundredths of the currency unit; the total when left out.',
      minimum: 1,
      maximum: AMOUNT_CENTS_MAX,
      'x-code': 'BAD_PAID_AMOUNT',
    },
  },
} as const satisfies ObjectSchema

const collect = {
  type: 'object',
  description: 'Card collection of this invoice.',
  properties: {
    enabled: {
      type: 'boolean',
      description: 'False keeps Pay now away, whatever the account has switched on.',
      default: true,
    },
  },
} as const satisfies ObjectSchema

export const spec = {
  type: 'object',
  description: 'What is to be invoiced, and to whom.',
  required: ['account'],
  properties: {
    account: accountField,
    externalRef: externalRefField,
    send: {
      type: 'boolean',
      description: 'True numbers the invoice and emails it. Needs an item and a positive total.',
      default: false,
    },
    test: {
      type: 'boolean',
      description: 'Test mode: a series of its own and no email. Fixed at creation.',
      default: false,
      'x-immutable': 'TEST_IMMUTABLE',
    },
    clientName: { type: 'string', description: 'Name of the recipient.', maxLength: NAME_MAX, 'x-text': 'line' },
    clientEmail: {
      type: 'string',
      description: 'Address of the recipient. Decides the delivery gate.',
      maxLength: EMAIL_MAX,
      pattern: EMAIL_PATTERN,
    },
    ...clientFields,
    currency: {
      type: 'string',
      description:
        'Currency code of ISO 4217. Amounts are hundredths of its unit, whatever the currency; of one without decimals whole units.',
      maxLength: 3,
      pattern: '^[A-Z]{3}$',
      default: 'EUR',
    },
    dueDate: { type: 'string', description: 'Due date, YYYY-MM-DD.', format: 'date', maxLength: 10 },
    terms: { type: 'string', description: 'Payment terms in free text.', maxLength: TERMS_MAX, 'x-text': 'block' },
    lang: {
      type: 'string',
      description: 'Language of the document, the page and the mail.',
      enum: LANGS,
      default: 'en',
    },
    items: {
      type: 'array',
      description: 'The lines of the invoice.',
      maxItems: ITEMS_MAX,
      default: [],
      'x-list': 'atomic',
      items: item,
    },
    taxRateBp: { ...taxRateBp, description: 'Tax in basis points: 2000 is 20 %.', default: 0 },
    discountCents: {
      type: 'integer',
      description: 'Taken from the lines before tax, in hundredths of the currency unit.',
      minimum: 0,
      maximum: AMOUNT_CENTS_MAX,
      default: 0,
    },
    issuerId: {
      type: 'string',
      description: 'The issuer to invoice under; the default issuer when left out.',
      minLength: 1,
      maxLength: ID_MAX,
      pattern: '^[a-z0-9-]+$',
      'x-code': 'BAD_ISSUER',
    },
    metadata: metadataField,
    ...timingFields,
    paid,
    collect,
    linkVersions: INVOICE_LINK_FIELDS.spec,
    void: {
      type: 'boolean',
      description: 'True voids a numbered invoice, for ever. The number is kept.',
      default: false,
      'x-rest': 'hidden',
    },
  },
} as const satisfies ObjectSchema

const cents = { type: 'integer' } as const

export const status = {
  type: 'object',
  description: 'What has become of the invoice. Written by the operator alone.',
  properties: {
    ...COMMON_STATUS,
    phase: {
      type: 'string',
      description: 'One word for display: draft, sent, partial, paid, overdue, voided.',
      maxLength: 32,
    },
    number: { type: 'string', description: 'Number in the register of the issuer.', maxLength: 64 },
    total: { type: 'string', description: 'Total for display.', maxLength: 64 },
    totalCents: { ...cents, description: 'Items minus discount plus tax, in hundredths of the currency unit.' },
    currency: { type: 'string', description: 'Currency of the amounts.', maxLength: 3 },
    paidCents: { ...cents, description: 'What has been paid.' },
    creditedCents: { ...cents, description: 'What has been credited.' },
    balanceCents: { ...cents, description: 'What is left to pay.' },
    issuerId: { type: 'string', description: 'The issuer that it is numbered under.', maxLength: ID_MAX },
    issuedOn: { type: 'string', description: "Day of issue in the issuer's time zone.", maxLength: 10 },
    url: { type: 'string', description: "The client's page.", maxLength: 2048 },
    sends: { type: 'integer', description: 'How often it was sent; 1 when left out.', minimum: 2 },
    creditNotes: {
      type: 'array',
      description: 'Its credit notes with their numbers in the register of their own.',
      maxItems: CREDIT_NOTES_SHOWN_MAX,
      'x-list': 'atomic',
      items: {
        type: 'object',
        description: 'One credit note.',
        required: ['id', 'number', 'amountCents'],
        properties: {
          id: { type: 'string', description: 'Names it within the invoice.', maxLength: 128 },
          number: { type: 'string', description: 'Number in the register.', maxLength: 64 },
          amountCents: { ...cents, description: 'What it credits.' },
        },
      },
    },
    collect: { type: 'boolean', description: 'Whether card collection is on for it, as of the last look.' },
    linkVersions: INVOICE_LINK_FIELDS.status,
  },
} as const satisfies ObjectSchema

export type InvoiceSpec = Infer<typeof spec>
export type InvoiceItem = Infer<typeof item>
export type InvoiceStatus = Infer<typeof status>

export type InvoiceResource = Resource<InvoiceSpec, InvoiceStatus>
