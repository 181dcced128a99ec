/** The routes of webhooks as data (spec/1 Endpoints; CONTRACT section 4, Webhooks). */
import { EVENT_FILTERS } from '../crds/event.ts'
import type { JsonSchema } from '../crds/rest.ts'
import { URL_MAX } from '../crds/webhook/endpoint.ts'
import { DELIVERY_STATES } from '../crds/webhook/log.ts'
import type { Route } from './route.ts'
import { list, object, paging, text, textOrNull, whole, withExamples } from './schemas.ts'
import {
  getDelivery,
  listDeliveries,
  listEvents,
  pingEndpoint,
  REDELIVER_MAX,
  redeliverOne,
  redeliverRange,
} from './webhook/deliveries.ts'
import {
  createEndpoint,
  deleteEndpoint,
  getEndpoint,
  listEndpoints,
  patchEndpoint,
  rotateSecret,
  WEBHOOKS,
} from './webhook/endpoints.ts'

const common = { tag: 'Webhooks', scope: { kind: 'scope', scope: 'webhooks:manage' } } as const
const one = `${WEBHOOKS}/:id`
const EVENTS_MAX = EVENT_FILTERS.length
const SEQUENCE_MAX = Number.MAX_SAFE_INTEGER

const url: JsonSchema = {
  type: 'string',
  description: 'A public https address without credentials.',
  minLength: 1,
  maxLength: URL_MAX,
}
const events: JsonSchema = {
  ...list('What is delivered; * is everything, invoice.* all of invoices. All when left out.', {
    type: 'string',
    description: 'The name of an event.',
    enum: [...EVENT_FILTERS],
    'x-code': 'BAD_EVENT',
  }),
  minItems: 1,
  maxItems: EVENTS_MAX,
}
const endpoint = object('The endpoint.', {
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
})
const secret = text('Signs every delivery. Shown this once.')
const wrapped = { description: 'The endpoint.', schema: object('The endpoint.', { endpoint }) }
const withSecret = {
  description: 'The endpoint, with its new secret.',
  schema: object('The endpoint.', { endpoint, secret }),
}
const delivery = object('One attempt.', {
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
})
const oneDelivery = object('The attempt.', { delivery })
const queued = (description: string, schema: JsonSchema) => ({
  description,
  schema,
  headers: { location: 'Where to poll.', 'retry-after': 'Seconds to wait before that.' },
})
const event = object('One event, as it is delivered.', {
  id: text('Names it; the same in every delivery.'),
  type: text('The name of the event.'),
  created_at: text('When it happened.'),
  sequence: whole('Its place among the events of the account, from 1 without a gap.'),
  object_sequence: whole('Its place among the events of its object, from 1 without a gap.'),
  test: { type: 'boolean', description: 'It is of a test.' },
  data: { type: 'object', description: 'The object under its name: ids, state, amounts, reference and metadata.' },
})

const closed = (schema: JsonSchema, required: string[] = []): JsonSchema => ({
  ...schema,
  additionalProperties: false,
  ...(required.length > 0 && { required }),
})
const sequence = (description: string): JsonSchema => ({ ...whole(description), minimum: 0, maximum: SEQUENCE_MAX })
const digits = (description: string, pattern: string): JsonSchema => ({ type: 'string', description, pattern })
const LIMIT = digits('How many, 1 to 200; 50 when left out.', '^([1-9]\\d?|1\\d\\d|200)$')
const OFFSET = digits('How many to skip.', '^\\d{1,9}$')

const endpointRoutes: Route[] = [
  {
    ...common,
    method: 'POST',
    path: WEBHOOKS,
    summary: 'Create a webhook endpoint',
    description:
      'The secret is shown once. The same url and events again answer 200 with the endpoint that is there, and no secret.',
    body: withExamples(
      closed(object('The endpoint to make.', { url, events }), ['url']),
      { url: 'https://example.com/hooks', events: ['invoice.paid', 'invoice.overdue'] },
      { url: 'https://example.com/all' },
    ),
    answers: { 200: wrapped, 201: { ...withSecret, headers: { location: 'The endpoint.' } } },
    codes: ['BAD_URL', 'BAD_EVENT', 'ENDPOINT_LIMIT'],
    handle: createEndpoint,
  },
  {
    ...common,
    method: 'GET',
    path: WEBHOOKS,
    summary: 'List webhook endpoints',
    answers: {
      200: {
        description: 'All of the account.',
        schema: object('All.', { endpoints: list('As they were made.', endpoint), total: whole('How many.') }),
      },
    },
    codes: [],
    handle: listEndpoints,
  },
  {
    ...common,
    method: 'GET',
    path: one,
    summary: 'Read a webhook endpoint',
    answers: { 200: wrapped },
    codes: ['NOT_FOUND'],
    handle: getEndpoint,
  },
  {
    ...common,
    method: 'PATCH',
    path: one,
    summary: 'Change a webhook endpoint',
    description:
      'Switched off, it is told nothing, and what waits for it is given up; switched on again, it can be sent what it missed.',
    body: withExamples(
      closed(
        object('What changes.', {
          url,
          events,
          status: { type: 'string', description: 'Whether anything is delivered.', enum: ['enabled', 'disabled'] },
        }),
      ),
      { events: ['*'] },
      { status: 'enabled' },
    ),
    answers: { 200: wrapped },
    codes: ['NOT_FOUND', 'BAD_URL', 'BAD_EVENT', 'ENDPOINT_EXISTS'],
    handle: patchEndpoint,
  },
  {
    ...common,
    method: 'DELETE',
    path: one,
    summary: 'Delete a webhook endpoint',
    description: 'With its delivery log; what waits for it is given up.',
    answers: { 204: { description: 'It is gone.' } },
    codes: ['NOT_FOUND'],
    handle: deleteEndpoint,
  },
  {
    ...common,
    method: 'POST',
    path: `${one}/rotate`,
    summary: 'Give a webhook endpoint a new secret',
    description: 'For 24 hours the new and the old one both sign, so that no receiver has to change at one instant.',
    answers: { 200: withSecret },
    codes: ['NOT_FOUND'],
    handle: rotateSecret,
  },
]

