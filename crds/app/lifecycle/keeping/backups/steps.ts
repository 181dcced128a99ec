/** What a pass does about backups: one effect each, keyed by the backup. */
import type { AppBackup, BackupEnding, Packed } from './backup.ts'

export type BackupStep =
  /** Its turn has come: from here on something of it may be on the host. */
  | { do: 'beginBackup'; backup: AppBackup; release: number }
  /** Lays the archive that is restored on the host, piece by piece. */
  | { do: 'layBackup'; backup: AppBackup }
  /** Starts its job: what packs the volume, or puts another backup into it. */
  | { do: 'startBackup'; backup: AppBackup }
  | { do: 'notePacked'; backup: AppBackup; packed: Packed }
  /** Takes what was packed into the store, piece by piece. */
  | { do: 'takeBackup'; backup: AppBackup }
  /** A restore ended in between: what the volume held before is put back, unless it is done. */
  | { do: 'putBack'; backup: AppBackup }
  | { do: 'cancelBackup'; backup: AppBackup }
  | { do: 'endBackup'; backup: AppBackup; ending: BackupEnding }
  /** Takes its jobs and files off the host. */
  | { do: 'dropBackup'; backup: AppBackup }
