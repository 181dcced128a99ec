/** Routes of what an app has run beside what serves: commands, their output, schedules. */
import { appAnswer, operationAnswer, releaseAnswer } from '../../../crds/app/answer.ts'
import { scheduleAnswer } from '../../../crds/app/runs/answer.ts'
import { command, service, TIMEOUT_MAX_SECONDS, timeoutOf } from '../../../crds/app/runs/schema.ts'
import { spec } from '../../../crds/app/schema.ts'
import { restSchema } from '../../../crds/kernel/rest.ts'
import { list, object, pendingOf, text } from '../../openapi/schemas.ts'
import type { Route } from '../../wiring/route.ts'
import type { AppNeeds } from '../needs.ts'
import { ENV_VALUE_MAX } from './env.ts'
import { getOutput } from './output.ts'
import { runInApp } from './run.ts'
import { scaleApp } from './scale.ts'
import { getSchedules } from './schedules.ts'

const tag = 'Apps'
const reads = { tag, scope: { kind: 'scope', scope: 'apps:read' } } as const
const manages = { tag, scope: { kind: 'scope', scope: 'apps:manage' }, capability: 'app.deploy' } as const
const one = '/api/apps/:id'

const asked = restSchema({
  type: 'object',
  description: 'What is run.',
  required: ['service', 'command'],
  properties: { service, command, timeoutSeconds: timeoutOf(TIMEOUT_MAX_SECONDS) },
})
const runBody = {
  ...asked,
  properties: {
    ...(asked.properties as object),
    env: {
      type: 'object',
      description: 'Names and values, over those of the service. They are forgotten when it has ended.',
      maxProperties: 100,
      additionalProperties: {
        type: 'string',
        description: 'The value; it is never shown again.',
        maxLength: ENV_VALUE_MAX,
        'x-code': 'BAD_ENV',
      },
    },
  },
}

const scaleBody = restSchema({
  type: 'object',
  description: 'How many are to run.',
  required: ['replicas'],
  properties: { replicas: spec.properties.replicas },
})

const operated = { operation_id: text('Names the operation.'), operation: operationAnswer }

export const runRoutes: Route<AppNeeds>[] = [
  {
    ...manages,
    method: 'POST',
    path: `${one}/scale`,
    summary: 'Scale an app',
    description:
      'So many containers of the routed service side by side. What runs goes on: what is added is started beside it and takes visitors once it answers; what leaves takes no new ones, ends what was begun on it, and goes. No release is made, and the next ones keep the number. A service that keeps something has one.',
    body: scaleBody,
    answers: {
      200: {
        description: 'It has ended; operation.state says how.',
        schema: object('What came of it.', { ...operated, release: releaseAnswer, app: appAnswer }),
      },
      202: pendingOf('PendingScale', 'It waits or runs. Poll the address in Location.', { operation: operationAnswer }),
    },
    codes: [
      ...(['NOT_FOUND', 'HOST_FULL', 'REPLICAS_REFUSED', 'QUEUE_FULL'] as const),
      ...(['HOST_MISSING', 'HOST_NOT_APPROVED', 'HOST_UNFIT'] as const),
    ],
    handle: scaleApp,
  },
  {
    ...manages,
    method: 'POST',
    path: `${one}/run`,
    summary: 'Run a command in an app',
    description:
      'In a container of its own of the live release, with the image, env, networks, mounts and limits of a service, without its ports and without stdin. At most three run at once; a release in progress neither waits for them nor ends them.',
    body: runBody,
    answers: {
      200: {
        description: 'It has ended; operation.result.exit_code says how.',
        schema: object('What came of it.', operated),
      },
      202: pendingOf('PendingRun', 'It waits or runs. Poll the address in Location, or follow its output.', {
        operation: operationAnswer,
      }),
    },
    codes: ['NOT_FOUND', 'NOT_RELEASED', 'BAD_ENV', 'QUEUE_FULL'],
    handle: runInApp,
  },
  {
    ...reads,
    method: 'GET',
    path: `${one}/operations/:operationId/output`,
    summary: 'Read the output of a command',
    description:
      'Of a run, or of the command before or after a release. The last 256 KiB are kept; values of the env are blackened. With follow=1 as server-sent events, one line each, whose id is the byte to go on from; the last event is end, with state and exit_code.',
    query: {
      follow: { type: 'string', description: '1: go on as lines come, for ten minutes.', enum: ['0', '1'] },
      offset: { ...text('The byte to begin at; 0 when left out.'), pattern: '^\\d{1,15}$' },
      step: { type: 'string', description: 'Which command of a deploy.', enum: ['pre_release', 'post_release'] },
    },
    answers: {
      200: {
        description: 'What was printed.',
        contentType: 'text/plain',
        orAs: ['text/event-stream'],
        headers: {
          'output-first': 'The byte that this begins at.',
          'output-next': 'The byte to go on from.',
          'output-dropped': 'How many bytes are not kept any more.',
          'output-state': 'How the command stands.',
        },
      },
    },
    codes: ['NOT_FOUND'],
    handle: getOutput,
  },
  {
    ...reads,
    method: 'GET',
    path: `${one}/schedules`,
    summary: 'List the schedules of an app',
    description: 'With their last runs. They are set by PATCH of the app.',
    answers: {
      200: {
        description: 'All of them.',
        schema: object('All of them.', { schedules: list('In their order.', scheduleAnswer) }),
      },
    },
    codes: ['NOT_FOUND'],
    handle: getSchedules,
  },
]