const deliveryRoutes: Route[] = [
  {
    ...common,
    method: 'POST',
    path: `${one}/test`,
    summary: 'Send a signed ping',
    description: 'One attempt, to this endpoint alone; the answer says what the receiver made of it.',
    answers: {
      200: { description: 'How it ended.', schema: oneDelivery },
      202: queued('It is still under way.', oneDelivery),
    },
    codes: ['NOT_FOUND'],
    handle: pingEndpoint,
  },
  {
    ...common,
    method: 'GET',
    path: `${one}/deliveries`,
    summary: 'Read the delivery log',
    description: 'One row per attempt, newest first.',
    query: {
      state: { type: 'string', description: 'Only those that stand like this.', enum: [...DELIVERY_STATES] },
      event_id: { type: 'string', description: 'Only those of this event.', maxLength: 64 },
      limit: LIMIT,
      offset: OFFSET,
    },
    answers: {
      200: {
        description: 'One page.',
        schema: object('One page.', { deliveries: list('Newest first.', delivery), ...paging }),
      },
    },
    codes: ['NOT_FOUND'],
    handle: listDeliveries,
  },
  {
    ...common,
    method: 'GET',
    path: `${one}/deliveries/:delivery`,
    summary: 'Read one delivery',
    answers: { 200: { description: 'The attempt.', schema: oneDelivery } },
    codes: ['NOT_FOUND'],
    handle: getDelivery,
  },
  {
    ...common,
    method: 'POST',
    path: `${one}/deliveries/:delivery/redeliver`,
    summary: 'Deliver an event again',
    description: 'With a schedule of its own. While an attempt of the same event still waits, that one is shown.',
    answers: { 202: queued('It is queued.', oneDelivery) },
    codes: ['NOT_FOUND', 'ENDPOINT_DISABLED'],
    handle: redeliverOne,
  },
  {
    ...common,
    method: 'POST',
    path: `${one}/redeliver`,
    summary: 'Deliver a range of events again',
    description: `All that the endpoint asks for after one sequence, ${REDELIVER_MAX} in a call; go on with last while more is true.`,
    body: withExamples(
      closed(
        object('Which ones.', {
          after: sequence('Those after this sequence.'),
          until: sequence('And up to this one; all when left out.'),
        }),
        ['after'],
      ),
      { after: 0 },
      { after: 10, until: 20 },
    ),
    answers: {
      202: queued(
        'They are queued.',
        object('What was queued.', {
          queued: whole('How many.'),
          last: whole('The sequence of the last one.'),
          more: { type: 'boolean', description: 'There may be more after last.' },
        }),
      ),
    },
    codes: ['NOT_FOUND', 'ENDPOINT_DISABLED'],
    handle: redeliverRange,
  },
  {
    ...common,
    method: 'GET',
    path: '/api/events',
    summary: 'Catch up with events',
    description:
      'All events of the account after a sequence, in their order, whether there are endpoints or not. Go on with last until it is newest.',
    query: {
      after: digits('The last sequence that was seen; 0 or left out for all.', '^\\d{1,15}$'),
      limit: LIMIT,
    },
    answers: {
      200: {
        description: 'One page.',
        schema: object('One page.', {
          events: list('Oldest first.', event),
          last: whole('The sequence of the last one of this page.'),
          newest: whole('The newest sequence of the account.'),
        }),
      },
    },
    codes: [],
    handle: listEvents,
  },
]

export const webhookRoutes: Route[] = [...endpointRoutes, ...deliveryRoutes]
