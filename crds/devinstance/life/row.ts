/**
 * The row of a dev instance: what its accepted facts add up to. Only transitions.ts makes a new one out of an old one.
 * Source: rules/devinstance.md#the-instance. Instants are ISO, amounts integer micro-USD.
 */

import type { ProblemCode } from '../../kernel/problem.ts'
import type { AgentId } from '../bootstrap/agents.ts'
import type { Trigger } from '../protocol.ts'
import type { Policy, Power, Repo, State } from '../schema.ts'
import { addressMicroUsd, type Price, priceTable } from '../sizing/prices.ts'
import { reviewedRegion } from '../sizing/pricing/launched.ts'
import { DEFAULT_REGION } from '../sizing/pricing/reviewed.ts'
import type { Measurements, ScannerProfile } from '../sizing/profile.ts'
import { instanceTypeOf, priceOf, type Shape, type SizeArch, type SizeClass } from '../sizing/sizes.ts'

/** An allocation that the instance holds and pays for, attached or not. */
export type ElasticAddress = { eipAllocId: string; publicIp: string; heldFrom: string }

/**
 * What was launched, as whoever looked at it last has told: by that it is billed, whatever was reserved. Null where nobody told;
 * since a resize, too, unless it was told again.
 */
export type LaunchedFacts = {
  instanceType: string | null
  region: string | null
  imageId: string | null
  /** Of what its image had installed; null: it was no baked one, or is from before that was told. */
  bakedSha256: string | null
  volumeType: string | null
  diskGb: number | null
  /** Installed versions. */
  agents: Record<string, string>
}

/** What a resize changes. */
export type Extent = { sizeClass: SizeClass; diskGb: number }

/** An announced resize. `state` is where it came from: its cost goes on meanwhile. */
export type ResizeIntent = {
  from: Extent
  to: Extent
  state: 'ready' | 'running' | 'stopped'
  runningMonthlyMicroUsd: number
  overrideUsed: boolean
  announcedAt: string
}

/** A start that was asked for; `newAddress` has the price of a further address committed until it is confirmed. */
export type StartIntent = { newAddress: boolean; announcedAt: string }

/** An end that was asked for: nothing is committed by it, and it is taken back by asking for something else. */
export type EndIntent = { acknowledgedWorkAtRisk: boolean; announcedAt: string }

/** Whether the machine computes, by whoever spoke of it last; gone: it is confirmed that there is none any more. */
export type Machine = 'up' | 'down' | 'gone'

/** An instance that was reported beside the attached one, and costs as that does. */
export type OtherInstance = { instanceId: string; seenAt: string }

/**
 * What the spec said last of power. `open`: it is neither fulfilled nor overtaken. `wish`: the number that it was wished under. `asked`: what is
 * open was asked for over REST since, and the spec is as it was.
 */
export type PowerWish = {
  power: Power | null
  wish: number
  generation: number
  at: string
  open: boolean
  asked?: Power
}

/** What it is to do, whoever says so; null: nothing is awaited. */
export const awaitedPower = ({ open, asked, power }: PowerWish): Power | null => (open ? (asked ?? power) : null)

/** The same with nothing awaited. */
export const closedWish = ({ asked: _, ...wish }: PowerWish): PowerWish => ({ ...wish, open: false })

/**
 * What the spec said last of the size. `open`: what is wished and not confirmed yet. `undoneAt`: it was tried, and the size that was
 * confirmed is another one; it is not tried again by itself.
 */
export type SizeWish = {
  sizeClass: SizeClass
  diskGb: number | null
  wish: number
  generation: number
  at: string
  open: Extent | null
  undoneAt: string | null
}

/** An admin has let the next resize exceed the cap, until then. */
export type CapOverride = { grantedAt: string; expiresAt: string }

/** A rule that something which happened has broken: on record until what ends it (breaches.ts). One a code. */
export type Breach = { code: ProblemCode; on: Trigger; at: string; detail: string; limitMicroUsd?: number }

/** Spent until `since`; from then on `monthlyMicroUsd` a month. `beforeMonthMicroUsd`: of it, until the month (UTC) of `since` began. */
export type Meter = { spentMicroUsd: number; since: string; monthlyMicroUsd: number; beforeMonthMicroUsd: number }

/** The thirty minutes within which a reported instance must have got its token. */
export type TokenLease = { expiresAt: string; renewed: boolean }

