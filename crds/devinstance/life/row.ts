/**
 * The row of a dev instance: what its accepted facts add up to. Only transitions.ts makes a new one out of an old one.
 * Source: rules/devinstance.md#the-instance. Instants are ISO, amounts integer micro-USD.
 */
import type { AgentId } from '../bootstrap/agents.ts'
import type { Repo, State } from '../schema.ts'
import { addressMicroUsd } from '../sizing/prices.ts'
import type { Measurements, ScannerProfile } from '../sizing/profile.ts'
import { priceOf, type SizeArch, type SizeClass } from '../sizing/sizes.ts'

/** An allocation that the instance holds and pays for, attached or not. */
export type ElasticAddress = { eipAllocId: string; publicIp: string; heldFrom: string }

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

/** Spent until `since`; from then on `monthlyMicroUsd` a month. */
export type Meter = { spentMicroUsd: number; since: string; monthlyMicroUsd: number }

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
  pricingVersion: string
  reservedAt: string
  /** Of the user data as it is served. */
  bootstrapSha256: string
  instanceId: string | null
  lease: TokenLease | null
  finalizedLate: boolean
  hostKeys: string[]
  /** The allocation in use; one of `held`, or null. */
  eipAllocId: string | null
  held: ElasticAddress[]
  /** Allocations that were given back, the latest last. */
  released: string[]
  intent: ResizeIntent | null
  /** An admin has let the next resize exceed the cap. */
  capOverride: boolean
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

const runningPrice = (instance: DevInstanceRow, extent: Extent): number =>
  priceOf({ arch: instance.arch, ...extent }, instance.pricingVersion).runningMicroUsd

/** All-in price of a month while it runs. */
export const runningMonthlyMicroUsd = (instance: DevInstanceRow): number => runningPrice(instance, instance)

/**
 * What counts against the owner's cap: the running price, whatever the state, so that a start needs no second look; the
 * larger one while a resize is under way; and each address beyond the first.
 */
export const committedMicroUsd = (instance: DevInstanceRow): number => {
  if (!isLive(instance)) return 0
  const running = Math.max(runningMonthlyMicroUsd(instance), instance.intent?.runningMonthlyMicroUsd ?? 0)
  return running + Math.max(0, instance.held.length - 1) * addressMicroUsd(instance.pricingVersion)
}

/** What a month costs as it stands now. */
export const presentMonthlyMicroUsd = (instance: DevInstanceRow): number => {
  if (instance.instanceId === null || !isLive(instance)) return 0
  const { parts } = priceOf(instance, instance.pricingVersion)
  const address = addressMicroUsd(instance.pricingVersion)
  const isDown = instance.state === 'stopped' || instance.intent?.state === 'stopped'
  // A machine that was just launched has an address of which nobody has told yet.
  const isFresh = instance.state === 'provisioning' || instance.state === 'configuring'
  const addresses = isFresh ? 1 : instance.held.length
  return (isDown ? 0 : parts.computeMicroUsd) + parts.storageMicroUsd + addresses * address
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
  return { ...instance, meter: { spentMicroUsd: costToDateMicroUsd(instance, at), since: at, monthlyMicroUsd } }
}
