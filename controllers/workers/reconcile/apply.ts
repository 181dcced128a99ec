/**
 * Does what a plan says, in an order in which it may be killed at any statement and run again: until the last one nobody leads, and
 * each statement leaves what was done before as it is. All is done under an epoch of its own, so that whoever leads after all
 * refuses it.
 */

import { INVOICE } from '../../../crds/invoice/kind.ts'
import type { RebuildPlan } from '../../../crds/kernel/desire/rebuild.ts'
import { keepEpoch } from '../../runtime/epoch.ts'
import type { AuditEntry } from '../../store/audit.ts'
import { makeAppendAudit } from '../../store/audit.ts'
import { makeWaiting } from '../../store/ledger/quarantine.ts'
import { makeRestore } from '../../store/ledger/restore.ts'
import { isLed, LEASE, takeEpoch } from '../../store/pg/fence.ts'
import { applyRebuild, type NotMade } from '../lost/rebuild.ts'
import { isIdle, keyOf, type ReconcileDeps, type ReconcilePlan } from './plan.ts'

/** Why nothing was done, with what to do. */
export class ReconcileRefused extends Error {
  override name = 'ReconcileRefused'
}

export type ApplyDeps = ReconcileDeps & { now: () => Date }

/** Of a chain of its own: no account's name has a slash. */
const PLATFORM = 'installation/reconcile'

const auditOf = (
  account: string,
  at: string,
  what: Omit<AuditEntry['what'], 'verb'> & { once: string },
): AuditEntry => {
  const { once, ...rest } = what
  return {
    account,
    once: `reconcile:${once}`,
    at,
    who: { kind: 'operator', command: 'reconcile --apply' },
    what: { verb: 'reconcile', ...rest },
    ip: null,
    requestId: null,
    status: null,
  }
}

const refuse = async ({ taking }: ApplyDeps, { blocked }: ReconcilePlan): Promise<void> => {
  if (blocked.length > 0) throw new ReconcileRefused(`nothing was done. First, by a person: ${blocked.join('; ')}`)
  if (await isLed(taking.pg))
    throw new ReconcileRefused(
      'nothing was done: somebody leads by this database. Stop the controllers that belong to it, or point this command at the database that is meant',
    )
}

const giveBack = async (
  { taking, now }: ApplyDeps,
  { recounts, series, restorations }: ReconcilePlan,
  epoch: number,
): Promise<void> => {
  const at = now().toISOString()
  const restore = makeRestore({ pg: taking.pg, epoch: () => epoch, at: () => at })
  for (const one of recounts) {
    const fields = [`${one.last} counted`]
    await restore.recount(one, auditOf(one.account, at, { once: `${one.id}:${one.last}`, resource: one.id, fields }))
  }
  for (const one of series) {
    const [first, last] = [one.entries[0]?.seq, one.entries.at(-1)?.seq]
    const fields = one.entries.map(({ entry, seq }) => `${seq} ${entry}`)
    await restore.goOn(one, auditOf(one.account, at, { once: `${one.id}:${first}-${last}`, resource: one.id, fields }))
  }
  for (const one of restorations) {
    const { name, account, leastSeq, facts } = one
    // the same in a run that goes on with another
    const fields = facts.map(({ key }) => key)
    await restore.give(one, INVOICE.kind, auditOf(account, at, { once: `${name}:${leastSeq}`, resource: name, fields }))
  }
}

/** What can be made again is, and what cannot be is lost by a person's word: it keeps its view and its keys. */
const takeCluster = async (
  deps: ApplyDeps,
  { sight, absence }: ReconcilePlan,
  rebuild: RebuildPlan,
): Promise<NotMade[]> => {
  const { installation, taking, log } = deps
  const { refused, made } = await applyRebuild({ ...deps, pg: taking.pg }, rebuild)
  const failed = new Set(refused.map(keyOf))
  const back = new Set(
    rebuild.stages
      .flat()
      .map(keyOf)
      .filter((key) => !failed.has(key)),
  )
  await installation.lose(absence.absent.filter((one) => !back.has(keyOf(one))))
  await installation.rebind(sight.here)
  log.warn({ made, refused }, 'the cluster was accepted')
  return refused
}

/**
 * @returns what the cluster refused to have made again; null where there was nothing to do
 * @throws ReconcileRefused, KubeError, DatabaseUnavailable, StaleEpoch when somebody has begun to lead meanwhile
 */
export const applyReconcile = async (deps: ApplyDeps, plan: ReconcilePlan): Promise<NotMade[] | null> => {
  if (isIdle(plan)) return null
  await refuse(deps, plan)
  const { installation, taking, now } = deps
  const { here, marks, kept } = plan.sight
  const codes = new Set(plan.wrongs.map(({ code }) => code))
  if (kept === null) await installation.bind(here, marks.installation ?? undefined)
  await installation.beginReconcile()
  const epoch = await takeEpoch(taking.pg, 'reconcile', LEASE, marks.epoch)
  await giveBack(deps, plan, epoch)
  const aside = codes.has('LEDGER_BEHIND') ? await makeWaiting(taking).setAside(epoch, now().toISOString()) : []
  const refused = plan.rebuild ? await takeCluster(deps, plan, plan.rebuild) : []
  const audit = makeAppendAudit({ pg: taking.pg })
  const fields = [...codes, `epoch ${epoch}`, ...aside.map(({ source, count }) => `${count} ${source} set aside`)]
  await audit(auditOf(PLATFORM, now().toISOString(), { once: `epoch:${epoch}`, resource: null, fields }))
  await keepEpoch(taking, epoch)
  await installation.endReconcile()
  return refused
}
