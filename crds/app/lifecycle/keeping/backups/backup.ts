/**
 * A backup: what a volume held at one moment, packed on its host and kept off it. A restore is one as well: it puts another
 * backup into a volume, and is itself the backup of what was there before (rules/app.md#backups). Instants are ISO.
 */
import type { ProblemCode } from '../../../../kernel/problem.ts'

/** `moment`: one moment of it, for which its services may be paused up to 3 s. `live`: as it is read, and nobody pauses. */
export const CONSISTENCIES = ['moment', 'live'] as const
export type Consistency = (typeof CONSISTENCIES)[number]

/**
 * `stopped`: nothing that mounts it ran. `still`: nothing was written while it was copied. `paused`: its services were paused for the
 * rest. `live`: files were read while they were written to.
 */
export const TAKEN_HOW = ['stopped', 'still', 'paused', 'live'] as const
export type TakenHow = (typeof TAKEN_HOW)[number]

/** `unknown` is none of them: what a host was told to do is looked at until it is known. */
export const BACKUP_STATES = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const
export type BackupState = (typeof BACKUP_STATES)[number]
export type BackupEnd = Exclude<BackupState, 'queued' | 'running'>

export type NewBackup = {
  id: string
  app: string
  account: string
  /** As the compose file names it. */
  volume: string
  consistency: Consistency
  /** The backup that is put into the volume; null where it is only taken. */
  restores: string | null
}

/** What is in the store of a backup, as its host packed it. */
export type Packed = { bytes: number; sha256: string; how: TakenHow }

export type AppBackup = NewBackup & {
  /** Counts its changes: whoever comes with an older one looks again. */
  rev: number
  state: BackupState
  /** The release that was live when it began. */
  release: number | null
  /** Of the archive, once it is packed. */
  packed: Packed | null
  /** Bytes of it that are in the store. */
  taken: number
  /** Of a restore: bytes of the other archive, and how many of them are on the host. */
  given: { bytes: number; sha256: string } | null
  laid: number
  /** Of a restore: since when the volume holds it, and its services are well with it. */
  appliedAt: string | null
  code: string | null
  message: string | null
  createdAt: string
  startedAt: string | null
  endedAt: string | null
  cancelAt: string | null
  /** When it goes; null while it has none, and while it is the newest of its volume, which stays. */
  expiresAt: string | null
  /** Nothing of it is on the host any more. */
  droppedAt: string | null
}

/** Of one archive. */
export const BACKUP_MAX_BYTES = 512 * 1024 * 1024
/** That wait or run in an app. */
export const BACKUPS_OPEN_MAX = 10
/** That are kept of each volume, and for how long; the newest stays. */
export const BACKUPS_KEPT = 10
export const BACKUP_KEPT_DAYS = 30
/** What goes over the network at once. */
export const PART_BYTES = 4 * 1024 * 1024
/** Of a volume, for a copy that is one moment of it. */
export const COPY_ROOM_MIB = 8_192
export const COPY_SECONDS = 600
/** Until the services of a restored volume are well. */
export const RESTORE_SECONDS = 180

const DAY_MS = 86_400_000

export const isBackupOpen = ({ state }: Pick<AppBackup, 'state'>): boolean => state === 'queued' || state === 'running'

/** Its services stand still, or are about to: nobody else starts or stops anything of the app. */
export const isRestore = ({ restores, state, appliedAt }: AppBackup): boolean =>
  restores !== null && state === 'running' && appliedAt === null

export const isRestoring = ({ backups }: { backups: readonly AppBackup[] }): boolean => backups.some(isRestore)

/** At most 63 characters of a-z, 0-9 and -. */
export const keepJobOf = ({ id }: Pick<AppBackup, 'id'>): string => `${id}-keep`
export const backJobOf = ({ id }: Pick<AppBackup, 'id'>): string => `${id}-back`

/** What its host calls a volume of an app, for ever. */
export const volumeOnHost = (slug: string, volume: string): string => `${slug}-base_${volume}`

/** Its turn has come. */
export const begun = (backup: AppBackup, release: number, at: string): AppBackup => ({
  ...backup,
  state: 'running',
  release,
  startedAt: at,
})

/** Its host has packed it; a restore is done with it. */
export const packed = (backup: AppBackup, of: Packed, at: string): AppBackup => ({
  ...backup,
  packed: of,
  ...(backup.restores !== null && { appliedAt: at }),
})

export type BackupEnding = { state: BackupEnd; code: ProblemCode | null; message: string }

/** What never began has left nothing on its host. */
export const ended = (backup: AppBackup, { state, code, message }: BackupEnding, at: string): AppBackup => ({
  ...backup,
  state,
  code,
  message,
  endedAt: at,
  expiresAt: state === 'succeeded' ? new Date(Date.parse(at) + BACKUP_KEPT_DAYS * DAY_MS).toISOString() : null,
  droppedAt: backup.startedAt === null ? at : null,
})
