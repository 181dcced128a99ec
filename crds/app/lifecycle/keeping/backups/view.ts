/** Backups as REST shows them, by themselves and in the shape of an operation. Every key is always there. */
import type { OperationState } from '../../../world.ts'
import { type AppBackup, isBackupOpen, type TakenHow } from './backup.ts'

export type BackupView = {
  id: string
  volume: string
  cause: 'asked' | 'restore'
  restores: string | null
  state: AppBackup['state']
  consistency: AppBackup['consistency']
  taken: TakenHow | null
  bytes: number | null
  sha256: string | null
  release: number | null
  downloadable: boolean
  progress: { step: string; bytes: number; of: number | null } | null
  code: string | null
  detail: string | null
  created_at: string
  started_at: string | null
  ended_at: string | null
  expires_at: string | null
}

/** What one that is under way is at. */
const progressOf = (backup: AppBackup): BackupView['progress'] => {
  const { state, given, laid, packed, taken, restores } = backup
  if (!isBackupOpen(backup)) return null
  if (state === 'queued') return { step: 'waits', bytes: 0, of: null }
  if (packed) return { step: 'is kept', bytes: taken, of: packed.bytes }
  if (given && laid < given.bytes) return { step: 'is sent to the host', bytes: laid, of: given.bytes }
  return { step: restores === null ? 'is packed' : 'is restored', bytes: 0, of: null }
}

export const viewBackup = (backup: AppBackup): BackupView => ({
  id: backup.id,
  volume: backup.volume,
  cause: backup.restores === null ? 'asked' : 'restore',
  restores: backup.restores,
  state: backup.state,
  consistency: backup.consistency,
  taken: backup.packed?.how ?? null,
  bytes: backup.packed?.bytes ?? null,
  sha256: backup.packed?.sha256 ?? null,
  release: backup.release,
  downloadable: backup.state === 'succeeded',
  progress: progressOf(backup),
  code: backup.code,
  detail: backup.message,
  created_at: backup.createdAt,
  started_at: backup.startedAt,
  ended_at: backup.endedAt,
  expires_at: backup.expiresAt,
})

export type BackupOperationView = {
  id: string
  app: string
  kind: 'backup' | 'restore'
  state: OperationState
  steps: []
  result: { release: number | null; code: string | null; detail: string | null; exit_code: null } | null
  run: null
  backup: BackupView
  runs: []
  cancel_requested: boolean
  created_at: string
  started_at: string | null
  ended_at: string | null
}

export const viewBackupOperation = (backup: AppBackup): BackupOperationView => ({
  id: backup.id,
  app: backup.app,
  kind: backup.restores === null ? 'backup' : 'restore',
  state: backup.state,
  steps: [],
  result:
    backup.endedAt === null
      ? null
      : { release: backup.release, code: backup.code, detail: backup.message, exit_code: null },
  run: null,
  backup: viewBackup(backup),
  runs: [],
  cancel_requested: backup.cancelAt !== null,
  created_at: backup.createdAt,
  started_at: backup.startedAt,
  ended_at: backup.endedAt,
})
