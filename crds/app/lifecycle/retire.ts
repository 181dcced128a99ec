/**
 * What is over goes: a superseded release once its visitors have left it, a failed one that had none at once. Images stay, so
 * that a rollback needs no build (rules/app.md#drain).
 */
import { addressesIn } from '../compose/replicas.ts'
import { isInUse } from '../runs/plan.ts'
import type { AppSpec } from '../schema.ts'
import type { AppStep } from '../steps.ts'
import type { AppWorld, Release } from '../world.ts'
import { DRAIN_SECONDS, heldRelease } from './health/watch.ts'
import { isRestoring } from './keeping/backups/backup.ts'
import { isElsewhere } from './keeping/moving/place.ts'
import { streamAddressOf } from './scaling/streams.ts'

/**
 * How long what began on a superseded release may take to end, open WebSockets and event streams among it, where the app
 * does not say: an upload of half a minute that began at the switch comes through.
 */
export const DRAIN_MAX_MS = DRAIN_SECONDS * 1_000

export const drainMsOf = ({ drainSeconds }: Pick<AppSpec, 'drainSeconds'>): number =>
  drainSeconds === undefined ? DRAIN_MAX_MS : drainSeconds * 1_000
/** A request may be on its way from the proxy when the route changes. */
const DRAIN_MIN_MS = 1_000

type Leaving = { now: Date; spec: AppSpec }
type Retiring = { steps: AppStep[] /** Something is on its way: look again soon. */; isWaiting: boolean }

const sinceMs = ({ supersededAt, createdAt }: Release, now: Date): number =>
  now.getTime() - Date.parse(supersededAt ?? createdAt)

/** Visitors were on it: what they began there may be under way. */
export const wasReached = ({ liveAt, address }: Release): boolean => liveAt !== null && address !== null

/** Before that there is nothing to find out about one that is over. */
export const mayLeave = (release: Release, now: Date): boolean =>
  !wasReached(release) || sinceMs(release, now) >= DRAIN_MIN_MS

const countOn = ({ requests }: AppWorld, addresses: readonly string[]): number =>
  addresses.reduce((sum, address) => sum + (requests?.[address] ?? 0), 0)

/** How many connections are counted apart, for they are to be cut. */
export const streamsOn = (world: AppWorld, addresses: readonly string[]): number =>
  countOn(world, addresses.map(streamAddressOf))

/** Nothing is under way at any of these addresses that is waited for; false where the proxy was not asked. */
export const isQuiet = (
  { websockets }: Pick<AppSpec, 'websockets'>,
  world: AppWorld,
  addresses: readonly string[],
): boolean => {
  const streams = websockets === 'cut' ? 0 : streamsOn(world, addresses)
  return world.requests !== null && countOn(world, addresses) + streams === 0
}

/** Where what was begun on a release may be under way; those that a scale has sent away drain with all of it. */
export const addressesOf = ({ address, record }: Release): string[] => [
  ...new Set([...addressesIn(address), ...(record?.leaving ?? []).flatMap((one) => one.address ?? [])]),
]

const isDrained = (release: Release, world: AppWorld, { now, spec }: Leaving): boolean => {
  if (!mayLeave(release, now)) return false
  if (!wasReached(release) || release.address === null) return true
  return sinceMs(release, now) >= drainMsOf(spec) || isQuiet(spec, world, addressesOf(release))
}

/** The stateful services may have been changed for it: they go back to what the live release says, or away when nothing is live. */
const restoresBase = ({ state, record }: Release): boolean => state === 'failed' && (record?.stateful ?? []).length > 0

/** Somebody puts the base back just now: whoever starts it anew meanwhile would have it taken away again. */
export const isBaseHeld = ({ releases, retiring }: AppWorld): boolean =>
  releases.some((release) => isOver(release) && restoresBase(release) && retiring[release.number]?.state === 'running')

const takeDown = (release: Release): AppStep => ({ do: 'takeDown', release, restoresBase: restoresBase(release) })

/** Whether something of it may still be on the host. */
export const isOver = ({ state, retiredAt }: Release): boolean =>
  retiredAt === null && (state === 'superseded' || state === 'failed')

/** What is next for one that is over; null while there is nothing to do but wait. */
const stepFor = (release: Release, world: AppWorld, leaving: Leaving): AppStep | null => {
  // It was refused before anything of it reached the host.
  if (release.record === null) return { do: 'retire', release, log: null }
  if (world.unreachable !== null || isInUse(world, release.number) || !isDrained(release, world, leaving)) return null
  const job = world.retiring[release.number] ?? { state: 'absent' }
  if (job.state === 'running') return null
  // What one said that never was live stands in the log of its start.
  if (job.state === 'exited' && job.code === 0)
    return { do: 'retire', release, log: release.liveAt === null ? null : job.log }
  // While another is being made the base belongs to it. A host whose engine did not answer is asked again.
  const isBusy = world.operations.some(({ state }) => state === 'running') || isRestoring(world)
  return isBusy && restoresBase(release) ? null : takeDown(release)
}

/** @param spec says how long what began may take to end */
export const retireSteps = (spec: AppSpec, world: AppWorld, now: Date): Retiring => {
  const held = heldRelease(world, now)
  // One on another host goes with all that is there.
  const over = world.releases.filter(
    (release) => isOver(release) && release !== held && !isElsewhere(release, world.home),
  )
  const leaving = { now, spec }
  const steps = over.map((release) => stepFor(release, world, leaving)).filter((step) => step !== null)
  return { steps, isWaiting: over.length > 0 }
}
