/** The routes of apps as data: what the server serves and what the OpenAPI document says (rules/app.md#the-app). */
import { appAnswer, envAnswer, operationAnswer, readinessAnswer, releaseAnswer } from '../../crds/app/answer.ts'
import { ENV_CHOICES, spec } from '../../crds/app/schema.ts'
import { named } from '../../crds/kernel/named.ts'
import type { ProblemCode } from '../../crds/kernel/problem.ts'
import { type JsonSchema, restSchema } from '../../crds/kernel/rest.ts'
import type { AnswerDeclaration } from '../http/route.ts'
import { pageQuery, paging } from '../openapi/paging.ts'
import { list, object, pendingOf, pendingWith, text } from '../openapi/schemas.ts'
import type { Route } from '../wiring/route.ts'
import { cancelOperation } from './ask.ts'
import { getCapabilities } from './capabilities.ts'
import { deleteApp, patchApp } from './change.ts'
import { createApp } from './create.ts'
import { deployApp, rollbackApp } from './deploy.ts'
import { ENV_VALUE_MAX, getEnv, patchEnv, putEnv } from './env.ts'
import { getLogs, TAIL_DEFAULT, TAIL_MAX } from './logs.ts'
import type { AppNeeds } from './needs.ts'
import { apps, getOperation, getReadiness, listReleases } from './read.ts'
import { UPLOAD_MAX_BYTES } from './upload.ts'

const tag = 'Apps'
const reads = { tag, scope: { kind: 'scope', scope: 'apps:read' } } as const
const manages = { tag, scope: { kind: 'scope', scope: 'apps:manage' }, capability: 'app.deploy' } as const
const one = '/api/apps/:id'
const dryRun = {
  dry_run: named('DryRun', { ...text('1: tell what would happen, and do nothing.'), enum: ['1'] }),
}

const password: JsonSchema = {
  type: 'string',
  description: 'Opens a private app. Kept as a slow hash; never shown.',
  minLength: 8,
  maxLength: 200,
}
const shown = restSchema(spec)
const fields = shown.properties as Record<string, JsonSchema>
const createBody: JsonSchema = { ...shown, required: ['slug'], properties: { ...fields, password } }
const patched = restSchema(spec, { partial: true })
const patchBody: JsonSchema = {
  ...patched,
  properties: { ...(patched.properties as Record<string, JsonSchema>), password },
}

const envBody = (value: JsonSchema): JsonSchema => ({
  ...object('Names and values.', {
    env: { type: 'object', description: 'Names and values.', maxProperties: 500, additionalProperties: value },
  }),
  required: ['env'],
  additionalProperties: false,
})
const value = { description: 'The value; it is never shown again.', maxLength: ENV_VALUE_MAX, 'x-code': 'BAD_ENV' }

const wrapped = named('OneApp', object('The app.', { app: appAnswer }))
const pendingApp = pendingOf('PendingApp', 'Written; the verdict is still to come.', { app: appAnswer })
const asked = { operation_id: text('Names the operation.'), operation: operationAnswer }
const pendingOperation = pendingOf('PendingOperation', 'It waits or runs. Poll the address in Location.', {
  operation: operationAnswer,
})
const operated: Record<number, AnswerDeclaration> = {
  200: named('EndedOperation', {
    description: 'It has ended; operation.state says how. With dry_run: the plan.',
    schema: object('What came of it.', {
      ...asked,
      release: releaseAnswer,
      app: appAnswer,
      plan: { type: 'object', description: 'With dry_run: what would happen.' },
    }),
  }),
  202: pendingOperation,
}
const HOST_CODES: ProblemCode[] = ['HOST_MISSING', 'HOST_NOT_APPROVED', 'HOST_UNFIT']

