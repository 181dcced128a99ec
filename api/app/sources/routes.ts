/** The routes of uploads (rules/app.md#sources). */
import { recognisedAnswer } from '../../../crds/app/recognise/answer.ts'
import { named } from '../../../crds/kernel/named.ts'
import { pageQuery, paging } from '../../openapi/paging.ts'
import { list, object, text, whole } from '../../openapi/schemas.ts'
import type { Route } from '../../wiring/route.ts'
import type { AppNeeds } from '../needs.ts'
import { UPLOAD_CODES } from './codes.ts'
import { listSources, uploadSource } from './sources.ts'
import { UPLOAD_MAX_BYTES } from './upload.ts'

const path = '/api/apps/:id/sources'

const sourceAnswer = named(
  'AppSource',
  object('An upload.', {
    digest: text('Names its files, however they were packed.'),
    files: whole('How many there are.'),
    bytes: whole('All of them, before they are packed.'),
    created_at: text('When it was sent last.'),
    recognised: recognisedAnswer,
    git: {
      type: ['object', 'null'],
      description: 'Where it was fetched from; null for what was sent.',
      properties: { url: text('The repository.'), ref: text('As asked.'), commit: text('What that was then.') },
    },
    releases: list('Numbers of the releases of this app that were made of it, newest first.', whole('A number.')),
  }),
)

export const sourceRoutes: Route<AppNeeds>[] = [
  {
    tag: 'Apps',
    scope: { kind: 'scope', scope: 'apps:read' },
    method: 'GET',
    path,
    summary: 'List the uploads of an app',
    query: pageQuery,
    answers: {
      200: {
        description: 'Newest first.',
        schema: object('One page.', {
          sources: list('Newest first.', sourceAnswer),
          ...paging,
          account: object('All that the account has stored, for all of its apps.', {
            sources: whole('How many uploads.'),
            bytes: whole('All of their files, before they are packed.'),
          }),
        }),
      },
    },
    codes: ['NOT_FOUND'],
    handle: listSources,
  },
  {
    tag: 'Apps',
    scope: { kind: 'scope', scope: 'apps:manage' },
    capability: 'app.deploy',
    method: 'POST',
    path,
    summary: 'Upload without a deploy',
    description:
      'Bodies as for a deploy, judged in the same way; nothing runs. POST …/deploy {"source": digest} or spec.source.digest of a manifest deploys it. Sent again it is the newest.',
    bodyMaxBytes: UPLOAD_MAX_BYTES,
    bytesTypes: ['application/gzip'],
    answers: { 201: { description: 'Stored.', schema: object('The upload.', { source: sourceAnswer }) } },
    codes: ['NOT_FOUND', ...UPLOAD_CODES, 'HOST_MISSING', 'HOST_NOT_APPROVED', 'HOST_UNFIT', 'HOST_NOT_ISOLATED'],
    handle: uploadSource,
  },
]
