/** Asking for a backup or a restore, and asking one to stop: all are decided when it has ended. */
import { APP } from '../../../crds/app/kind.ts'
import { viewBackup, viewBackupOperation } from '../../../crds/app/lifecycle/keeping/backups/view.ts'
import type { AppView } from '../../../crds/app/view.ts'
import { HOST } from '../../../crds/host/kind.ts'
import type { HostView } from '../../../crds/host/view.ts'
import { type Command, type GenerationGoal, judgeGeneration } from '../../command/command.ts'
import type { AnsweringApp } from '../needs.ts'

type BackupGoal = { backup: string }

const ending = (name: string): Command<BackupGoal, AppView, AnsweringApp> => ({
  name,
  kind: APP,
  judge({ backup }, row) {
    if (row === undefined) return 'gone'
    return row.view.backups_ended.includes(backup) ? 'decided' : 'pending'
  },
  async answer({ backups }, _asking, { backup: id }) {
    const backup = await backups.one(id)
    if (!backup?.endedAt) return null
    const body = { operation_id: id, operation: viewBackupOperation(backup), backup: viewBackup(backup) }
    return { status: 200, body }
  },
})

export const backupCommand = ending('app.backup')
export const restoreCommand = ending('app.restore')
export const cancelBackupCommand = ending('app.cancel-backup')

export type Drained = {
  app: string
  account: string
  state: 'moving' | 'stays'
  to: string | null
  operation_id: string | null
  code: string | null
  detail: string | null
}

/** What became of each app is told with the verdict. */
type DrainGoal = GenerationGoal & { host: string; apps: Drained[]; sites: object[] }

export const drainCommand: Command<DrainGoal, HostView> = {
  name: 'host.drain',
  kind: HOST,
  judge: judgeGeneration,
  answer: async (_deps, _asking, { host, apps, sites }, row) =>
    row === undefined ? null : { status: 200, body: { host_id: host, cordoned: row.view.cordoned, apps, sites } },
}