export type DevInstanceRow = Extent & {
  /** Row version: it rises with every change that a confirmation must have seen. */
  version: number
  state: State
  name: string
  /** What the provisioner tags the machine with; moves with the name. */
  targetLabel: string
  arch: SizeArch
  agents: AgentId[]
  repo: Repo | null
  /** As its spec said last. */
  policy: Policy
  pricingVersion: string
  reservedAt: string
  /** Of the user data as it is served. */
  bootstrapSha256: string
  /** The version of the programs in it; not there: from before they had one. */
  programs?: number
  instanceId: string | null
  /** Null: none was ever reported. It is billed by this, whatever the state says. */
  machine: Machine | null
  machineSince: string
  /** Its volumes are confirmed gone. */
  volumesGone: boolean
  strays: OtherInstance[]
  lease: TokenLease | null
  finalizedLate: boolean
  hostKeys: string[]
  /**
   * How it was found when it attested again last: what did not hold, in words; and how often that was news in an hour
   * (`2026-11-22T10`). Not there: it has not since it was finalized.
   */
  attestation?: { at: string; faults: string[]; counted?: { hour: string; times: number } }
  launched: LaunchedFacts | null
  /** The allocation in use; one of `held`, or null. */
  eipAllocId: string | null
  held: ElasticAddress[]
  /** Allocations that were given back, the latest last. */
  released: string[]
  intent: ResizeIntent | null
  starting: StartIntent | null
  terminating: EndIntent | null
  powerWish: PowerWish
  sizeWish: SizeWish
  capOverride: CapOverride | null
  breaches: Breach[]
  profile: ScannerProfile | null
  measurements: Measurements | null
  /** The fact that carried the present environment, and the names in it. */
  env: { key: string; keys: string[] } | null
  /** Keyed hash of the one report token, hex. */
  tokenHash: string | null
  teams: string[]
  meter: Meter
  stateSince: string
  /** Since when it has its present size. */
  sizedAt: string
  /** The latest start; the clock of idleness begins there. */
  startedAt: string | null
  terminatedAt: string | null
  deletedAt: string | null
}

/** A month of 730 hours. */
const MONTH_MS = 730 * 3_600_000

export const addressOf = (instance: DevInstanceRow): ElasticAddress | null =>
  instance.held.find(({ eipAllocId }) => eipAllocId === instance.eipAllocId) ?? null

/** Allocations that cost and serve nothing. */
export const orphansOf = (instance: DevInstanceRow): ElasticAddress[] =>
  instance.held.filter(({ eipAllocId }) => eipAllocId !== instance.eipAllocId)

export const isLive = (instance: DevInstanceRow): boolean =>
  instance.deletedAt === null && instance.state !== 'terminated'

/** Whether an instance type has a price somewhere in a version. */
const isPricedIn = (region: string, instanceType: string, pricingVersion: string): boolean =>
  reviewedRegion(region, pricingVersion) !== undefined &&
  Object.hasOwn(priceTable(pricingVersion, region).computePerHour, instanceType)

/** Where it is priced: where it was launched if its size has a price there, else where it was reserved. */
export const pricedRegionOf = ({ arch, sizeClass, launched, pricingVersion }: DevInstanceRow): string => {
  const region = launched?.region
  const isKnown = region != null && isPricedIn(region, instanceTypeOf({ arch, sizeClass }), pricingVersion)
  return isKnown ? region : DEFAULT_REGION
}

/** Whether an instance type has a price where the instance is priced. */
export const hasPrice = (instanceType: string, instance: DevInstanceRow): boolean =>
  isPricedIn(pricedRegionOf(instance), instanceType, instance.pricingVersion)

/** What it is as far as its price goes: as it was launched, where that has a price, else as it was reserved. */
const pricedShape = (instance: DevInstanceRow): Shape => {
  const { arch, sizeClass, diskGb, launched } = instance
  const instanceType = launched?.instanceType
  const isPriced = instanceType != null && hasPrice(instanceType, instance)
  return { arch, sizeClass, diskGb: launched?.diskGb ?? diskGb, ...(isPriced && { instanceType }) }
}

/** All-in prices of a month, as it was launched. */
export const launchedPrice = (instance: DevInstanceRow): Price => {
  const { pricingVersion } = instance
  return priceOf(pricedShape(instance), { pricingVersion, region: pricedRegionOf(instance) })
}

