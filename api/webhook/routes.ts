/** The routes of webhooks as data (rules/webhook.md#endpoints). */
import { DELIVERY_STATES } from '../../crds/webhook/log.ts'
import { verifyAnswer, verifyBody } from '../../crds/webhook/verifyanswer.ts'
import { pageQuery, paging } from '../openapi/paging.ts'
import { closed, flag, list, object, text, whole, withExamples } from '../openapi/schemas.ts'
import type { Route } from '../wiring/route.ts'
import {
  getDelivery,
  listDeliveries,
  listEvents,
  pingEndpoint,
  REDELIVER_MAX,
  redeliverOne,
  redeliverRange,
} from './deliveries.ts'
import {
  createEndpoint,
  deleteEndpoint,
  getEndpoint,
  listEndpoints,
  patchEndpoint,
  rotateSecret,
  WEBHOOKS,
} from './endpoints.ts'
import type { WebhookNeeds } from './needs.ts'
import { delivery, endpoint, event, events, oneDelivery, queued, sequence, url, withSecret, wrapped } from './shapes.ts'
import { verifyDelivery } from './verify.ts'

const common = { tag: 'Webhooks', scope: { kind: 'scope', scope: 'webhooks:manage' } } as const
const one = `${WEBHOOKS}/:id`
const endpointRoutes: Route<WebhookNeeds>[] = [
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
    secretAnswer: true,
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
    secretAnswer: true,
    answers: { 200: withSecret },
    codes: ['NOT_FOUND'],
    handle: rotateSecret,
  },
]

const deliveryRoutes: Route<WebhookNeeds>[] = [
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
      ...pageQuery,
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
    description:
      'With a schedule of its own. While an attempt of the same event is planned, that one begins now and is shown.',
    answers: { 202: queued('It is queued.', oneDelivery) },
    codes: ['NOT_FOUND', 'ENDPOINT_DISABLED'],
    handle: redeliverOne,
  },
  {
    ...common,
    method: 'POST',
    path: `${one}/redeliver`,
    summary: 'Deliver a range of events again',
    description: `All that the endpoint asks for after one sequence, ${REDELIVER_MAX} in a call; what is planned for later begins now. Go on with last while more is true.`,
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
          more: flag('There may be more after last.'),
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
      after: { ...text('The last sequence that was seen; 0 or left out for all.'), pattern: '^\\d{1,15}$' },
      limit: pageQuery.limit,
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

const verifyRoute: Route<WebhookNeeds> = {
  ...common,
  method: 'POST',
  path: `${WEBHOOKS}/verify`,
  summary: 'Say why a check of a signature failed',
  description: 'Which of body, secret, clock or header is wrong, and how that most likely came. Nothing is stored.',
  looks: true,
  body: verifyBody,
  answers: { 200: { description: 'What was found.', schema: verifyAnswer } },
  codes: [],
  handle: verifyDelivery,
}

export const webhookRoutes: Route<WebhookNeeds>[] = [verifyRoute, ...endpointRoutes, ...deliveryRoutes]
