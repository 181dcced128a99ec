/** The JSON schemas of what time does to an invoice, for the OpenAPI document. */
import { named } from '../../kernel/named.ts'
import type { JsonSchema } from '../../kernel/rest.ts'
import { REMINDER_STEPS } from '../facts/reminded.ts'

const object = (description: string, properties: Record<string, JsonSchema>, optional: string[] = []): JsonSchema => ({
  type: 'object',
  description,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  properties,
})
const text = (description: string): JsonSchema => ({ type: 'string', description })
const textOrNull = (description: string): JsonSchema => ({ type: ['string', 'null'], description })
const flag = (description: string): JsonSchema => ({ type: 'boolean', description })

const STEPS = [...REMINDER_STEPS.map(({ step }) => step), 'manual']

export const remindersAnswer: JsonSchema = named(
  'Reminders',
  object('Mails that remind the client.', {
    enabled: flag('Whether they go out by themselves.'),
    next_on: textOrNull("The day of the next one in the issuer's time zone; null when none is to come."),
    sent: {
      type: 'array',
      description: 'Those given, oldest first.',
      items: object('One reminder.', {
        step: { type: 'string', description: 'Days from the due date, or manual.', enum: STEPS },
        at: text('When, as an instant.'),
        to: text('The recipient.'),
        emailed: flag('False in test mode, which keeps the mail back.'),
      }),
    },
  }),
)

/** What POST …/remind answers. */
export const reminderAnswer: JsonSchema = named(
  'ReminderOutcome',
  object(
    'What became of the wish.',
    {
      sent: flag('Whether a mail goes out.'),
      to: text("The recipient; '' when there is none."),
      step: { type: 'string', description: 'One that was asked for.', enum: ['manual'] },
      reason: text('Why none goes out.'),
    },
    ['reason'],
  ),
)

const repetition = {
  of: textOrNull('The invoice that this one repeats.'),
  period: textOrNull('The month that it repeats it for, YYYY-MM.'),
  every: { type: ['string', 'null'], description: 'How often it is repeated.', enum: ['month', null] },
  day: { type: ['integer', 'null'], description: 'The day of the month.' },
  mode: { type: ['string', 'null'], description: 'What is made of each.', enum: ['draft', 'send', null] },
  until: textOrNull('The last day on which one may be made.'),
  paused: flag('Whether it is paused.'),
  next_on: textOrNull("The day of the next one in the issuer's time zone; null when none is to come."),
  invoices: {
    type: 'array',
    description: 'What was made, oldest first.',
    items: named(
      'RecurringInvoice',
      object('One invoice.', {
        id: text('Names the invoice.'),
        period: text('The month, YYYY-MM.'),
        on: text('The day it was due to be made.'),
        held: flag('Left as a draft, because the daily cap of sends was reached.'),
      }),
    ),
  },
}

/** What POST …/recurrence answers. */
export const repetitionAnswer: JsonSchema = named('Recurrence', object('How an invoice is repeated.', repetition))
export const recurrenceAnswer: JsonSchema = { ...repetitionAnswer, type: ['object', 'null'] }
