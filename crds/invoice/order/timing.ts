/** The fields of the spec that say what happens to an invoice by itself: reminders, and its repetition every month. */
import type { Infer, ObjectSchema } from '../../kernel/schema.ts'

const DAY_MAX = 31
const PERIOD_MAX = 7
const NAME_MAX = 63

const reminders = {
  type: 'object',
  description: 'Mails that remind the client of the due date.',
  properties: {
    enabled: { type: 'boolean', description: 'False sends none by itself.', default: true },
  },
} as const satisfies ObjectSchema

/** The body of POST /api/invoices/:id/recurrence (rules/invoice.md#recurrence). */
export const recurrence = {
  type: 'object',
  description: 'A further invoice like this one, every month.',
  required: ['every', 'day', 'mode'],
  properties: {
    every: { type: 'string', description: 'How often.', enum: ['month'] },
    day: {
      type: 'integer',
      description: "The day of the month in the issuer's time zone; 29 to 31 are the last day of a shorter month.",
      minimum: 1,
      maximum: DAY_MAX,
    },
    mode: { type: 'string', description: 'Whether each is left as a draft, or sent.', enum: ['draft', 'send'] },
    until: { type: 'string', description: 'The last day on which one may be made.', format: 'date', maxLength: 10 },
    paused: {
      type: 'boolean',
      description: 'True makes none; days that pass meanwhile are not made up for.',
      default: false,
    },
  },
} as const satisfies ObjectSchema

const recurrenceOf = {
  type: 'object',
  description: 'The invoice that this one repeats, and for which month. Written by the operator.',
  required: ['invoice', 'period'],
  properties: {
    invoice: { type: 'string', description: 'Name of the invoice.', maxLength: NAME_MAX },
    period: { type: 'string', description: 'The month, YYYY-MM.', maxLength: PERIOD_MAX },
    held: {
      type: 'boolean',
      description: 'It was to be sent, and the daily cap of sends was reached: it is left as a draft.',
      default: false,
    },
  },
  'x-rest': 'hidden',
  'x-immutable': 'INVALID_FIELD',
} as const satisfies ObjectSchema

/** Fields of the spec. */
export const timingFields = {
  reminders,
  recurrence: { ...recurrence, 'x-rest': 'hidden' },
  recurrenceOf,
} as const satisfies ObjectSchema['properties']

/** None of these stands on the document, so they may change when it is a record. */
export const TIMING = ['reminders', 'recurrence'] as const

export type Recurrence = Infer<typeof recurrence>
