/** Routes of previews: branches of an app beside it, each with an end (rules/app.md#previews). */
import { appAnswer } from '../../../../crds/app/answer.ts'
import { PREVIEWS_MAX, TTL_PATTERN } from '../../../../crds/app/lifecycle/publishing/preview.ts'
import { PREVIEW_ENDS } from '../../../../crds/app/lifecycle/publishing/previewed.ts'
import { ACCESSES } from '../../../../crds/app/schema.ts'
import { named } from '../../../../crds/kernel/named.ts'
import { pageQuery, paging } from '../../../openapi/paging.ts'
import { closed, list, object, oneOf, pendingOf, text, textOrNull } from '../../../openapi/schemas.ts'
import type { Route } from '../../../wiring/route.ts'
import type { AppNeeds } from '../../needs.ts'
import { ENV_VALUE_MAX } from '../../running/env.ts'
import { UPLOAD_CODES } from '../../sources/codes.ts'
import { createPreview } from './create.ts'
import { deletePreview } from './delete.ts'
import { getPreview, listPreviews, PREVIEW_STATES } from './shown.ts'

const tag = 'Apps'
const reads = { tag, scope: { kind: 'scope', scope: 'apps:read' } } as const
const manages = { tag, scope: { kind: 'scope', scope: 'apps:manage' }, capability: 'app.deploy' } as const
const all = '/api/apps/:id/previews'
const one = `${all}/:preview`

const previewAnswer = named(
  'AppPreview',
  object('A branch of an app under a name of its own, until an end.', {
    id: text('Names the preview, and the app that it is.'),
    app: text('The app that it is of.'),
    ref: text('The branch, tag or commit.'),
    state: oneOf('How it stands; ended: nothing of it is left.', PREVIEW_STATES),
    hostname: textOrNull('Its name in the DNS.'),
    url: textOrNull('Where visitors reach it.'),
    access: textOrNull('Who may see it.'),
    release: { type: ['integer', 'null'], description: 'The number of the release that is live.' },
    operation_id: textOrNull('The operation that runs or ran last, by which it is followed.'),
    created_at: text('When it was asked for.'),
    expires_at: text('When it ends by itself.'),
    ended_at: textOrNull('When nothing of it was left.'),
    reason: textOrNull(`Why it ended: ${PREVIEW_ENDS.join(' or ')}.`),
  }),
)

const body = {
  ...closed(
    object('Which branch, and for how long.', {
      ref: { ...text('A branch, a tag or a whole commit.'), minLength: 1, maxLength: 200 },
      git: closed(
        object('The repository; the one that the app was last deployed from when left out.', {
          url: { ...text('Over https, without a login.'), maxLength: 2_048 },
        }),
      ),
      ttl: { ...text('How long it lasts, as 90m, 12h or 3d; seven days when left out.'), pattern: TTL_PATTERN },
      expires_at: { ...text('When it ends, in place of ttl; 30 days from now at most.'), format: 'date-time' },
      env: {
        type: 'object',
        description: 'Names and values; those of the app when left out, as they are stored now.',
        maxProperties: 500,
        additionalProperties: {
          type: 'string',
          description: 'The value; it is never shown again.',
          maxLength: ENV_VALUE_MAX,
          'x-code': 'BAD_ENV',
        },
      },
      access: oneOf('private when left out: behind a password.', ACCESSES),
      password: {
        ...text('Opens a private preview; one is made and told once when left out.'),
        minLength: 8,
        maxLength: 200,
      },
    }),
  ),
  required: ['ref'],
}

const wrapped = object('The preview.', { preview: previewAnswer })
const made = named(
  'MadePreview',
  object('The preview, and the app that it is.', {
    preview: previewAnswer,
    app: appAnswer,
    password: text('What opens it, where the platform made it.'),
  }),
)

export const previewRoutes: Route<AppNeeds>[] = [
  {
    ...reads,
    method: 'GET',
    path: all,
    summary: 'List the previews of an app',
    description: 'Newest first, with those that ended in the last 30 days.',
    query: pageQuery,
    answers: {
      200: {
        description: 'One page.',
        schema: object('One page.', { previews: list('Newest first.', previewAnswer), ...paging }),
      },
    },
    codes: ['NOT_FOUND'],
    handle: listPreviews,
  },
  {
    ...manages,
    method: 'POST',
    path: all,
    summary: 'Make a preview of a branch',
    description: `The branch is fetched from its repository and becomes an app of its own beside the live one, at <branch>--<app> below the same base domain: with its own containers, networks and fresh volumes, within a budget like that of the app, which counts on the host. Search engines are told to leave it out, and it is private unless access says otherwise. The same branch again replaces it. At its end all of it goes, volumes too. ${PREVIEWS_MAX} of one app at a time.`,
    body,
    answers: {
      200: { description: 'Replaced: the branch as it is now is being deployed.', schema: made },
      201: { description: 'Made; its first release is being deployed.', schema: made },
      202: pendingOf('PendingPreview', 'Written; the verdict is still to come.', { preview: previewAnswer }),
    },
    codes: [
      ...(['NOT_FOUND', 'BAD_PREVIEW', 'PREVIEW_LIMIT', 'PREVIEW_TAKEN', 'SLUG_TAKEN', 'NAME_TAKEN'] as const),
      ...(['HOST_FULL', 'HOST_MISSING', 'HOST_NOT_APPROVED', 'HOST_UNFIT', 'HOST_NOT_ISOLATED'] as const),
      ...(['APP_LIMIT', 'BAD_ENV', 'PASSWORD_REQUIRED'] as const),
      ...UPLOAD_CODES,
    ],
    handle: createPreview,
  },
  {
    ...reads,
    method: 'GET',
    path: one,
    summary: 'Read a preview',
    answers: { 200: { description: 'The preview.', schema: wrapped } },
    codes: ['NOT_FOUND'],
    handle: getPreview,
  },
  {
    ...manages,
    method: 'DELETE',
    path: one,
    summary: 'End a preview before its time',
    description: 'All of it goes: containers, route, volumes, env and logs. The app that it is of is not touched.',
    answers: {
      204: { description: 'Nothing of it is left.' },
      202: pendingOf('EndingPreview', 'It is going.', { app: appAnswer }),
    },
    codes: ['NOT_FOUND'],
    handle: deletePreview,
  },
]
