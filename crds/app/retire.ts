/**
 * What is over goes: a superseded release once its visitors have left it, a failed one at once. Images stay, so that a
 * rollback needs no build.
 */
import type { AppResource } from './plan.ts'
import type { AppStep } from './steps.ts'
import type { AppWorld, Release } from './world.ts'

/** How long requests that began on a superseded release may take to end. */
export const DRAIN_MAX_MS = 30_000
/** A request may be on its way from the proxy when the route changes. */
const DRAIN_MIN_MS = 1_000

type Retiring = { steps: AppStep[] /** Something is on its way: look again soon. */; isWaiting: boolean }

const isDrained = (release: Release, world: AppWorld, now: Date): boolean => {
  if (release.state !== 'superseded' || release.address === null) return true
  const sinceMs = now.getTime() - Date.parse(release.supersededAt ?? release.createdAt)
  if (sinceMs < DRAIN_MIN_MS) return false
  return sinceMs >= DRAIN_MAX_MS || (world.requests[release.address] ?? 0) === 0
}

/** The stateful services may have been changed for it: they go back to what the live release says. */
const restoresBase = (release: Release, world: AppWorld): boolean => {
  const hasLive = world.releases.some(({ state }) => state === 'live')
  return release.state === 'failed' && hasLive && (release.record?.stateful ?? []).length > 0
}

const takeDown = (release: Release, world: AppWorld): AppStep => ({
  do: 'takeDown',
  release,
  restoresBase: restoresBase(release, world),
})

/** Whether something of it may still be on the host. */
export const isOver = ({ state, retiredAt }: Release): boolean =>
  retiredAt === null && (state === 'superseded' || state === 'failed')

export const retireSteps = (_object: AppResource, world: AppWorld, now: Date): Retiring => {
  const over = world.releases.filter(isOver)
  if (over.length === 0) return { steps: [], isWaiting: false }
  // While another is being made the base belongs to it.
  const isBusy = world.operations.some(({ state }) => state === 'running')
  const steps = over.flatMap((release): AppStep[] => {
    // It was refused before anything of it reached the host.
    if (release.record === null) return [{ do: 'retire', release }]
    if (!isDrained(release, world, now)) return []
    if (world.unreachable !== null) return []
    const job = world.retiring[release.number] ?? { state: 'absent' }
    if (job.state === 'absent') {
      if (isBusy && restoresBase(release, world)) return []
      return [takeDown(release, world)]
    }
    if (job.state === 'running') return []
    // A host whose engine did not answer is asked again.
    return job.code === 0 ? [{ do: 'retire', release }] : [takeDown(release, world)]
  })
  return { steps, isWaiting: true }
}
