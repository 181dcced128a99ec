/** POST …/backups and …/restore: a row that is entered, and what comes of it (rules/app.md#backups, #restores). */
import type { MirrorRow } from '../../../controllers/store/mirror.ts'
import { limitOf } from '../../../crds/account/quotas.ts'
import { APP } from '../../../crds/app/kind.ts'
import {
  type AppBackup,
  BACKUPS_OPEN_MAX,
  type Consistency,
  type NewBackup,
} from '../../../crds/app/lifecycle/keeping/backups/backup.ts'
import {
  planRestore,
  type RestorePlan,
  sayRestoreDowntime,
} from '../../../crds/app/lifecycle/keeping/backups/restoring.ts'
import type { AppView } from '../../../crds/app/view.ts'
import type { Command } from '../../command/command.ts'
import { nameFor } from '../../command/name.ts'
import { wakeStored } from '../../command/report.ts'
import { settle } from '../../command/settle.ts'
import { Problem } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { confirmedDowntime } from '../deploy.ts'
import type { AnsweringApp, AppNeeds } from '../needs.ts'
import { apps } from '../read.ts'
import { backupCommand, restoreCommand } from './commands.ts'
import { backupPath, shownBackup } from './own.ts'
import { backupOf, wholeOf } from './read.ts'

const MIB = 1_048_576

/** @throws Problem NOT_RELEASED; NOT_FOUND with the names that there are */
const liveVolume = ({ view }: MirrorRow<AppView>, volume: string): number => {
  if (!view.release) throw new Problem('NOT_RELEASED', 'Nothing of this app runs yet.')
  if (view.volumes.includes(volume)) return view.release.number
  const names = view.volumes.length > 0 ? `has ${view.volumes.join(', ')}` : 'has none'
  throw new Problem('NOT_FOUND', `There is no volume ${volume}: release ${view.release.number} ${names}.`)
}

/** @throws Problem APP_STORAGE where there is no room for even the smallest; how much one takes is known once it is packed */
const refuseFull = async (deps: AppNeeds, { caller }: ApiRequest): Promise<void> => {
  const limit = limitOf('app_storage_mib', caller.profile)
  const used = Math.ceil((await deps.apps.storedBytes(caller.account)) / MIB)
  if (used < limit) return
  throw new Problem('APP_STORAGE', `Uploads and backups of ${caller.account} take ${used} of ${limit} MiB.`)
}

type Asked = { row: MirrorRow<AppView>; backup: NewBackup; command: Command<{ backup: string }, AppView, AnsweringApp> }

const enter = (deps: AppNeeds, request: ApiRequest, { row, backup, command }: Asked): Promise<Answer> => {
  const { id } = backup
  if (request.audited) request.audited.resource = backupPath(id)
  return settle(deps, request, command, {
    ...apps.commandOn(row),
    async act() {
      const { outcome } = await deps.backups.ask(backup, deps.now().toISOString())
      if (outcome === 'full') {
        throw new Problem('QUEUE_FULL', `${BACKUPS_OPEN_MAX} backups of ${row.name} wait or run already.`)
      }
      if (outcome === 'mismatch') {
        throw new Problem('IDEMPOTENCY_MISMATCH', 'The key was used for a backup of another app.')
      }
      if (outcome === 'gone') throw new Problem('NOT_FOUND', `There is no backup ${backup.restores} any more.`)
      await wakeStored(deps, APP, row.name)
      return { backup: id }
    },
    pending: () => shownBackup(deps, id),
    operation: () => ({ id, path: backupPath(id) }),
  })
}

const newBackup = (row: MirrorRow<AppView>, request: ApiRequest, of: Pick<NewBackup, 'volume' | 'restores'>) => ({
  ...{ id: nameFor('bak', request), app: row.name, account: row.account },
  ...of,
})

export const askBackup = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await apps.find(deps, request)
  const volume = request.params.name ?? ''
  liveVolume(row, volume)
  await refuseFull(deps, request)
  const { consistency = 'moment' } = (request.body ?? {}) as { consistency?: Consistency }
  const backup = { ...newBackup(row, request, { volume, restores: null }), consistency }
  return enter(deps, request, { row, backup, command: backupCommand })
}

const viewPlan = ({ volume, id, createdAt }: AppBackup, { services, downtimeSeconds }: RestorePlan) => ({
  volume,
  backup: id,
  taken_at: createdAt,
  services: services.map(({ name, downtimeSeconds: seconds }) => ({ name, downtime_seconds: seconds })),
  downtime_seconds: downtimeSeconds,
  detail: `Whatever ${volume} holds is replaced. It is kept first, as a backup of its own, so that this can be undone; services that do not come up with ${id} get it back at once.`,
})

/** All that the volume holds is replaced, and services stop for it: both are confirmed, each by a word of its own. */
const refuseUnconfirmed = (request: ApiRequest, { view }: MirrorRow<AppView>, volume: string, plan: RestorePlan) => {
  if (request.query.confirm !== volume) {
    throw new Problem('RESTORE_NOT_CONFIRMED', `All that ${volume} holds would be replaced.`)
  }
  if (plan.services.length === 0 || view.hand_over.downtime === 'allow') return
  if (confirmedDowntime(request).downtime !== true)
    throw new Problem('DOWNTIME_NOT_CONFIRMED', sayRestoreDowntime(plan))
}

export const restoreBackup = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const { row, backup } = await backupOf(deps, request)
  const { volume } = backup
  const { bytes } = wholeOf(backup)
  const release = liveVolume(row, volume)
  const plan = planRestore((await deps.releases.open(row.name, release)).project, volume, bytes)
  if (request.query.dry_run === '1') return { status: 200, body: { plan: viewPlan(backup, plan) } }
  refuseUnconfirmed(request, row, volume, plan)
  const wanted = newBackup(row, request, { volume, restores: backup.id })
  return enter(deps, request, { row, backup: { ...wanted, consistency: 'moment' }, command: restoreCommand })
}
