/**
 * What is to be done about a dev instance: reserve it, judge what was said of it, let a reservation lapse, and what to say
 * of it. Pure. The cloud work is the provisioner's: there is no step that could touch a machine (spec/3).
 */
import type { Resource } from '../object.ts'
import { type OwnCondition, type Plan, ready, stalled, type Verdict, waiting } from '../plan.ts'
import type { ProblemCode } from '../problem.ts'
import { addressOf, type Box, orphansOf, runningMonthlyMicroUsd } from './box.ts'
import { deleted, diskGbOf, lapsed, RESERVATION_MS } from './effects.ts'
import { devInstanceFaults } from './faults.ts'
import { PRICING_VERSION, usdOf } from './prices.ts'
import { CAPABILITY } from './reserving.ts'
import type { DevInstanceSpec, DevInstanceStatus } from './schema.ts'
import { priceOf } from './sizes.ts'
import { decide, type Told } from './transitions.ts'
import type { DevInstanceRecord, DevInstanceWorld, Pending, Settlement } from './world.ts'

export type DevInstanceResource = Resource<DevInstanceSpec, DevInstanceStatus>
export type DevInstanceFacts = Omit<DevInstanceStatus, 'observedGeneration' | 'conditions'>

export type DevInstanceStep =
  /** Takes the name and a part of the cap; what came by REST has both. Stalled when there is none left. */
  | { do: 'reserve'; name: string; committedMicroUsd: number; capMicroUsd: number; pricingVersion: string }
  /** Makes the row: price, user data, history. */
  | { do: 'enter'; name: string; pricingVersion: string; rev: number }
  /** Writes one verdict and what follows from it, under the owner's row lock. */
  | { do: 'settle'; settlement: Settlement; before: Box; rev: number; capMicroUsd: number }

export type DevInstancePlan = Plan<DevInstanceStep, DevInstanceFacts>

/** A running instance that says nothing for so long may have lost its reporter (CONTRACT section 10). */
export const REPORT_STALE_MS = 5 * 60_000
/** How often an unknown account, a full cap or a taken name is looked at again, beside being woken. */
const RETRY_MS = 60_000
const STALLED_RETRY_MS = 300_000

const laterBy = (at: string, ms: number): string => new Date(Date.parse(at) + ms).toISOString()

