/** What is wrong with a dev instance, as conditions of its resource: what its row knows, and what its reports and the clock add. */
import type { OwnCondition } from '../../kernel/plan.ts'
import { breachFindings, machineFindings } from '../life/breaches.ts'
import { type DevInstanceRow, orphansOf } from '../life/row.ts'
import type { DevInstanceWorld } from '../world.ts'
import { attestationFindings } from './attesting.ts'
import { driftOf } from './drift.ts'
import { programsLack } from './launch.ts'
import { overtakenBy } from './wishes.ts'

/** A running instance that says nothing for so long may have lost its reporter (rules/devinstance.md#reports). */
export const REPORT_STALE_MS = 5 * 60_000

const isTrue = (type: string, message: string): OwnCondition => ({ type, status: 'True', reason: type, message })

/** When the latest sign of life was: a report, or the start. */
export const heardAt = (instance: DevInstanceRow, world: DevInstanceWorld): number =>
  Math.max(Date.parse(world.lastReport?.at ?? '') || 0, Date.parse(instance.startedAt ?? '') || 0)

/** What is wrong; what is not, is not said. */
export const conditionsOf = (instance: DevInstanceRow, world: DevInstanceWorld, now: Date): OwnCondition[] => {
  const conditions = [...breachFindings(instance), ...machineFindings(instance)].map(({ type, message }) =>
    isTrue(type, message),
  )
  const drift = driftOf(instance)
  if (drift !== null) conditions.push(isTrue('LaunchDiffers', drift))
  conditions.push(...attestationFindings(instance, world, now).map(({ type, message }) => isTrue(type, message)))
  const lack = programsLack(instance)
  if (lack !== null) conditions.push(isTrue('ProgramsOutdated', lack))
  if (instance.state === 'terminated' || instance.deletedAt !== null) return conditions
  const overtaken = overtakenBy(instance)
  if (overtaken !== null) conditions.push(isTrue('SpecOvertaken', overtaken))
  if (instance.lease && now.getTime() > Date.parse(instance.lease.expiresAt)) {
    const message = `the lease of ${instance.instanceId} ran out at ${instance.lease.expiresAt}; report it again, or terminate it`
    conditions.push(isTrue('LeaseExpired', message))
  }
  if (
    instance.state === 'running' &&
    instance.machine === 'up' &&
    now.getTime() >= heardAt(instance, world) + REPORT_STALE_MS
  ) {
    const message = `no report since ${new Date(heardAt(instance, world)).toISOString()}; it may run without stopping itself`
    conditions.push(isTrue('ReportStale', message))
  }
  const { dirty, untracked, unpushed } = world.lastReport?.git ?? { dirty: 0, untracked: 0, unpushed: 0 }
  if (instance.instanceId !== null && instance.machine !== 'gone' && dirty + untracked + unpushed > 0) {
    const message = `${dirty} changed and ${untracked} untracked files, ${unpushed} commits not pushed`
    conditions.push(isTrue('WorkAtRisk', message))
  }
  const orphans = orphansOf(instance).map(({ eipAllocId }) => eipAllocId)
  if (orphans.length > 0) {
    const message = `${orphans.join(', ')} held and not in use: release it, and confirm by eip-released`
    conditions.push(isTrue('AddressOrphaned', message))
  }
  return conditions
}
