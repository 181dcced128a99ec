/**
 * The row of a dev instance: what its accepted facts add up to. Only transitions.ts makes a new one out of an old one.
 * Source: spec/3 "Dev instance"; research/devboxes.md section 3.4. Instants are ISO, amounts integer micro-USD.
 */
import type { AgentId } from './agents.ts'
import { addressMicroUsd } from './prices.ts'
import type { Measurements, Profile } from './profile.ts'
import type { Repo, State } from './schema.ts'
import { type Arch, priceOf, type SizeClass } from './sizes.ts'

/** An allocation that the instance holds and pays for, attached or not. */
export type Address = { eipAllocId: string; publicIp: string; heldFrom: string }

/** What a resize changes. */
export type Extent = { sizeClass: SizeClass; diskGb: number }

/** An announced resize. `state` is where it came from: its cost goes on meanwhile. */
export type Intent = {
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
export type Lease = { expiresAt: string; renewed: boolean }

export type Box = Extent & {
  /** Row version: it rises with every change that a confirmation must have seen. */
  version: number
  state: State
  name: string
  /** What the provisioner tags the machine with; moves with the name. */
  targetLabel: string
  arch: Arch
  agents: AgentId[]
  repo: Repo | null
  pricingVersion: string
  reservedAt: string
  /** Of the user data as it is served. */
  bootstrapSha256: string
  instanceId: string | null
  lease: Lease | null
  finalizedLate: boolean
  hostKeys: string[]
  /** The allocation in use; one of `held`, or null. */
  eipAllocId: string | null
  held: Address[]
  /** Allocations that were given back, the latest last. */
  released: string[]
  intent: Intent | null
  /** An admin has let the next resize exceed the cap. */
  capOverride: boolean
  profile: Profile | null
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

export const addressOf = (box: Box): Address | null =>
  box.held.find(({ eipAllocId }) => eipAllocId === box.eipAllocId) ?? null

/** Allocations that cost and serve nothing. */
export const orphansOf = (box: Box): Address[] => box.held.filter(({ eipAllocId }) => eipAllocId !== box.eipAllocId)

export const isLive = (box: Box): boolean => box.deletedAt === null && box.state !== 'terminated'

const runningPrice = (box: Box, extent: Extent): number =>
  priceOf({ arch: box.arch, ...extent }, box.pricingVersion).runningMicroUsd

/** All-in price of a month while it runs. */
export const runningMonthlyMicroUsd = (box: Box): number => runningPrice(box, box)

/**
 * What counts against the owner's cap: the running price, whatever the state, so that a start needs no second look; the
 * larger one while a resize is under way; and each address beyond the first.
 */
export const committedMicroUsd = (box: Box): number => {
  if (!isLive(box)) return 0
  const running = Math.max(runningMonthlyMicroUsd(box), box.intent?.runningMonthlyMicroUsd ?? 0)
  return running + Math.max(0, box.held.length - 1) * addressMicroUsd(box.pricingVersion)
}

/** What a month costs as it stands now. */
export const presentMonthlyMicroUsd = (box: Box): number => {
  if (box.instanceId === null || !isLive(box)) return 0
  const { parts } = priceOf(box, box.pricingVersion)
  const address = addressMicroUsd(box.pricingVersion)
  const isDown = box.state === 'stopped' || box.intent?.state === 'stopped'
  // A machine that was just launched has an address of which nobody has told yet.
  const isFresh = box.state === 'provisioning' || box.state === 'configuring'
  const addresses = isFresh ? 1 : box.held.length
  return (isDown ? 0 : parts.computeMicroUsd) + parts.storageMicroUsd + addresses * address
}

const spentSince = ({ since, monthlyMicroUsd }: Meter, at: string): number => {
  const ms = Math.max(0, Date.parse(at) - Date.parse(since))
  return Number((BigInt(monthlyMicroUsd) * BigInt(ms)) / BigInt(MONTH_MS))
}

/** What it has cost until `at`, in micro-USD. */
export const costToDateMicroUsd = ({ meter }: Pick<Box, 'meter'>, at: string): number =>
  meter.spentMicroUsd + spentSince(meter, at)

/** The meter read at `at`, running on at the price of what the box is now. */
export const metered = (box: Box, at: string): Box => {
  const monthlyMicroUsd = presentMonthlyMicroUsd(box)
  if (monthlyMicroUsd === box.meter.monthlyMicroUsd) return box
  return { ...box, meter: { spentMicroUsd: costToDateMicroUsd(box, at), since: at, monthlyMicroUsd } }
}