/** @param object out of the cache, treated as frozen  @param now the platform's clock */
export const planDevInstance = (object: DevInstanceResource, world: DevInstanceWorld, now: Date): DevInstancePlan => {
  const { record } = world
  const box = record?.box ?? null
  const isOfAnother = box !== null && box.deletedAt !== null && record?.uid !== object.metadata.uid
  if (record === null || box === null || isOfAnother) {
    return planReservation(object, world, isOfAnother ? null : record)
  }
  return {
    steps: stepsOf(object, world, { ...record, box }, now),
    status: factsOf(box, world.factSeq),
    verdict: verdictOf(box, object.metadata.deletionTimestamp !== undefined),
    conditions: conditionsOf(box, world, now),
    ...wakeOf(box, world, now),
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

const stepsOf = (
  { metadata }: DevInstanceResource,
  world: DevInstanceWorld,
  { box, rev }: { box: Box; rev: number },
  now: Date,
): DevInstanceStep[] => {
  const capMicroUsd = world.account?.capMicroUsd ?? 0
  const settle = (settlement: Settlement): DevInstanceStep[] => [
    { do: 'settle', settlement, before: box, rev, capMicroUsd },
  ]
  const at = now.toISOString()
  const own = (trigger: string, made: { box: Box; told: Told[] }) =>
    settle({ seq: null, trigger, at, by: null, state: 'accepted', ...made })

  const [next] = world.pending
  if (next) return settle(judged(box, next, world))
  if (box.deletedAt !== null) return []
  if (box.state === 'reserved' && now.getTime() >= Date.parse(box.reservedAt) + RESERVATION_MS) {
    return own('lapse', lapsed(box, at))
  }
  if (metadata.deletionTimestamp !== undefined && (box.state === 'reserved' || box.state === 'terminated')) {
    const made = deleted({ box, said: {}, at, around: { git: null } })
    return own('delete', { ...made, box: { ...made.box, version: box.version + 1 } })
  }
  return []
}

const judged = (box: Box, { seq, trigger, said, by, at }: Pending, world: DevInstanceWorld): Settlement => {
  const decision = decide(trigger, { box, said, at, around: { git: world.lastReport?.git ?? null } })
  const of = { seq, trigger, at, by }
  switch (decision.state) {
    case 'refused':
      return { ...of, state: 'refused', code: decision.refusal.code, detail: decision.refusal.detail }
    case 'unchanged':
      return { ...of, state: 'accepted', box, told: [] }
    case 'accepted':
      return { ...of, state: 'accepted', box: decision.box, told: decision.told }
    default:
      return decision satisfies never
  }
}

const factsOf = (box: Box, factSeq: number): DevInstanceFacts => {
  const publicIp = addressOf(box)?.publicIp
  return {
    factSeq,
    phase: box.deletedAt === null ? box.state : 'deleted',
    state: box.state,
    version: box.version,
    name: box.name,
    sizeClass: box.sizeClass,
    diskGb: box.diskGb,
    runningMonthlyUsd: usdOf(runningMonthlyMicroUsd(box)).toFixed(2),
    ...(box.instanceId !== null && { instanceId: box.instanceId }),
    ...(publicIp !== undefined && { publicIp }),
  }
}

const verdictOf = (box: Box, isGoing: boolean): Verdict => {
  if (box.deletedAt !== null) return ready('Deleted', `deleted at ${box.deletedAt}; the row is kept`)
  if (isGoing) {
    return stalled(
      'INSTANCE_LIVE',
      `INSTANCE_LIVE: ${box.instanceId} is attached; confirm it terminated, then this goes`,
    )
  }
  switch (box.state) {
    case 'reserved':
      return waiting('Reserved', 'waits for the provisioner to launch it from its bootstrap')
    case 'provisioning':
      return waiting('Provisioning', `${box.instanceId} was launched; waits for its report token to be issued`)
    case 'configuring':
      return waiting('Configuring', `waits for the provisioner to finalize ${box.instanceId}`)
    case 'resizing':
      return waiting('Resizing', `waits for the resize to ${box.intent?.to.sizeClass} to be confirmed`)
    case 'ready':
      return ready('Ready', `${box.instanceId} is ready`)
    case 'running':
      return ready('Running', `${box.instanceId} runs`)
    case 'stopped':
      return ready('Stopped', `${box.instanceId} is stopped`)
    case 'terminated':
      return ready('Terminated', `${box.instanceId} is confirmed gone`)
    default:
      return box.state satisfies never
  }
}

const isTrue = (type: string, message: string): OwnCondition => ({ type, status: 'True', reason: type, message })

/** When the latest sign of life was: a report, or the start. */
const heardAt = (box: Box, world: DevInstanceWorld): number =>
  Math.max(Date.parse(world.lastReport?.at ?? '') || 0, Date.parse(box.startedAt ?? '') || 0)

/** What is wrong; what is not, is not said. */
const conditionsOf = (box: Box, world: DevInstanceWorld, now: Date): OwnCondition[] => {
  if (box.deletedAt !== null || box.state === 'terminated') return []
  const conditions: OwnCondition[] = []
  if (box.lease && now.getTime() > Date.parse(box.lease.expiresAt)) {
    const message = `the lease of ${box.instanceId} ran out at ${box.lease.expiresAt}; report it again, or terminate it`
    conditions.push(isTrue('LeaseExpired', message))
  }
  if (box.state === 'running' && now.getTime() >= heardAt(box, world) + REPORT_STALE_MS) {
    const message = `no report since ${new Date(heardAt(box, world)).toISOString()}; it may run without stopping itself`
    conditions.push(isTrue('ReportStale', message))
  }
  const { dirty, untracked, unpushed } = world.lastReport?.git ?? { dirty: 0, untracked: 0, unpushed: 0 }
  if (box.instanceId !== null && dirty + untracked + unpushed > 0) {
    const message = `${dirty} changed and ${untracked} untracked files, ${unpushed} commits not pushed`
    conditions.push(isTrue('WorkAtRisk', message))
  }
  const orphans = orphansOf(box).map(({ eipAllocId }) => eipAllocId)
  if (orphans.length > 0) {
    const message = `${orphans.join(', ')} held and not in use: release it, and confirm by eip-released`
    conditions.push(isTrue('AddressOrphaned', message))
  }
  return conditions
}

const wakeOf = (box: Box, world: DevInstanceWorld, now: Date): { wakeAt?: string } => {
  if (box.deletedAt !== null) return {}
  const due = [
    ...(box.state === 'reserved' ? [Date.parse(box.reservedAt) + RESERVATION_MS] : []),
    // A lease lasts to its very end.
    ...(box.lease ? [Date.parse(box.lease.expiresAt) + 1] : []),
    ...(box.state === 'running' ? [heardAt(box, world) + REPORT_STALE_MS] : []),
  ].filter((atMs) => atMs > now.getTime())
  return due.length === 0 ? {} : { wakeAt: new Date(Math.min(...due)).toISOString() }
}
