/** Backups of the caller's apps, by the id of their operation. */
import type { AppBackup } from '../../../crds/app/lifecycle/keeping/backups/backup.ts'
import { viewBackup, viewBackupOperation } from '../../../crds/app/lifecycle/keeping/backups/view.ts'
import { isOwn } from '../../command/own.ts'
import type { ApiRequest } from '../../http/route.ts'
import type { AppNeeds } from '../needs.ts'

export const backupPath = (id: string): string => `/api/apps/operations/${id}`

/** Null where no backup of the caller's has the id of the operation: it may be another one's. */
export const ownBackup = async (
  deps: Pick<AppNeeds, 'backups'>,
  { params, caller }: ApiRequest,
): Promise<AppBackup | null> => {
  const backup = await deps.backups.one(params.operationId ?? '')
  return backup && isOwn(backup, caller) ? backup : null
}

/** As it stands now, in the shape of an operation. */
export const shownBackup = async (deps: Pick<AppNeeds, 'backups'>, id: string) => {
  const backup = await deps.backups.one(id)
  return { operation_id: id, ...(backup && { operation: viewBackupOperation(backup), backup: viewBackup(backup) }) }
}
