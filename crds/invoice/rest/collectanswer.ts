/** The JSON schemas of what REST shows of card collection, for the OpenAPI document. */
import { named } from '../../kernel/named.ts'
import type { JsonSchema } from '../../kernel/rest.ts'
import { REFUND_STATES } from '../facts/collected.ts'
import { COLLECT_REASONS } from '../money/collect.ts'

export const collectAnswer: JsonSchema = named('CardCollection', {
  type: 'object',
  description: 'Card collection of this invoice.',
  required: ['enabled', 'offered', 'reason'],
  properties: {
    enabled: { type: 'boolean', description: 'Whether installation, account and invoice have it switched on.' },
    offered: { type: 'boolean', description: 'Whether the client is shown Pay now.' },
    reason: {
      type: ['string', 'null'],
      description: 'Why Pay now is not shown; null when it is.',
      enum: [...COLLECT_REASONS, null],
    },
  },
})

export const refundAnswer: JsonSchema = named('CardRefund', {
  type: ['object', 'null'],
  description: 'How far the card refund of this credit note is; null when none was asked for.',
  required: ['state', 'amount_cents', 'error'],
  properties: {
    state: { type: 'string', description: 'How far it is.', enum: [...REFUND_STATES] },
    amount_cents: { type: 'integer', description: 'How much goes back.' },
    error: { type: ['string', 'null'], description: 'Why it failed; null when it did not.' },
  },
})
