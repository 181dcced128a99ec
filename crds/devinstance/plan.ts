/**
 * What is to be done about a dev instance: reserve it, judge what was said of it, let a reservation lapse, and what to say
 * of it. Pure. The cloud work is the provisioner's: there is no step that could touch a machine
 * (rules/devinstance.md#a-registry-and-a-policy).
 */
import { originOf } from '../kernel/desire/desire.ts'
import type { Resource } from '../kernel/object.ts'
import { type OwnCondition, type Plan, ready, stalled, type Verdict, waiting } from '../kernel/plan.ts'
import type { ProblemCode } from '../kernel/problem.ts'
import { devInstanceFaults } from './faults.ts'
import type { NewHistoryEntry } from './life/context.ts'
import { deleted, diskGbOf, lapsed, RESERVATION_MS } from './life/effects.ts'
import { addressOf, type DevInstanceRow, orphansOf, runningMonthlyMicroUsd } from './life/row.ts'
import { decide } from './life/transitions.ts'
import { CAPABILITY } from './reserving.ts'
import type { DevInstanceSpec, DevInstanceStatus } from './schema.ts'
import { PRICING_VERSION, usdOf } from './sizing/prices.ts'
import { priceOf } from './sizing/sizes.ts'
import type { DevInstanceRecord, DevInstanceWorld, Pending, TransitionSettlement } from './world.ts'

export type DevInstanceResource = Resource<DevInstanceSpec, DevInstanceStatus>
export type DevInstanceFacts = Omit<DevInstanceStatus, 'observedGeneration' | 'conditions'>

export type DevInstanceStep =
  /** Takes the name and a part of the cap; what came by REST has both. Stalled when there is none left. */
  | { do: 'reserve'; name: string; committedMicroUsd: number; capMicroUsd: number; pricingVersion: string }
  /** Makes the row: price, user data, history. */
  | { do: 'enter'; name: string; pricingVersion: string; rev: number }
  /** Writes one verdict and what follows from it, under the owner's row lock. */
  | { do: 'settle'; settlement: TransitionSettlement; before: DevInstanceRow; rev: number; capMicroUsd: number }
  /** Deletes the resource of an instance that is deleted: nothing of it is desired any more. */
  | { do: 'remove' }

export type DevInstancePlan = Plan<DevInstanceStep, DevInstanceFacts>

/** A running instance that says nothing for so long may have lost its reporter (rules/devinstance.md#reports). */
export const REPORT_STALE_MS = 5 * 60_000
/** How often an unknown account, a full cap or a taken name is looked at again, beside being woken. */
const RETRY_MS = 60_000
const STALLED_RETRY_MS = 300_000
/** From the status that says so to the end of the resource. */
const BURIED_MS = 1_000

const laterBy = (at: string, ms: number): string => new Date(Date.parse(at) + ms).toISOString()

/** @param object out of the cache, treated as frozen  @param now the platform's clock */
export const planDevInstance = (object: DevInstanceResource, world: DevInstanceWorld, now: Date): DevInstancePlan => {
  const { record } = world
  const instance = record?.box ?? null
  const isOfAnother = instance !== null && instance.deletedAt !== null && record?.uid !== originOf(object.metadata)
  if (record === null || instance === null || isOfAnother) {
    return planReservation(object, world, isOfAnother ? null : record)
  }
  return {
    steps: stepsOf(object, world, { ...record, box: instance }, now),
    status: factsOf(instance, world.factSeq),
    verdict: verdictOf(instance, object.metadata.deletionTimestamp !== undefined),
    conditions: conditionsOf(instance, world, now),
    ...wakeOf(object, instance, world, now),
  }
}