/** What was promised with the size, whatever was launched. */
export const reservedPrice = ({ arch, sizeClass, diskGb, pricingVersion }: DevInstanceRow): Price =>
  priceOf({ arch, sizeClass, diskGb }, pricingVersion)

/** All-in price of a month while it runs. */
export const runningMonthlyMicroUsd = (instance: DevInstanceRow): number => launchedPrice(instance).runningMicroUsd

/** Whether anything is left that must be taken down. */
const isGone = (instance: DevInstanceRow): boolean => instance.machine === 'gone' || instance.state === 'terminated'

/**
 * What counts against the owner's cap: the running price, whatever the state, so that a start needs no second look, not as another
 * type of its size either; the larger one while a resize is under way; each address beyond the first; each instance beside the
 * attached one. Of what is confirmed gone, or was deleted, only what still costs.
 */
export const committedMicroUsd = (instance: DevInstanceRow): number => {
  const present = presentMonthlyMicroUsd(instance)
  if (isGone(instance) || instance.deletedAt !== null) return present
  const promised = Math.max(reservedPrice(instance).runningMicroUsd, instance.intent?.runningMonthlyMicroUsd ?? 0)
  const running = Math.max(runningMonthlyMicroUsd(instance), promised)
  const addresses = instance.held.length + (instance.starting?.newAddress ? 1 : 0)
  const further = Math.max(0, addresses - 1) * addressMicroUsd(instance.pricingVersion)
  return Math.max(present, running + further + straysMicroUsd(instance))
}

/** Nobody has said what they are: each is taken for one like the attached one. */
const straysMicroUsd = (instance: DevInstanceRow): number => instance.strays.length * runningMonthlyMicroUsd(instance)

/** What a month costs as it stands now: by what is there, part by part; of one that was deleted, too, should it be seen again. */
export const presentMonthlyMicroUsd = (instance: DevInstanceRow): number => {
  const { parts } = launchedPrice(instance)
  const { machine, state, held } = instance
  const isThere = machine === 'up' || machine === 'down'
  const storage = machine !== null && !instance.volumesGone ? parts.storageMicroUsd : 0
  // A machine that was just launched has an address of which nobody has told yet.
  const isFresh = isThere && (state === 'provisioning' || state === 'configuring')
  const addresses = isFresh ? Math.max(1, held.length) : held.length
  const compute = machine === 'up' ? parts.computeMicroUsd : 0
  return compute + storage + addresses * addressMicroUsd(instance.pricingVersion) + straysMicroUsd(instance)
}

const spentSince = ({ since, monthlyMicroUsd }: Meter, at: string): number => {
  const ms = Math.max(0, Date.parse(at) - Date.parse(since))
  return Number((BigInt(monthlyMicroUsd) * BigInt(ms)) / BigInt(MONTH_MS))
}

/** What it has cost until `at`, in micro-USD. */
export const costToDateMicroUsd = ({ meter }: Pick<DevInstanceRow, 'meter'>, at: string): number =>
  meter.spentMicroUsd + spentSince(meter, at)

/** The meter read at `at`, running on at the price of what the dev instance is now. */
export const metered = (instance: DevInstanceRow, at: string): DevInstanceRow => {
  const monthlyMicroUsd = presentMonthlyMicroUsd(instance)
  if (monthlyMicroUsd === instance.meter.monthlyMicroUsd) return instance
  const beforeMonthMicroUsd = beforeMonth(instance, at)
  const spentMicroUsd = costToDateMicroUsd(instance, at)
  return { ...instance, meter: { spentMicroUsd, since: at, monthlyMicroUsd, beforeMonthMicroUsd } }
}

/** In UTC, as the costs are told. */
const monthOf = (at: string): string => at.slice(0, '2026-01'.length)

/** What it had cost when the month of `at` began. */
const beforeMonth = ({ meter }: Pick<DevInstanceRow, 'meter'>, at: string): number =>
  monthOf(at) === monthOf(meter.since)
    ? meter.beforeMonthMicroUsd
    : costToDateMicroUsd({ meter }, `${monthOf(at)}-01T00:00:00.000Z`)

/** What it has cost in the month of `at` until then, in micro-USD. */
export const monthCostMicroUsd = (instance: Pick<DevInstanceRow, 'meter'>, at: string): number =>
  costToDateMicroUsd(instance, at) - beforeMonth(instance, at)
