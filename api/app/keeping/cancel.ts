/** Asking a backup or a restore to stop. */
import { APP } from '../../../crds/app/kind.ts'
import type { AppBackup } from '../../../crds/app/lifecycle/keeping/backups/backup.ts'
import { sameOwner } from '../../command/own.ts'
import { wakeStored } from '../../command/report.ts'
import { settle } from '../../command/settle.ts'
import { Problem } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import type { AppNeeds } from '../needs.ts'
import { cancelBackupCommand } from './commands.ts'
import { backupPath, shownBackup } from './own.ts'

/** What has ended has ended. A restore is put back when it stops; one whose services are well with it is done. */
export const cancelBackup = (deps: AppNeeds, request: ApiRequest, backup: AppBackup): Promise<Answer> => {
  const { id, app, account, endedAt, appliedAt, restores } = backup
  if (endedAt !== null) throw new Problem('TOO_LATE', `${id} has ended.`)
  if (appliedAt !== null) throw new Problem('TOO_LATE', `${backup.volume} holds ${restores} already.`)
  return settle(deps, request, cancelBackupCommand, {
    name: app,
    whose: sameOwner({ account }),
    resource: backupPath(id),
    async act() {
      await deps.backups.cancel(id, deps.now().toISOString())
      await wakeStored(deps, APP, app)
      return { backup: id }
    },
    pending: () => shownBackup(deps, id),
    operation: () => ({ path: backupPath(id) }),
  })
}
