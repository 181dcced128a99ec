import { type AppBackup, begun, ended, packed } from '../../../../crds/app/lifecycle/keeping/backups/backup.ts'
import type { BackupStep } from '../../../../crds/app/lifecycle/keeping/backups/steps.ts'
import type { AppWorld, JobState } from '../../../../crds/app/world.ts'

/** A model of what the ledger and the host make of each step of a backup, beside that of the app (app.ts). */

const AT = '2026-11-22T10:00:00.000Z'
export const SUM = 'c'.repeat(64)

export const aBackup = (change: Partial<AppBackup> = {}): AppBackup => ({
  id: 'bak-1',
  app: 'app-1',
  account: 'demo',
  volume: 'data',
  consistency: 'moment',
  restores: null,
  rev: 1,
  state: 'queued',
  release: null,
  packed: null,
  taken: 0,
  given: null,
  laid: 0,
  appliedAt: null,
  code: null,
  message: null,
  createdAt: AT,
  startedAt: null,
  endedAt: null,
  cancelAt: null,
  expiresAt: null,
  droppedAt: null,
  ...change,
})

export const aRestore = (change: Partial<AppBackup> = {}): AppBackup =>
  aBackup({ restores: 'bak-0', given: { bytes: 9, sha256: SUM }, ...change })

export const exited = (code: number, log = '', cancelled = false): JobState => ({
  state: 'exited',
  code,
  log,
  cancelled,
})
/** A job that has packed seven bytes. */
export const packedWell = (how = 'paused'): JobState => exited(0, `bottega: packed 7 ${SUM} ${how}\n`)

export type BackupFate = (backup: AppBackup) => { keep: JobState; back?: JobState }

const withBackup = (world: AppWorld, backup: AppBackup): AppWorld => ({
  ...world,
  backups: world.backups.map((one) => (one.id === backup.id ? { ...backup, rev: backup.rev + 1 } : one)),
})

const withJobs = (world: AppWorld, id: string, jobs: AppWorld['backupJobs'][string]): AppWorld => ({
  ...world,
  backupJobs: { ...world.backupJobs, [id]: jobs },
})

const GOOD: BackupFate = () => ({ keep: packedWell() })

/** @param fate how the jobs of a backup end, as soon as they have begun */
export const backupStepped = (world: AppWorld, step: BackupStep, fate: BackupFate = GOOD): AppWorld => {
  const { backup } = step
  const known = world.backupJobs[backup.id]
  switch (step.do) {
    case 'beginBackup':
      return withJobs(withBackup(world, begun(backup, step.release, AT)), backup.id, { keep: { state: 'absent' } })
    case 'layBackup':
      return withBackup(world, { ...backup, laid: backup.given?.bytes ?? 0 })
    case 'startBackup': {
      const { keep, back } = fate(backup)
      return withJobs(world, backup.id, back ? { keep, back: { state: 'absent' } } : { keep })
    }
    case 'putBack':
      return withJobs(world, backup.id, {
        keep: known?.keep ?? { state: 'absent' },
        back: fate(backup).back ?? exited(0, 'bottega: outcome untouched\n'),
      })
    case 'notePacked':
      return withBackup(world, packed(backup, step.packed, AT))
    case 'takeBackup':
      return withBackup(world, { ...backup, taken: backup.packed?.bytes ?? 0 })
    case 'cancelBackup':
      return withJobs(world, backup.id, {
        keep: exited(137, '', true),
        ...(backup.restores !== null && { back: { state: 'absent' as const } }),
      })
    case 'endBackup':
      return withBackup(world, ended(backup, step.ending, AT))
    case 'dropBackup':
      return withBackup(world, { ...backup, droppedAt: AT })
    default:
      return step satisfies never
  }
}
