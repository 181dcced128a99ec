/** Shapes of bodies and answers about webhooks, as JSON schemas. */
import { EVENT_FILTERS } from '../../crds/kernel/event.ts'
import { named } from '../../crds/kernel/named.ts'
import type { JsonSchema } from '../../crds/kernel/rest.ts'
import { URL_MAX } from '../../crds/webhook/endpoint.ts'
import { DELIVERY_STATES } from '../../crds/webhook/log.ts'
import { flag, list, object, POLL_HEADERS, text, textOrNull, whole } from '../openapi/schemas.ts'

const EVENTS_MAX = EVENT_FILTERS.length
const SEQUENCE_MAX = Number.MAX_SAFE_INTEGER

export const url: JsonSchema = {
  type: 'string',
  description: 'A public https address without credentials.',
  minLength: 1,
  maxLength: URL_MAX,
}
export const events: JsonSchema = named('EventFilters', {
  ...list('What is delivered; * is everything, invoice.* all of invoices. All when left out.', {
    type: 'string',
    description: 'The name of an event.',
    enum: [...EVENT_FILTERS],
    'x-code': 'BAD_EVENT',
  }),
  minItems: 1,
  maxItems: EVENTS_MAX,
})
export const endpoint = named(
  'WebhookEndpoint',
  object('The endpoint.', {
    id: text('Names it.'),
    url: text('Where deliveries go.'),
    events: list('What is delivered.', text('The name of an event.')),
    status: { type: 'string', description: 'Whether anything is delivered.', enum: ['enabled', 'disabled'] },
    disabled_reason: textOrNull('Why nothing is; null when it is.'),
    failing_since: textOrNull('Since when no delivery has succeeded; null while they do.'),
    last_error: textOrNull('How the last one failed; null when it did not.'),
    previous_secret_until: textOrNull('Until then the secret before the last rotation signs as well.'),
    created_at: text('When it was made.'),
    updated_at: text('When it was last changed.'),
  }),
)
const secret = text('Signs every delivery. Shown this once.')
export const wrapped = named('OneWebhookEndpoint', {
  description: 'The endpoint.',
  schema: object('The endpoint.', { endpoint }),
})
export const withSecret = named('WebhookEndpointWithSecret', {
  description: 'The endpoint, with its new secret.',
  schema: object('The endpoint.', { endpoint, secret }),
})
export const delivery = named(
  'WebhookDelivery',
  object('One attempt.', {
    id: text('Names it.'),
    event_id: text('The same in every attempt of one event, here and in webhook-id.'),
    type: text('The name of the event.'),
    sequence: whole('The place of the event among those of the account.'),
    attempt: whole('Which one of its schedule, from 1.'),
    state: { type: 'string', description: 'How it stands.', enum: [...DELIVERY_STATES] },
    status: { type: ['integer', 'null'], description: 'The HTTP status that came back; null when none did.' },
    latency_ms: {
      type: ['integer', 'null'],
      description: 'From the look-up of the name to the last byte of the answer.',
    },
    error: textOrNull('Why it was no success; null when it was, or is still to come.'),
    response: textOrNull('The first kilobyte of the answer.'),
    next_attempt_at: textOrNull('When the next one is due; null when none is.'),
    created_at: text('When it was queued.'),
    settled_at: textOrNull('When it ended; null while it has not.'),
  }),
)
export const oneDelivery = named('OneWebhookDelivery', object('The attempt.', { delivery }))
export const queued = (description: string, schema: JsonSchema) => ({
  description,
  schema,
  headers: POLL_HEADERS,
})
export const event = named(
  'Event',
  object('One event, as it is delivered.', {
    id: text('Names it; the same in every delivery.'),
    type: text('The name of the event.'),
    created_at: text('When it happened.'),
    sequence: whole('Its place among the events of the account, from 1 without a gap.'),
    object_sequence: whole('Its place among the events of its object, from 1 without a gap.'),
    test: flag('It is of a test.'),
    data: { type: 'object', description: 'The object under its name: ids, state, amounts, reference and metadata.' },
  }),
)

export const sequence = (description: string): JsonSchema => ({
  ...whole(description),
  minimum: 0,
  maximum: SEQUENCE_MAX,
})
