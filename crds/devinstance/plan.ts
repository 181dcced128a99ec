/**
 * What is to be done about a dev instance: reserve it, judge what was said of it, let a reservation lapse, and what to say
 * of it. Pure. The cloud work is the provisioner's: there is no step that could touch a machine
 * (rules/devinstance.md#a-registry-and-a-policy).
 */
import { originOf } from '../kernel/desire/desire.ts'
import type { Resource } from '../kernel/object.ts'
import { type Plan, ready, stalled, type Verdict, waiting } from '../kernel/plan.ts'
import type { ProblemCode } from '../kernel/problem.ts'
import { devInstanceFaults } from './faults.ts'
import type { Surroundings } from './life/context.ts'
import { diskGbOf, RESERVATION_MS } from './life/effects.ts'
import { addressOf, type DevInstanceRow, runningMonthlyMicroUsd } from './life/row.ts'
import { decide } from './life/transitions.ts'
import { CAPABILITY } from './reserving.ts'
import { type DevInstanceSpec, type DevInstanceStatus, policyOf } from './schema.ts'
import { PRICING_VERSION, usdOf } from './sizing/prices.ts'
import { priceOf } from './sizing/sizes.ts'
import { attestationAwaited } from './standing/attesting.ts'
import { conditionsOf, heardAt, REPORT_STALE_MS } from './standing/conditions.ts'
import { costShownAt, idleSinceOf, monthUsdOf } from './standing/figures.ts'
import { launchedFrom } from './standing/launch.ts'
import { aroundWish, newWishes, wishVerdict } from './standing/wishes.ts'
import type { Call, DevInstanceRecord, DevInstanceWorld, Sayable, TransitionSettlement } from './world.ts'

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
  const isGoing = object.metadata.deletionTimestamp !== undefined
  return {
    steps: stepsOf(object, world, { ...record, box: instance }, now),
    status: factsOf(object, instance, world, now),
    verdict: wishVerdict(object, instance, world, now) ?? verdictOf(instance, isGoing),
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

/** Whether the resource is to go with its instance: a manifest that is applied again then is a new reservation. */
const isToGo = ({ metadata }: DevInstanceResource, instance: DevInstanceRow, world: DevInstanceWorld): boolean => {
  // one that was lost has no resource to delete
  const isThere = metadata.deletionTimestamp === undefined && !metadata.isLost && !world.isRemoved
  return isThere && instance.deletedAt !== null
}

const stepsOf = (
  object: DevInstanceResource,
  world: DevInstanceWorld,
  { box: instance, rev }: { box: DevInstanceRow; rev: number },
  now: Date,
): DevInstanceStep[] => {
  const capMicroUsd = world.account?.capMicroUsd ?? 0
  const at = now.toISOString()
  const around = { git: world.lastReport?.git ?? null }
  const settle = (settlement: TransitionSettlement): DevInstanceStep[] => [
    { do: 'settle', settlement, before: instance, rev, capMicroUsd },
  ]

  const [next] = world.pending
  if (next) {
    const from = launchedFrom(instance, next)
    return settle(judged(instance, next, { ...around, ...(from && { launchedFrom: from }) }))
  }
  if (instance.deletedAt !== null) {
    // Until its status says so, the admission policy knows of an instance that is attached, and holds it.
    return object.status?.phase === 'deleted' && isToGo(object, instance, world) ? [{ do: 'remove' }] : []
  }
  for (const said of ownWords(object, instance, now)) {
    const seen = isWish(said) ? aroundWish(world) : around
    const settlement = judged(instance, { ...said, seq: null, by: null, at }, seen)
    if (settlement.state === 'accepted' && settlement.instance !== instance) return settle(settlement)
  }
  return []
}

type OwnWords = Exclude<Sayable, { trigger: 'reserve' }>

const isWish = ({ trigger }: OwnWords): boolean => trigger === 'wish-power' || trigger === 'wish-size'

/** So long after its end a terminated one keeps its resource; its row stays (rules/devinstance.md#the-end-of-a-resource). */
export const TERMINATED_KEPT_MS = 30 * 24 * 3_600_000

const endsAt = ({ state, terminatedAt }: DevInstanceRow): number =>
  state === 'terminated' && terminatedAt !== null ? Date.parse(terminatedAt) + TERMINATED_KEPT_MS : Number.NaN

/** What the spec and the clock say, of which the table takes what its rules let through. */
const ownWords = (object: DevInstanceResource, instance: DevInstanceRow, now: Date): OwnWords[] => {
  const { spec, metadata } = object
  const isGoing = metadata.deletionTimestamp !== undefined
  return [
    { trigger: 'policy', said: { policy: policyOf(spec) } },
    { trigger: 'override-lapse', said: {} },
    { trigger: 'lapse', said: {} },
    ...(isGoing || now.getTime() >= endsAt(instance) ? [{ trigger: 'delete' as const, said: {} }] : []),
    ...(isGoing ? [] : newWishes(object, instance)),
  ]
}

/** How a call ends. @param around with what the database has found in the way, where it has */
export const judged = (instance: DevInstanceRow, call: Call, around: Surroundings): TransitionSettlement => {
  const { at, said } = call
  const decision = decide(call.trigger, { instance, said: said as never, at, around })
  const of = { ...call, around }
  switch (decision.state) {
    case 'refused':
      return { ...of, state: 'refused', ...decision.refusal }
    case 'recorded': {
      const { refusal, instance: changed, entries } = decision
      return { ...of, state: 'refused', ...refusal, recorded: { instance: changed, entries } }
    }
    case 'unchanged':
      return { ...of, state: 'accepted', instance, entries: [] }
    case 'accepted':
      return { ...of, state: 'accepted', instance: decision.instance, entries: decision.entries }
    default:
      return decision satisfies never
  }
}

const factsOf = (
  { status }: DevInstanceResource,
  instance: DevInstanceRow,
  world: DevInstanceWorld,
  now: Date,
): DevInstanceFacts => {
  const publicIp = addressOf(instance)?.publicIp
  const idleSince = idleSinceOf(instance, world, now)
  return {
    factSeq: world.factSeq,
    phase: instance.deletedAt === null ? instance.state : 'deleted',
    state: instance.state,
    version: instance.version,
    name: instance.name,
    sizeClass: instance.sizeClass,
    diskGb: instance.diskGb,
    runningMonthlyUsd: usdOf(runningMonthlyMicroUsd(instance)).toFixed(2),
    monthUsd: monthUsdOf(instance, status?.monthUsd, now),
    ...(idleSince !== null && { idleSince }),
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
    ...(instance.machine === null ? [Date.parse(instance.reservedAt) + RESERVATION_MS] : []),
    // A lease lasts to its very end.
    ...(instance.lease ? [Date.parse(instance.lease.expiresAt) + 1] : []),
    ...(instance.state === 'running' ? [heardAt(instance, world) + REPORT_STALE_MS] : []),
    attestationAwaited(instance, world)?.dueMs ?? 0,
    ...(instance.capOverride ? [Date.parse(instance.capOverride.expiresAt)] : []),
    ...(Number.isNaN(endsAt(instance)) ? [] : [endsAt(instance)]),
    ...(instance.meter.monthlyMicroUsd > 0 ? [costShownAt(instance, now)] : []),
    ...(wishVerdict(object, instance, world, now)?.state === 'stalled' ? [now.getTime() + STALLED_RETRY_MS] : []),
  ].filter((atMs) => atMs > now.getTime())
  return due.length === 0 ? {} : { wakeAt: new Date(Math.min(...due)).toISOString() }
}
