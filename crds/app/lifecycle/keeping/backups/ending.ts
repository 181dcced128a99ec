/** What the jobs of backups and restores say at their end (scripts/keeping/). */
import type { ProblemCode } from '../../../../kernel/problem.ts'
import { EXIT, markedLines } from '../../../start.ts'
import type { JobState } from '../../../world.ts'
import { type AppBackup, BACKUP_MAX_BYTES, type BackupEnding, type Packed, TAKEN_HOW, type TakenHow } from './backup.ts'

type Ended = Extract<JobState, { state: 'exited' }>

const MIB = 1_048_576
const LIMIT_MIB = BACKUP_MAX_BYTES / MIB

const isHow = (word: string): word is TakenHow => (TAKEN_HOW as readonly string[]).includes(word)

/** Null where the job did not say what it packed. */
export const packedIn = (log: string): Packed | null => {
  const [, bytes = '', sha256 = '', how = ''] = markedLines(log).find(([word]) => word === 'packed') ?? []
  if (!/^\d{1,12}$/.test(bytes) || !/^[0-9a-f]{64}$/.test(sha256) || !isHow(how)) return null
  return { bytes: Number(bytes), sha256, how }
}

/** What became of a volume whose restore did not come to its end: put back, never touched, or done all the same. */
export const outcomeIn = (log: string): 'back' | 'untouched' | 'done' | null => {
  const found = markedLines(log).find(([word]) => word === 'outcome')?.[1]
  return found === 'back' || found === 'untouched' || found === 'done' ? found : null
}

const aboutIn = (log: string): string => {
  const found = markedLines(log).find(([word]) => word === 'reason')
  return found ? `: ${found.slice(1).join(' ')}` : ''
}

const failureOf = ({ code, log }: Ended, { volume, restores }: AppBackup): { code: ProblemCode; detail: string } => {
  const about = aboutIn(log)
  const failed: ProblemCode = restores === null ? 'BACKUP_FAILED' : 'RESTORE_FAILED'
  switch (code) {
    case EXIT.volumeMissing:
      return { code: failed, detail: `the host has no volume ${volume} of this app` }
    case EXIT.notCopied:
      return {
        code: failed,
        detail: `no copy could be made that is one moment of ${volume}${about}; ask for consistency live, or again when less is written`,
      }
    case EXIT.tooLarge:
      return { code: 'BACKUP_TOO_LARGE', detail: `${volume} has more than ${LIMIT_MIB} MiB when it is packed` }
    case EXIT.notPacked:
      return { code: failed, detail: `${volume} could not be packed${about}` }
    case EXIT.givenDiffers:
      return { code: failed, detail: 'the archive on the host is not the one that was kept' }
    case EXIT.noRoom:
      return { code: failed, detail: `the host has no room for it${about}` }
    case EXIT.notRestored:
      return { code: failed, detail: `${volume} did not come up with it${about}` }
    default:
      return { code: failed, detail: 'its host or its container engine was restarted meanwhile, or it took too long' }
  }
}

const isStopped = (backup: AppBackup, job: Ended): boolean => backup.cancelAt !== null || job.cancelled

/** Of a backup whose job did not end well. */
export const backupEnding = (backup: AppBackup, job: Ended): BackupEnding => {
  if (isStopped(backup, job)) return { state: 'cancelled', code: null, message: 'stopped because somebody asked' }
  const { code, detail } = failureOf(job, backup)
  return { state: 'failed', code, message: detail }
}

/** Of a restore whose job did not end well, once its volume is as it was. */
export const restoreEnding = (backup: AppBackup, job: Ended, outcome: 'back' | 'untouched'): BackupEnding => {
  const said = outcome === 'back' ? 'what it held before is back' : 'the volume was not touched'
  const { message, ...ending } = backupEnding(backup, job)
  return { ...ending, message: `${message}; ${said}` }
}

/** Of one that is in the store. */
export const keptEnding = ({ volume, restores, packed }: AppBackup): BackupEnding => {
  const mib = ((packed?.bytes ?? 0) / MIB).toFixed(1)
  const message =
    restores === null
      ? `${volume} is kept, ${mib} MiB packed`
      : `${volume} holds ${restores}; what it held before is kept as this backup, ${mib} MiB packed`
  return { state: 'succeeded', code: null, message }
}
