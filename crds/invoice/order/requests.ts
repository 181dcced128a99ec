/**
 * What may be reported of an invoice over REST: the bodies of payments and credit notes (rules/invoice.md#payments,
 * #credit-notes).
 */

import type { Fault, ProblemCode } from '../../kernel/problem.ts'
import type { Infer, ObjectSchema } from '../../kernel/schema.ts'
import { parseDecimal } from '../../values/decimal.ts'
import { isWholeAmount, notWhole } from '../../values/money.ts'
import { creditSizeFaults } from '../document/drawcost.ts'
import { priceFaults } from '../faults.ts'
import { AMOUNT_CENTS_MAX, ITEMS_MAX, item, REFERENCE_MAX } from '../schema.ts'

const REASON_MAX = 500

export const paymentBody = {
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
export type PaymentBody = Infer<typeof paymentBody>

export const creditBody = {
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
export type CreditBody = Infer<typeof creditBody>

/** Refuses hundredths that the currency does not have, unless they are all that is left: an old invoice may have such a rest. */
const wholeFaults = (
  amountCents: number | undefined,
  { currency, restCents, code }: { currency: string; restCents: number | null; code: ProblemCode },
): Fault[] =>
  amountCents === undefined || amountCents === restCents || isWholeAmount(amountCents, currency)
    ? []
    : [{ code, pointer: '/amountCents', detail: notWhole(amountCents, currency) }]

type Towards = { currency: string; restCents: number | null }

/** What the schema cannot say of a payment. @param towards the invoice: `restCents` is what is left to pay */
export const paymentFaults = ({ amountCents }: PaymentBody, towards: Towards): Fault[] =>
  wholeFaults(amountCents, { ...towards, code: 'BAD_PAID_AMOUNT' })

/** The same of a credit note. @param towards the invoice: `restCents` is what is left to credit */
export const creditFaults = ({ amountCents, items = [], refund }: CreditBody, towards: Towards): Fault[] => [
  ...(refund ? [] : wholeFaults(amountCents, { ...towards, code: 'BAD_AMOUNT' })),
  ...priceFaults(items, towards.currency),
  ...(amountCents !== undefined && items.length > 0
    ? [{ code: 'INVALID_FIELD' as const, pointer: '/items', detail: 'either items or amountCents, not both' }]
    : []),
  ...items.flatMap(({ qty }, index): Fault[] =>
    parseDecimal(qty) === null
      ? [{ code: 'INVALID_FIELD', pointer: `/items/${index}/qty`, detail: `${JSON.stringify(qty)} is no quantity` }]
      : [],
  ),
  ...creditSizeFaults(items),
]
