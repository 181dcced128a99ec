/** Routes of volumes: what they held, and what is put back (rules/app.md#backups). */
import { operationAnswer } from '../../../crds/app/answer.ts'
import { backupAnswer } from '../../../crds/app/lifecycle/keeping/backups/answer.ts'
import { CONSISTENCIES } from '../../../crds/app/lifecycle/keeping/backups/backup.ts'
import { named } from '../../../crds/kernel/named.ts'
import { pageQuery, paging } from '../../openapi/paging.ts'
import { closed, list, object, oneOf, pendingOf, text, whole } from '../../openapi/schemas.ts'
import type { Route } from '../../wiring/route.ts'
import { confirmDowntime } from '../deploy.ts'
import type { AppNeeds } from '../needs.ts'
import { askBackup, restoreBackup } from './ask.ts'
import { moveRoutes } from './moveroutes.ts'
import { deleteBackup, getBackup, getContent, listBackups } from './read.ts'

const tag = 'Apps'
const reads = { tag, scope: { kind: 'scope', scope: 'apps:read' } } as const
const manages = { tag, scope: { kind: 'scope', scope: 'apps:manage' }, capability: 'app.deploy' } as const
const one = '/api/apps/:id'
const backup = `${one}/backups/:backup`

const volumeName = { type: 'string', maxLength: 128 } as const
const asked = { operation_id: text('Names the operation.'), operation: operationAnswer, backup: backupAnswer }
const pending = pendingOf('PendingBackup', 'It waits or runs. Poll the address in Location.', {
  operation: operationAnswer,
  backup: backupAnswer,
})
const plan = named(
  'RestorePlan',
  object('With dry_run: what would happen.', {
    volume: text('Whose content is replaced.'),
    backup: text('By which.'),
    taken_at: text('When that was asked for.'),
    services: list(
      'Services that stop: those that mount it.',
      object('A service.', { name: text('The service.'), downtime_seconds: whole('About so long.') }),
    ),
    downtime_seconds: whole('The longest of them.'),
    detail: text('The same in words.'),
  }),
)

export const backupRoutes: Route<AppNeeds>[] = [
  {
    ...manages,
    method: 'POST',
    path: `${one}/volumes/:name/backups`,
    summary: 'Back up a volume of an app',
    description:
      'All that it holds, with owners and modes, as a gzip-compressed tar of at most 512 MiB. It is packed on the host and kept in the storage of the platform, where it counts as uploads do; the ten newest of a volume are kept, for 30 days, and the newest for as long as the app. By default it is one moment of the volume: it is copied while its services go on, and these are paused for what changed meanwhile, 3 s at most; whoever writes more than that is told so.',
    body: closed(
      object('How it is taken.', {
        consistency: oneOf(
          'moment, the default: one moment of it. live: as it is read, without a pause; a database may not be whole in it.',
          CONSISTENCIES,
        ),
      }),
    ),
    answers: {
      200: { description: 'It has ended; operation.state says how.', schema: object('What came of it.', asked) },
      202: pending,
    },
    codes: ['NOT_FOUND', 'NOT_RELEASED', 'APP_STORAGE', 'QUEUE_FULL'],
    handle: askBackup,
  },
  {
    ...reads,
    method: 'GET',
    path: `${one}/backups`,
    summary: 'List the backups of an app',
    query: { ...pageQuery, volume: { ...volumeName, description: 'Of this volume alone.' } },
    answers: {
      200: {
        description: 'Newest first.',
        schema: object('One page.', { backups: list('Newest first.', backupAnswer), ...paging }),
      },
    },
    codes: ['NOT_FOUND'],
    handle: listBackups,
  },
  {
    ...reads,
    method: 'GET',
    path: backup,
    summary: 'Read a backup',
    answers: { 200: { description: 'The backup.', schema: object('The backup.', { backup: backupAnswer }) } },
    codes: ['NOT_FOUND'],
    handle: getBackup,
  },
  {
    // What an app keeps is not for whoever may only look at how it runs.
    ...manages,
    method: 'GET',
    path: `${backup}/content`,
    summary: 'Download a backup',
    description: 'The archive as its host packed it: a gzip-compressed tar. Unpack it as root to have owners too.',
    answers: {
      200: {
        description: 'The archive.',
        contentType: 'application/gzip',
        headers: {
          etag: 'Its sha256 in hex.',
          'repr-digest': 'Its sha256, as RFC 9530 writes it.',
          'content-disposition': 'A name for it.',
        },
      },
    },
    codes: ['NOT_FOUND', 'BACKUP_NOT_READY'],
    handle: getContent,
  },
  {
    ...manages,
    method: 'DELETE',
    path: backup,
    summary: 'Delete a backup',
    answers: { 204: { description: 'Gone.' } },
    codes: ['NOT_FOUND', 'BACKUP_IN_USE'],
    handle: deleteBackup,
  },
  {
    ...manages,
    method: 'POST',
    path: `${backup}/restore`,
    summary: 'Put a backup back into its volume',
    description:
      'Replaces all that the volume holds. Services that mount it stop; what it holds is kept as a backup of its own, the archive is put in its place, and they are started. Who does not come up with it within 180 s gets back what was there. ?dry_run=1 tells what stops and for how long.',
    query: {
      dry_run: named('DryRun', { ...text('1: tell what would happen, and do nothing.'), enum: ['1'] }),
      ...confirmDowntime,
      confirm: { ...volumeName, description: 'The name of the volume: all that it holds may be replaced.' },
    },
    answers: {
      200: {
        description: 'It has ended; operation.state says how. With dry_run: the plan.',
        schema: object('What came of it.', { ...asked, plan }),
      },
      202: pending,
    },
    codes: [
      ...(['NOT_FOUND', 'NOT_RELEASED', 'BACKUP_NOT_READY', 'RESTORE_NOT_CONFIRMED'] as const),
      ...(['DOWNTIME_NOT_CONFIRMED', 'QUEUE_FULL'] as const),
    ],
    handle: restoreBackup,
  },
  ...moveRoutes,
]
