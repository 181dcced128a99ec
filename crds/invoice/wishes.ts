/** What may be reported of an invoice over REST: the bodies of payments and credit notes (CONTRACT section 4). */
import { parseDecimal } from '../decimal.ts'
import type { Fault } from '../problem.ts'
import type { Infer, ObjectSchema } from '../schema.ts'
import { AMOUNT_CENTS_MAX, ITEMS_MAX, item, REFERENCE_MAX } from './schema.ts'

const REASON_MAX = 500

export const paymentWish = {
  type: 'object',
  description: 'Money that came in.',
  properties: {
    amountCents: {
      type: 'integer',
      description: 'How much, in hundredths of the currency unit; all that is left to pay when left out.',
      minimum: 1,
      maximum: AMOUNT_CENTS_MAX,
      'x-code': 'BAD_PAID_AMOUNT',
    },
    method: { type: 'string', description: 'How it was paid.', maxLength: REFERENCE_MAX, 'x-text': 'line' },
    reference: {
      type: 'string',
      description: 'What the payment can be found by.',
      maxLength: REFERENCE_MAX,
      'x-text': 'line',
    },
  },
} as const satisfies ObjectSchema
export type PaymentWish = Infer<typeof paymentWish>

export const creditWish = {
  type: 'object',
  description: 'What is to be credited: an amount, or items, or all that is left when both are left out.',
  properties: {
    amountCents: {
      type: 'integer',
      description: 'How much with its tax, in hundredths of the currency unit.',
      minimum: 1,
      maximum: AMOUNT_CENTS_MAX,
    },
    items: {
      type: 'array',
      description: "The lines of the credit note, in place of an amount; taxed as the invoice's.",
      minItems: 1,
      maxItems: ITEMS_MAX,
      items: item,
    },
    reason: {
      type: 'string',
      description: 'Why; it stands on the credit note.',
      maxLength: REASON_MAX,
      'x-text': 'line',
    },
    refund: { type: 'boolean', description: 'True refunds the card payment.' },
  },
} as const satisfies ObjectSchema
export type CreditWish = Infer<typeof creditWish>

/** What the schema cannot say. */
export const creditFaults = ({ amountCents, items = [] }: CreditWish): Fault[] => [
  ...(amountCents !== undefined && items.length > 0
    ? [{ code: 'INVALID_FIELD' as const, pointer: '/items', detail: 'either items or amountCents, not both' }]
    : []),
  ...items.flatMap(({ qty }, index): Fault[] =>
    parseDecimal(qty) === null
      ? [{ code: 'INVALID_FIELD', pointer: `/items/${index}/qty`, detail: `${JSON.stringify(qty)} is no quantity` }]
      : [],
  ),
]
