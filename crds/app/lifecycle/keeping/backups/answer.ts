/** How the answers about backups are described. */
import { named } from '../../../../kernel/named.ts'
import type { JsonSchema } from '../../../../kernel/rest.ts'
import { BACKUP_STATES, CONSISTENCIES, TAKEN_HOW } from './backup.ts'

const text = (description: string, more: JsonSchema = {}): JsonSchema => ({ type: 'string', description, ...more })
const textOrNull = (description: string, more: JsonSchema = {}): JsonSchema => ({
  type: ['string', 'null'],
  description,
  ...more,
})
const wholeOrNull = (description: string): JsonSchema => ({ type: ['integer', 'null'], description })

const progress = named('BackupProgress', {
  type: ['object', 'null'],
  description: 'What it is at; null once it has ended.',
  properties: {
    step: text('In words.'),
    bytes: { type: 'integer', description: 'So many are done.' },
    of: wholeOrNull('Of so many.'),
  },
})

export const backupAnswer = named('AppBackup', {
  type: 'object',
  description: 'What a volume held. It is kept in the storage of the platform, not on the host of its app.',
  properties: {
    id: text('Names the backup, and its operation.'),
    volume: text('The volume, as the compose file names it.'),
    cause: text('restore: it is what the volume held before another backup was put into it.', {
      enum: ['asked', 'restore'],
    }),
    restores: textOrNull('Of a restore: the backup that was put into the volume.'),
    state: text('How it stands.', { enum: [...BACKUP_STATES] }),
    consistency: text('As it was asked for.', { enum: [...CONSISTENCIES] }),
    taken: textOrNull(
      'stopped: nothing that mounts it ran. still: nothing was written meanwhile. paused: its services were paused for up to 3 s. live: files were read while they were written to, so that a database may not be whole in it.',
      { enum: [...TAKEN_HOW, null] },
    ),
    bytes: wholeOrNull('Of the archive.'),
    sha256: textOrNull('Of the archive, in hex.'),
    release: wholeOrNull('The release that was live.'),
    downloadable: { type: 'boolean', description: 'Whether it can be downloaded and restored.' },
    progress,
    code: textOrNull('Why it failed.'),
    detail: textOrNull('The same in words.'),
    created_at: text('When it was asked for.'),
    started_at: textOrNull('When its turn came.'),
    ended_at: textOrNull('When it ended.'),
    expires_at: textOrNull('When it goes. null: not yet known, or it is the newest of its volume, which stays.'),
  },
})

/** The same in an operation, which may be another one. */
export const operationBackupAnswer = named('OperationBackup', {
  ...backupAnswer,
  type: ['object', 'null'],
  description: 'Of an operation of kind backup or restore: the backup. null for all others.',
})
