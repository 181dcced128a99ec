/**
 * Replicas that visitors are not led to any more end what was begun on them, and go (rules/app.md#drain); what a scale has left
 * that did not come to its end goes at once. WebSockets that are to be cut are, where their container stays.
 */
import { addressesIn } from '../../compose/replicas.ts'
import type { AppSpec } from '../../schema.ts'
import type { AppStep } from '../../steps.ts'
import type { AppWorld, LeavingReplica, Release } from '../../world.ts'
import { heldRelease } from '../health/watch.ts'
import { isRestoring } from '../keeping/backups/backup.ts'
import { drainMsOf, isQuiet, mayLeave, streamsOn } from '../retire.ts'

/** A request may be on its way from the proxy when the route changes. */
const DRAIN_MIN_MS = 1_000

const isDrained = ({ address, since }: LeavingReplica, world: AppWorld, spec: AppSpec, now: Date): boolean => {
  if (address === null || since === null) return true
  const sinceMs = now.getTime() - Date.parse(since)
  if (sinceMs < DRAIN_MIN_MS) return false
  return sinceMs >= drainMsOf(spec) || isQuiet(spec, world, [address])
}

const liveIn = ({ releases }: Pick<AppWorld, 'releases'>): Release | undefined =>
  releases.find(({ state }) => state === 'live')

/** Replicas of the live release that drain. */
export const leavingIn = (world: Pick<AppWorld, 'releases'>): LeavingReplica[] => liveIn(world)?.record?.leaving ?? []

/** Those of a release that is over drain, and go, with all of it. */
export const leavingSteps = (spec: AppSpec, world: AppWorld, now: Date): AppStep[] => {
  const live = liveIn(world)
  // Whoever starts some meanwhile may mean the same.
  const isScaled = world.operations.some(({ kind, state }) => kind === 'scale' && state === 'running')
  if (!live || world.unreachable !== null || isScaled || isRestoring(world)) return []
  const leaving = live.record?.leaving ?? []
  const names = leaving.filter((one) => isDrained(one, world, spec, now)).map(({ name }) => name)
  const known = new Set(leaving.map(({ name }) => name))
  const strays = (world.look?.strays ?? []).filter((name) => !known.has(name))
  const all = [...names, ...strays]
  return all.length === 0 ? [] : [{ do: 'dropReplicas', release: live, names: all }]
}

/** The release before is kept to go back to, and its containers stay: where WebSockets are to be cut, they are started anew. */
export const cutSteps = (spec: AppSpec, world: AppWorld, now: Date): AppStep[] => {
  const held = spec.websockets === 'cut' ? heldRelease(world, now) : null
  if (!held || world.unreachable !== null || !mayLeave(held, now)) return []
  const addresses = addressesIn(held.address)
  const isLate = now.getTime() - Date.parse(held.supersededAt ?? held.createdAt) >= drainMsOf(spec)
  const isFree = isLate || isQuiet(spec, world, addresses)
  return isFree && streamsOn(world, addresses) > 0 ? [{ do: 'cutStreams', release: held }] : []
}
