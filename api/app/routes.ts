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
import { confirmDowntime, deployApp } from './deploy.ts'
import { backupRoutes } from './keeping/routes.ts'
import { logRoutes } from './logs/routes.ts'
import type { AppNeeds } from './needs.ts'
import { previewRoutes } from './publishing/previews/routes.ts'
import { apps, getApp, getOperation, getReadiness, listReleases } from './read.ts'
import { getEnv, patchEnv, putEnv } from './running/env.ts'
import { envBody, value } from './running/env-body.ts'
import { runRoutes } from './running/routes.ts'
import { RESTORE_CODES, UPLOAD_CODES } from './sources/codes.ts'
import { restoreRelease } from './sources/rebuild.ts'
import { UPLOAD_MAX_BYTES } from './sources/upload.ts'

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
// Another host is a move, which is an operation.
const { host_id: _host, ...patchable } = patched.properties as Record<string, JsonSchema>
const patchBody: JsonSchema = { ...patched, properties: { ...patchable, password } }

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
    codes: [
      'NAME_TAKEN',
      'SLUG_TAKEN',
      'HOST_FULL',
      'HOST_CORDONED',
      'NO_HOST',
      ...HOST_CODES,
      'PASSWORD_REQUIRED',
      'APP_LIMIT',
    ],
    handle: createApp,
  },
  {
    ...reads,
    method: 'GET',
    path: one,
    summary: 'Read an app',
    answers: {
      200: {
        description: 'The app.',
        schema: wrapped,
        headers: { etag: 'Names it as it is; a PATCH may send it as If-Match.' },
      },
    },
    codes: ['NOT_FOUND'],
    handle: getApp,
  },
  {
    ...manages,
    method: 'PATCH',
    path: one,
    summary: 'Change an app',
    description:
      'Access, password, policy, route, budget and replicas. Nothing is built or restarted; what runs is given its budget at once, and is scaled by an operation of its own.',
    body: patchBody,
    answers: { 200: { description: 'The app.', schema: wrapped }, 202: pendingApp },
    codes: [
      ...(['NOT_FOUND', 'PASSWORD_REQUIRED', 'SLUG_TAKEN', 'PRECONDITION_FAILED'] as const),
      ...(['HOST_MISSING', 'HOST_FULL', 'BUDGET_REFUSED', 'REPLICAS_REFUSED'] as const),
    ],
    handle: patchApp,
  },
  {
    ...manages,
    method: 'DELETE',
    path: one,
    summary: 'Delete an app',
    description:
      'Takes it off its host. Volumes are kept for the same account and name, or deleted, as it is said; its backups go with it.',
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
      'The project as a gzip-compressed tar, or as JSON {compose, files: {path: base64 | {base64, mode}}}; or {source}, the digest of an upload of before; or {git: {url, ref}}, a branch, tag or commit of a repository over https, which is fetched. Without a compose file the project is recognised, and given one that the dry run shows. The release is built and started beside the live one, and takes its visitors once it is healthy.',
    bodyMaxBytes: UPLOAD_MAX_BYTES,
    bytesTypes: ['application/gzip'],
    query: {
      ...dryRun,
      ...confirmDowntime,
      confirm_volumes: { type: 'string', description: 'Volumes that may be left behind, by commas.', maxLength: 2_048 },
    },
    answers: operated,
    codes: [
      ...(['NOT_FOUND', ...UPLOAD_CODES, 'FIELD_IN_MANIFEST', 'DOWNTIME_NOT_CONFIRMED', 'APP_STORAGE'] as const),
      ...(['QUEUE_FULL', ...HOST_CODES, 'HOST_NOT_ISOLATED'] as const),
    ],
    handle: deployApp,
  },
  {
    ...manages,
    method: 'POST',
    path: `${one}/rollback`,
    summary: 'Roll an app back',
    description:
      'A new release from an earlier one, without a build; with rebuild: true from the upload of that release, which is built again. GET …/releases tells what can be restored. Migrations are not undone.',
    query: { ...dryRun, ...confirmDowntime },
    body: {
      ...object('Which release, with which env.', {
        release: { type: ['integer', 'string'], description: 'Its number or its id.' },
        env: {
          type: 'string',
          description: 'As it was with that release, or as it is applied now.',
          enum: [...ENV_CHOICES],
        },
        rebuild: { type: 'boolean', description: 'Builds its upload again, where its images are no longer kept.' },
      }),
      required: ['release'],
      additionalProperties: false,
    },
    answers: operated,
    codes: [
      ...(['NOT_FOUND', ...RESTORE_CODES, 'FIELD_IN_MANIFEST', 'DOWNTIME_NOT_CONFIRMED', 'APP_STORAGE'] as const),
      ...(['QUEUE_FULL', ...HOST_CODES] as const),
    ],
    handle: restoreRelease,
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
    query: confirmDowntime,
    body: envBody({ type: ['string', 'null'], ...value }),
    answers: operated,
    codes: ['NOT_FOUND', 'BAD_ENV', 'FIELD_IN_MANIFEST', 'DOWNTIME_NOT_CONFIRMED', 'QUEUE_FULL'],
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
  ...logRoutes,
  {
    ...reads,
    method: 'GET',
    path: `${one}/readiness`,
    summary: 'Whether an app answers',
    answers: { 200: { description: 'What is known.', schema: object('Readiness.', { readiness: readinessAnswer }) } },
    codes: ['NOT_FOUND'],
    handle: getReadiness,
  },
  ...runRoutes,
  ...backupRoutes,
  ...previewRoutes,
]
