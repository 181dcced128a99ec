/** The routes of logs as data. */

import { KEPT_STEPS } from '../../../controllers/store/app/logs.ts'
import { healthAnswer } from '../../../crds/app/answer.ts'
import { episodeAnswer } from '../../../crds/app/lifecycle/health/history.ts'
import { usageAnswer } from '../../../crds/app/lifecycle/usage/answer.ts'
import { pageQuery, paging } from '../../openapi/paging.ts'
import { list, object, text } from '../../openapi/schemas.ts'
import type { Route } from '../../wiring/route.ts'
import type { AppNeeds } from '../needs.ts'
import { getHealth } from './health.ts'
import { getOperationLogs } from './kept.ts'
import { getLogs, SINCE_PATTERN, TAIL_DEFAULT, TAIL_MAX } from './running.ts'
import { getUsage, INSTANT_PATTERN, KEPT_DAYS } from './usage.ts'

const reads = { tag: 'Apps', scope: { kind: 'scope', scope: 'apps:read' } } as const
const follow = { type: 'string', description: '1: go on as lines come.', enum: ['0', '1'] } as const
const answers = { 200: { description: 'The lines.', contentType: 'text/plain', orAs: ['text/event-stream'] } }

export const logRoutes: Route<AppNeeds>[] = [
  {
    ...reads,
    method: 'GET',
    path: '/api/apps/:id/operations/:operationId/logs',
    summary: 'Read what an operation builds and starts',
    description:
      'Lines of the build and of the start, as they come. With follow=1 as server-sent events until the operation has ended: the event is build, start or end, the id is the number of the line; Last-Event-ID or after goes on behind it. Values of the env are blackened. Kept for 30 releases and 30 days, failed ones too.',
    query: {
      follow,
      after: { ...text('The number of the last line that is known; 0 when left out.'), pattern: '^\\d{1,9}$' },
    },
    answers,
    codes: ['NOT_FOUND'],
    handle: getOperationLogs,
  },
  {
    ...reads,
    method: 'GET',
    path: '/api/apps/:id/logs',
    summary: 'Read the log of an app',
    description:
      'Of the live release as it runs, in the order of the instants that lines begin with; of others what is kept of them. With follow=1 as server-sent events, one line each, for ten minutes; the id is the instant, and Last-Event-ID or since goes on behind it. Values of the env are blackened.',
    query: {
      tail: {
        ...text(`Lines of each service, 1 to ${TAIL_MAX}; ${TAIL_DEFAULT} when left out. Not with since.`),
        pattern: '^([1-9]\\d{0,2}|1000)$',
      },
      follow,
      service: { ...text('Of this service alone.'), maxLength: 63, pattern: '^[a-zA-Z0-9._-]+$' },
      since: { ...text('Lines after this instant, or of so long: 10m, 2h.'), maxLength: 40, pattern: SINCE_PATTERN },
      release: { ...text('The number of a release; the live one when left out.'), pattern: '^[1-9]\\d{0,8}$' },
      step: {
        type: 'string',
        description:
          'run: what its services say; build, start: how it was made. Of a release that runs no more all, when left out.',
        enum: [...KEPT_STEPS],
      },
    },
    answers,
    codes: ['NOT_FOUND', 'NOT_RELEASED', 'UNKNOWN_RELEASE', 'TOO_MANY_REQUESTS', 'UNAVAILABLE'],
    handle: getLogs,
  },
  {
    ...reads,
    method: 'GET',
    path: '/api/apps/:id/metrics',
    summary: 'What an app was asked and what it used',
    description: `By the minute, or wider where a span has many; kept for ${KEPT_DAYS} days, at most half a minute behind.`,
    query: {
      from: { ...text('The first instant; a day before to when left out.'), maxLength: 32, pattern: INSTANT_PATTERN },
      to: { ...text('The instant behind the last; now when left out.'), maxLength: 32, pattern: INSTANT_PATTERN },
    },
    answers: {
      200: { description: 'Points for a graph.', schema: object('Points for a graph.', { metrics: usageAnswer }) },
    },
    codes: ['NOT_FOUND'],
    handle: getUsage,
  },
  {
    ...reads,
    method: 'GET',
    path: '/api/apps/:id/health',
    summary: 'How an app is, and when it was not as it is to be',
    description:
      'What was found by looks at its host, what was tried, and when all was well again: the last hundred times.',
    query: pageQuery,
    answers: {
      200: {
        description: 'Newest first.',
        schema: object('One page.', {
          health: healthAnswer,
          episodes: list('Newest first.', episodeAnswer),
          ...paging,
        }),
      },
    },
    codes: ['NOT_FOUND'],
    handle: getHealth,
  },
]
