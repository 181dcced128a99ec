/** Refusals of card collection (rules/invoice.md#card-collection). */
import type { ProblemEntry } from './entry.ts'

export const COLLECT_PROBLEMS = {
  COLLECT_OFF: {
    status: 404,
    title: 'Pay now is not enabled for this invoice',
    next: 'Pay in another way, or have the seller switch card collection on.',
  },
  CURRENCY_UNSUPPORTED_FOR_COLLECT: {
    status: 400,
    title: 'A card cannot be charged this amount in this currency',
    next: 'Use whole units of the currency, or leave card collection off for this invoice.',
  },
  PROCESSOR_UNAVAILABLE: {
    status: 503,
    title: 'The card processor has not answered',
    next: 'Try again after the time in Retry-After; nothing was charged.',
  },
  PROCESSOR_REFUSED: {
    status: 502,
    title: 'The card processor refused the request',
    next: "Have the operator look at the processor's answer in the log; nothing was charged.",
  },
  SETTLEMENT_MISMATCH: {
    status: 409,
    title: 'What the card processor reported is not what was asked for',
    next: "Compare the invoice with the payment in the processor's dashboard; it was not booked.",
  },
  BAD_SIGNATURE: {
    status: 400,
    title: 'The message is not signed by the card processor',
    next: "Sign the raw body with the endpoint's secret, not longer than 300 seconds ago.",
  },
} as const satisfies Record<string, ProblemEntry>
