/**
 * What is over goes: a superseded release once its visitors have left it, a failed one at once. Images stay, so that a
 * rollback needs no build.
 */
import type { AppStep } from '../steps.ts'
import type { AppWorld, Release } from '../world.ts'

/**
 * How long what began on a superseded release may take to end, open WebSockets and event streams among it: as long as a
 * pod is given by Kubernetes, and an instance by Heroku and Render, before it is ended.
 */
export const DRAIN_MAX_MS = 30_000
/** A request may be on its way from the proxy when the route changes. */
const DRAIN_MIN_MS = 1_000

type Retiring = { steps: AppStep[] /** Something is on its way: look again soon. */; isWaiting: boolean }

const sinceMs = ({ supersededAt, createdAt }: Release, now: Date): number =>
  now.getTime() - Date.parse(supersededAt ?? createdAt)

/** Before that there is nothing to find out about one that is over. */
export const mayLeave = (release: Release, now: Date): boolean =>
  release.state !== 'superseded' || release.address === null || sinceMs(release, now) >= DRAIN_MIN_MS

const isDrained = (release: Release, world: AppWorld, now: Date): boolean => {
  if (!mayLeave(release, now)) return false
  if (release.state !== 'superseded' || release.address === null) return true
  if (sinceMs(release, now) >= DRAIN_MAX_MS) return true
  return world.requests !== null && (world.requests[release.address] ?? 0) === 0
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
const stepFor = (release: Release, world: AppWorld, now: Date): AppStep | null => {
  // It was refused before anything of it reached the host.
  if (release.record === null) return { do: 'retire', release }
  if (world.unreachable !== null || !isDrained(release, world, now)) return null
  const job = world.retiring[release.number] ?? { state: 'absent' }
  if (job.state === 'running') return null
  if (job.state === 'exited' && job.code === 0) return { do: 'retire', release }
  // While another is being made the base belongs to it. A host whose engine did not answer is asked again.
  const isBusy = world.operations.some(({ state }) => state === 'running')
  return isBusy && restoresBase(release) ? null : takeDown(release)
}

export const retireSteps = (world: AppWorld, now: Date): Retiring => {
  const over = world.releases.filter(isOver)
  const steps = over.map((release) => stepFor(release, world, now)).filter((step) => step !== null)
  return { steps, isWaiting: over.length > 0 }
}
