/**
 * What is done about the backups of an app: one at a time, beside its operations but never while one runs. A restore has the app to
 * itself until its services are well, and ends with what it put there, or with what was there before.
 */
import type { AppWorld, JobState } from '../../../world.ts'
import { isBaseHeld } from '../../retire.ts'
import { type AppBackup, isBackupOpen } from './backup.ts'
import { backupEnding, keptEnding, outcomeIn, packedIn, restoreEnding } from './ending.ts'
import type { BackupStep } from './steps.ts'

const endWith = (backup: AppBackup, ending: Extract<BackupStep, { do: 'endBackup' }>['ending']): BackupStep[] => [
  { do: 'endBackup', backup, ending },
]

const stopped = (backup: AppBackup): BackupStep[] =>
  endWith(backup, { state: 'cancelled', code: null, message: 'stopped before anything was done' })

const unsaid = (backup: AppBackup): BackupStep[] => {
  const code = backup.restores === null ? 'BACKUP_FAILED' : 'RESTORE_FAILED'
  return endWith(backup, { state: 'failed', code, message: 'the host did not say what it has packed' })
}

/** Whoever stops services waits until nobody else does, and until nothing else is run in them. */
const mayBegin = ({ restores }: AppBackup, world: AppWorld): boolean => {
  const isBusy = world.operations.some(({ state }) => state === 'running') || isBaseHeld(world)
  if (isBusy || world.unreachable !== null) return false
  return restores === null || world.runs.runs.every(({ state }) => state !== 'running')
}

const beginning = (world: AppWorld): BackupStep[] => {
  if (world.backups.some(({ state }) => state === 'running')) return []
  const live = world.releases.find(({ state }) => state === 'live')
  const next = world.backups.find(({ state, cancelAt }) => state === 'queued' && cancelAt === null)
  if (!next) return []
  if (!live) return endWith(next, { state: 'failed', code: 'NOT_RELEASED', message: 'nothing of the app runs' })
  return mayBegin(next, world) ? [{ do: 'beginBackup', backup: next, release: live.number }] : []
}

/** Its job has ended otherwise than well: its volume is looked at, and put back, until that is known. */
const returning = (backup: AppBackup, job: Extract<JobState, { state: 'exited' }>, back: JobState | undefined) => {
  if (back === undefined || back.state === 'running') return []
  const outcome = back.state === 'exited' && back.code === 0 ? outcomeIn(back.log) : null
  if (outcome === null || back.state === 'absent') return [{ do: 'putBack' as const, backup }]
  if (outcome !== 'done') return endWith(backup, restoreEnding(backup, job, outcome))
  const packed = packedIn(back.log)
  return packed ? [{ do: 'notePacked' as const, backup, packed }] : unsaid(backup)
}

const packing = (backup: AppBackup, { backupJobs }: AppWorld): BackupStep[] => {
  const { keep: job, back } = backupJobs[backup.id] ?? {}
  if (job === undefined) return []
  const isToStop = backup.cancelAt !== null
  if (job.state !== 'exited') {
    if (isToStop) return [{ do: 'cancelBackup', backup }]
    return job.state === 'absent' ? [{ do: 'startBackup', backup }] : []
  }
  if (job.code !== 0)
    return backup.restores === null ? endWith(backup, backupEnding(backup, job)) : returning(backup, job, back)
  const packed = packedIn(job.log)
  return packed ? [{ do: 'notePacked', backup, packed }] : unsaid(backup)
}

const going = (backup: AppBackup, world: AppWorld): BackupStep[] => {
  const { restores, given, laid, packed, taken, cancelAt } = backup
  // Nothing was done to the volume yet, or all of it: what is left is the store's.
  const isHarmless = packed === null ? given !== null && laid < given.bytes : restores === null
  if (cancelAt !== null && isHarmless) return stopped(backup)
  if (packed !== null) {
    if (taken >= packed.bytes) return endWith(backup, keptEnding(backup))
    return world.unreachable === null ? [{ do: 'takeBackup', backup }] : []
  }
  if (given !== null && laid < given.bytes) return world.unreachable === null ? [{ do: 'layBackup', backup }] : []
  return packing(backup, world)
}

const stepsOf = (backup: AppBackup, world: AppWorld): BackupStep[] => {
  if (backup.state === 'queued') return backup.cancelAt === null ? [] : stopped(backup)
  if (backup.state === 'running') return going(backup, world)
  return backup.droppedAt === null && world.unreachable === null ? [{ do: 'dropBackup', backup }] : []
}

export const backupSteps = (world: AppWorld): BackupStep[] => [
  ...beginning(world),
  ...world.backups.flatMap((backup) => stepsOf(backup, world)),
]

/** Why nothing is done for the app is why nothing of it is kept. */
export const refusedBackups = (
  { backups }: AppWorld,
  { code, message }: { code: Extract<BackupStep, { do: 'endBackup' }>['ending']['code']; message: string },
): BackupStep[] =>
  backups
    .filter(({ state }) => state === 'queued')
    .flatMap((backup) => endWith(backup, { state: 'failed', code, message }))

/**
 * Of an app that is deleted: what it has on its host leaves it. A volume may stay when its app goes, so that a restore is not left half
 * done. @returns null when nothing is left
 */
export const leaveBackups = (world: AppWorld): BackupStep[] | null => {
  if (!world.host || world.unreachable !== null) return null
  const left = world.backups.filter((backup) => isBackupOpen(backup) || backup.droppedAt === null)
  if (left.length === 0) return null
  const ending = { state: 'cancelled', code: null, message: 'the app was deleted' } as const
  return left.flatMap((backup) => {
    if (!isBackupOpen(backup)) return stepsOf(backup, world)
    const isHarmless = backup.state === 'queued' || backup.packed !== null
    return isHarmless
      ? endWith(backup, ending)
      : stepsOf({ ...backup, cancelAt: backup.cancelAt ?? backup.createdAt }, world)
  })
}

/** Something is on its way: look again soon. */
export const hasBackups = ({ backups }: AppWorld): boolean =>
  backups.some((backup) => isBackupOpen(backup) || backup.droppedAt === null)

/** Whether the job of a running one is to be looked at: until it is packed, once all is laid. */
export const isBackupDue = ({ state, packed, given, laid }: AppBackup): boolean =>
  state === 'running' && packed === null && (given === null || laid >= given.bytes)