/** There is no row yet. @param reservation what was taken for it, by the api or by an earlier pass */
const planReservation = (
  { spec, metadata }: DevInstanceResource,
  { account, factSeq }: DevInstanceWorld,
  reservation: DevInstanceRecord | null,
): DevInstancePlan => {
  const end = (verdict: Verdict, steps: DevInstanceStep[] = []) => ({ steps, status: { factSeq }, verdict })
  const stop = (code: ProblemCode, detail: string) => end(stalled(code, `${code}: ${detail}`))
  if (metadata.deletionTimestamp !== undefined) return end(ready('Deleted', 'nothing was reserved under this name'))
  const fault = devInstanceFaults(spec)[0]
  if (fault) return stop(fault.code, `${fault.pointer} ${fault.detail}`)
  if (!account) return end(waiting('AccountMissing', `account ${spec.account} does not exist; create it`, RETRY_MS))
  const name = spec.name ?? metadata.name
  if (reservation !== null) {
    const { pricingVersion, rev } = reservation
    return end(waiting('Reserving', 'enters the reservation'), [{ do: 'enter', name, pricingVersion, rev }])
  }
  if (!account.capabilities.includes(CAPABILITY)) {
    return stop('CAPABILITY_REQUIRED', `account ${spec.account} lacks ${CAPABILITY}, which only an admin grants`)
  }
  const { capMicroUsd } = account
  const committedMicroUsd = reservationMicroUsd(spec, PRICING_VERSION)
  const reserve = { do: 'reserve' as const, name, committedMicroUsd, capMicroUsd, pricingVersion: PRICING_VERSION }
  return end(waiting('Reserving', 'takes its name and its part of the cap'), [reserve])
}

/** What a reservation commits: the all-in running price. */
export const reservationMicroUsd = (
  spec: Pick<DevInstanceSpec, 'sizeClass' | 'arch' | 'diskGb'>,
  pricingVersion: string,
): number => {
  const { sizeClass, arch } = spec
  return priceOf({ sizeClass, arch, diskGb: diskGbOf(spec) }, pricingVersion).runningMicroUsd
}

/** When a refusal that time may heal is looked at again. */
export const stalledUntil = (now: Date): string => laterBy(now.toISOString(), STALLED_RETRY_MS)

/** Nobody asked for the end of a reservation that lapsed: whoever keeps its resource in Git would reserve anew each day. */
const isLapsed = ({ state, deletedAt, reservedAt }: DevInstanceRow): boolean =>
  state === 'reserved' && deletedAt !== null && Date.parse(deletedAt) >= Date.parse(reservedAt) + RESERVATION_MS

/** Whether the resource is to go with its instance. */
const isToGo = ({ metadata }: DevInstanceResource, instance: DevInstanceRow, world: DevInstanceWorld): boolean =>
  metadata.deletionTimestamp === undefined && instance.deletedAt !== null && !isLapsed(instance) && !world.isRemoved

const stepsOf = (
  object: DevInstanceResource,
  world: DevInstanceWorld,
  { box: instance, rev }: { box: DevInstanceRow; rev: number },
  now: Date,
): DevInstanceStep[] => {
  const capMicroUsd = world.account?.capMicroUsd ?? 0
  const settle = (settlement: TransitionSettlement): DevInstanceStep[] => [
    { do: 'settle', settlement, before: instance, rev, capMicroUsd },
  ]
  const at = now.toISOString()
  const own = (trigger: string, made: { instance: DevInstanceRow; entries: NewHistoryEntry[] }) =>
    settle({ seq: null, trigger, at, by: null, state: 'accepted', ...made })

  const [next] = world.pending
  if (next) return settle(judged(instance, next, world))
  if (instance.deletedAt !== null) {
    // Until its status says so, the admission policy knows of an instance that is attached, and holds it.
    return object.status?.phase === 'deleted' && isToGo(object, instance, world) ? [{ do: 'remove' }] : []
  }
  if (instance.state === 'reserved' && now.getTime() >= Date.parse(instance.reservedAt) + RESERVATION_MS) {
    return own('lapse', lapsed(instance, at))
  }
  if (
    object.metadata.deletionTimestamp !== undefined &&
    (instance.state === 'reserved' || instance.state === 'terminated')
  ) {
    const made = deleted({ instance, said: {}, at, around: { git: null } })
    return own('delete', { ...made, instance: { ...made.instance, version: instance.version + 1 } })
  }
  return []
}

const judged = (
  instance: DevInstanceRow,
  { seq, trigger, said, by, at }: Pending,
  world: DevInstanceWorld,
): TransitionSettlement => {
  const decision = decide(trigger, { instance, said, at, around: { git: world.lastReport?.git ?? null } })
  const of = { seq, trigger, at, by }
  switch (decision.state) {
    case 'refused':
      return { ...of, state: 'refused', code: decision.refusal.code, detail: decision.refusal.detail }
    case 'unchanged':
      return { ...of, state: 'accepted', instance, entries: [] }
    case 'accepted':
      return { ...of, state: 'accepted', instance: decision.instance, entries: decision.entries }
    default:
      return decision satisfies never
  }
}

