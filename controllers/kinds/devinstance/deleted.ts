/**
 * What was said of a dev instance that was deleted: there is no resource to make a pass over, and it has happened all the same. It
 * is judged by the same table and kept in the row that is left of it (rules/devinstance.md#tombstones).
 */
import { limitOf } from '../../../crds/account/quotas.ts'
import { gitOf } from '../../../crds/devinstance/bootstrap/report.ts'
import { pendingOf } from '../../../crds/devinstance/facts.ts'
import { judged } from '../../../crds/devinstance/plan.ts'
import { MICRO_USD } from '../../../crds/devinstance/reserving.ts'
import type { DevInstanceLedger } from '../../store/devinstance/devinstances.ts'
import type { Past } from '../../store/devinstance/past.ts'
import type { Directory } from '../account-index.ts'
import { settleCall } from './decision.ts'

type DeletedDeps = {
  devInstances: Pick<DevInstanceLedger, 'observe' | 'settle'>
  past: Pick<Past, 'tombstone'>
  accounts: Pick<Directory, 'get'>
}

/** Decides the oldest of what is undecided. @returns false: nothing is kept of it, or nothing more is undecided */
const settleNext = async ({ devInstances, past, accounts }: DeletedDeps, resource: string): Promise<boolean> => {
  const [kept, { record, pending, lastReport }] = await Promise.all([
    past.tombstone(resource),
    devInstances.observe(resource),
  ])
  const [next] = pending
  if (kept === null || next === undefined || !record?.box || record.box.deletedAt === null) return false
  const profile = accounts.get(kept.owner)
  const capMicroUsd = (profile ? limitOf('devbox_cost_cap_usd', profile) : 0) * MICRO_USD
  const settlement = judged(record.box, pendingOf(next), { git: lastReport && gitOf(lastReport.body) })
  const of = { resource, uid: record.uid ?? '', owner: kept.owner }
  return (
    (await settleCall(devInstances, of, { settlement, before: record.box, rev: record.rev, capMicroUsd })) !== undefined
  )
}

/** Decisions of one look; what is left waits for the next. */
const DECISIONS_MAX = 50

/** @returns whether there is a row of it, by which its facts are decided */
export const settleDeleted = async (deps: DeletedDeps, resource: string): Promise<boolean> => {
  if ((await deps.past.tombstone(resource)) === null) return false
  for (let left = DECISIONS_MAX; left > 0 && (await settleNext(deps, resource)); ) left -= 1
  return true
}