export const appRoutes: Route<AppNeeds>[] = [
  {
    ...reads,
    method: 'GET',
    path: '/api/apps/publishing-capabilities',
    summary: 'What publishing is enabled',
    answers: { 200: { description: 'What this account may do, and where.', schema: getCapabilities.schema } },
    codes: [],
    handle: getCapabilities.handle,
  },
  {
    ...reads,
    method: 'GET',
    path: '/api/apps/operations/:operationId',
    summary: 'Read an operation',
    answers: {
      200: { description: 'The operation.', schema: object('The operation.', { operation: operationAnswer }) },
    },
    codes: ['NOT_FOUND'],
    handle: getOperation,
  },
  {
    ...manages,
    method: 'POST',
    path: '/api/apps/operations/:operationId/cancel',
    summary: 'Cancel an operation',
    description: 'Until the switch; the release before it goes on serving.',
    answers: {
      200: { description: 'It has ended.', schema: object('The operation.', asked) },
      202: pendingOperation,
    },
    codes: ['NOT_FOUND', 'TOO_LATE'],
    handle: cancelOperation,
  },
  {
    ...reads,
    method: 'GET',
    path: '/api/apps',
    summary: 'List apps',
    description: 'Newest first.',
    query: pageQuery,
    answers: {
      200: {
        description: 'One page.',
        schema: object('One page.', { apps: list('Newest first.', appAnswer), ...paging }),
      },
    },
    codes: [],
    handle: apps.list,
  },
  {
    ...manages,
    method: 'POST',
    path: '/api/apps',
    summary: 'Create an app',
    body: createBody,
    answers: { 201: { description: 'Made.', schema: wrapped }, 202: pendingApp },
    codes: ['NAME_TAKEN', 'SLUG_TAKEN', 'NO_HOST', ...HOST_CODES, 'PASSWORD_REQUIRED', 'APP_LIMIT'],
    handle: createApp,
  },
  {
    ...reads,
    method: 'GET',
    path: one,
    summary: 'Read an app',
    answers: { 200: { description: 'The app.', schema: wrapped } },
    codes: ['NOT_FOUND'],
    handle: apps.get,
  },
  {
    ...manages,
    method: 'PATCH',
    path: one,
    summary: 'Change an app',
    description: 'Access, password, policy, route and budget. Nothing is built or restarted.',
    body: patchBody,
    answers: { 200: { description: 'The app.', schema: wrapped }, 202: pendingApp },
    codes: ['NOT_FOUND', 'PASSWORD_REQUIRED', 'SLUG_TAKEN'],
    handle: patchApp,
  },
  {
    ...manages,
    method: 'DELETE',
    path: one,
    summary: 'Delete an app',
    description: 'Takes it off its host. Volumes are kept for the same account and name, or deleted, as it is said.',
    query: { volumes: { type: 'string', description: 'What becomes of its volumes.', enum: ['keep', 'delete'] } },
    answers: { 204: { description: 'Gone.' }, 202: pendingApp },
    codes: ['NOT_FOUND', 'OPERATION_RUNNING', 'VOLUMES_AT_RISK'],
    handle: deleteApp,
  },
  {
    ...manages,
    method: 'POST',
    path: `${one}/deploy`,
    summary: 'Deploy an app',
    description:
      'The project as a gzip-compressed tar, or as JSON {compose, files: {path: base64 | {base64, mode}}}. The release is built and started beside the live one, and takes its visitors once it is healthy.',
    bodyMaxBytes: UPLOAD_MAX_BYTES,
    bytesTypes: ['application/gzip'],
    query: {
      ...dryRun,
      confirm_volumes: { type: 'string', description: 'Volumes that may be left behind, by commas.', maxLength: 2_048 },
    },
    answers: operated,
    codes: [
      'NOT_FOUND',
      'BAD_ARCHIVE',
      'UNSAFE_PATH',
      'ARCHIVE_TOO_LARGE',
      'NO_COMPOSE_FILE',
      'COMPOSE_REFUSED',
      'QUEUE_FULL',
      ...HOST_CODES,
      'HOST_NOT_ISOLATED',
    ],
    handle: deployApp,
  },
  {
    ...manages,
    method: 'POST',
    path: `${one}/rollback`,
    summary: 'Roll an app back',
    description: 'A new release from an earlier one, without a build. Migrations are not undone.',
    query: dryRun,
    body: {
      ...object('Which release, with which env.', {
        release: { type: ['integer', 'string'], description: 'Its number or its id.' },
        env: {
          type: 'string',
          description: 'As it was with that release, or as it is applied now.',
          enum: [...ENV_CHOICES],
        },
      }),
      required: ['release'],
      additionalProperties: false,
    },
    answers: operated,
    codes: ['NOT_FOUND', 'UNKNOWN_RELEASE', 'QUEUE_FULL', ...HOST_CODES],
    handle: rollbackApp,
  },
  {
    ...reads,
    method: 'GET',
    path: `${one}/releases`,
    summary: 'List the releases of an app',
    query: pageQuery,
    answers: {
      200: {
        description: 'Newest first.',
        schema: object('One page.', { releases: list('Newest first.', releaseAnswer), ...paging }),
      },
    },
    codes: ['NOT_FOUND'],
    handle: listReleases,
  },
  {
    ...reads,
    method: 'GET',
    path: `${one}/env`,
    summary: 'Read the names in the env of an app',
    answers: { 200: { description: 'Names and versions.', schema: object('The env.', { env: envAnswer }) } },
    codes: ['NOT_FOUND'],
    handle: getEnv,
  },
  {
    ...manages,
    method: 'PATCH',
    path: `${one}/env`,
    summary: 'Change the env of an app',
    description:
      'Merges: null removes a name, others stay. The live release is started anew with it, beside the old one.',
    body: envBody({ type: ['string', 'null'], ...value }),
    answers: operated,
    codes: ['NOT_FOUND', 'BAD_ENV', 'QUEUE_FULL'],
    handle: patchEnv,
  },
  {
    ...manages,
    method: 'PUT',
    path: `${one}/env`,
    summary: 'Replace the env of an app',
    description: 'Stored only: the next deploy applies it.',
    body: envBody({ type: 'string', ...value }),
    answers: {
      200: { description: 'Names and versions.', schema: object('The env.', { env: envAnswer }) },
      202: pendingWith('Stored; the app has not taken it in yet.', { env: envAnswer }),
    },
    codes: ['NOT_FOUND', 'BAD_ENV'],
    handle: putEnv,
  },
  {
    ...reads,
    method: 'GET',
    path: `${one}/logs`,
    summary: 'Read the log of an app',
    description:
      'With follow=1 as server-sent events, one line each, for ten minutes. Values of the env are blackened.',
    query: {
      tail: {
        ...text(`Lines of each service, 1 to ${TAIL_MAX}; ${TAIL_DEFAULT} when left out.`),
        pattern: '^([1-9]\\d{0,2}|1000)$',
      },
      follow: { type: 'string', description: '1: go on as lines come.', enum: ['0', '1'] },
    },
    answers: { 200: { description: 'The lines.', contentType: 'text/plain' } },
    codes: ['NOT_FOUND', 'NOT_RELEASED', 'UNAVAILABLE'],
    handle: getLogs,
  },
  {
    ...reads,
    method: 'GET',
    path: `${one}/readiness`,
    summary: 'Whether an app answers',
    answers: { 200: { description: 'What is known.', schema: object('Readiness.', { readiness: readinessAnswer }) } },
    codes: ['NOT_FOUND'],
    handle: getReadiness,
  },
]