const factsOf = (instance: DevInstanceRow, factSeq: number): DevInstanceFacts => {
  const publicIp = addressOf(instance)?.publicIp
  return {
    factSeq,
    phase: instance.deletedAt === null ? instance.state : 'deleted',
    state: instance.state,
    version: instance.version,
    name: instance.name,
    sizeClass: instance.sizeClass,
    diskGb: instance.diskGb,
    runningMonthlyUsd: usdOf(runningMonthlyMicroUsd(instance)).toFixed(2),
    ...(instance.instanceId !== null && { instanceId: instance.instanceId }),
    ...(publicIp !== undefined && { publicIp }),
  }
}

const verdictOf = (instance: DevInstanceRow, isGoing: boolean): Verdict => {
  if (instance.deletedAt !== null) return ready('Deleted', `deleted at ${instance.deletedAt}; the row is kept`)
  if (isGoing) {
    return stalled(
      'INSTANCE_LIVE',
      `INSTANCE_LIVE: ${instance.instanceId} is attached; confirm it terminated, then this goes`,
    )
  }
  switch (instance.state) {
    case 'reserved':
      return waiting('Reserved', 'waits for the provisioner to launch it from its bootstrap')
    case 'provisioning':
      return waiting('Provisioning', `${instance.instanceId} was launched; waits for its report token to be issued`)
    case 'configuring':
      return waiting('Configuring', `waits for the provisioner to finalize ${instance.instanceId}`)
    case 'resizing':
      return waiting('Resizing', `waits for the resize to ${instance.intent?.to.sizeClass} to be confirmed`)
    case 'ready':
      return ready('Ready', `${instance.instanceId} is ready`)
    case 'running':
      return ready('Running', `${instance.instanceId} runs`)
    case 'stopped':
      return ready('Stopped', `${instance.instanceId} is stopped`)
    case 'terminated':
      return ready('Terminated', `${instance.instanceId} is confirmed gone`)
    default:
      return instance.state satisfies never
  }
}

const isTrue = (type: string, message: string): OwnCondition => ({ type, status: 'True', reason: type, message })

/** When the latest sign of life was: a report, or the start. */
const heardAt = (instance: DevInstanceRow, world: DevInstanceWorld): number =>
  Math.max(Date.parse(world.lastReport?.at ?? '') || 0, Date.parse(instance.startedAt ?? '') || 0)

/** What is wrong; what is not, is not said. */
const conditionsOf = (instance: DevInstanceRow, world: DevInstanceWorld, now: Date): OwnCondition[] => {
  if (instance.deletedAt !== null || instance.state === 'terminated') return []
  const conditions: OwnCondition[] = []
  if (instance.lease && now.getTime() > Date.parse(instance.lease.expiresAt)) {
    const message = `the lease of ${instance.instanceId} ran out at ${instance.lease.expiresAt}; report it again, or terminate it`
    conditions.push(isTrue('LeaseExpired', message))
  }
  if (instance.state === 'running' && now.getTime() >= heardAt(instance, world) + REPORT_STALE_MS) {
    const message = `no report since ${new Date(heardAt(instance, world)).toISOString()}; it may run without stopping itself`
    conditions.push(isTrue('ReportStale', message))
  }
  const { dirty, untracked, unpushed } = world.lastReport?.git ?? { dirty: 0, untracked: 0, unpushed: 0 }
  if (instance.instanceId !== null && dirty + untracked + unpushed > 0) {
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

const wakeOf = (
  object: DevInstanceResource,
  instance: DevInstanceRow,
  world: DevInstanceWorld,
  now: Date,
): { wakeAt?: string } => {
  if (instance.deletedAt !== null) {
    return isToGo(object, instance, world) ? { wakeAt: laterBy(now.toISOString(), BURIED_MS) } : {}
  }
  const due = [
    ...(instance.state === 'reserved' ? [Date.parse(instance.reservedAt) + RESERVATION_MS] : []),
    // A lease lasts to its very end.
    ...(instance.lease ? [Date.parse(instance.lease.expiresAt) + 1] : []),
    ...(instance.state === 'running' ? [heardAt(instance, world) + REPORT_STALE_MS] : []),
  ].filter((atMs) => atMs > now.getTime())
  return due.length === 0 ? {} : { wakeAt: new Date(Math.min(...due)).toISOString() }
}
