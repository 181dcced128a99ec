/**
 * Whose builds run on a host (rules/host.md#builds): a few at once, for each takes its app's budget beside what runs there, and by turns of
 * the accounts. Kept by whoever leads; builds that a former leader started are known by their jobs, as soon as one is seen.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { AppResource } from '../../../../crds/app/schema.ts'
import type { JobState, Operation, TargetHost } from '../../../../crds/app/world.ts'
import { belongsTo } from '../../../../crds/kernel/fields.ts'

/** On one host at once. */
const AT_ONCE = 3
/** Of one account on a host that is for several: one may take half an hour, and is not taken back. */
const OF_ONE = 2
/** One of which nothing was heard for so long holds up nobody: running, waiting. Its operation is looked at every other second. */
const HEARD_MS = { running: 120_000, waiting: 20_000 }

/** `isShared`: the host is for more than one account. */
export type BuildAsked = { operation: string; account: string; host: string; isShared: boolean }

/** How many run on one host at once, for those who wait. */
export const sayFull = (host: string): string =>
  `waits for its turn to be built: ${host} builds ${AT_ONCE} at once, and ${OF_ONE} of one account`

export type Builds = {
  /** Takes a place where it is its turn; it waits for one from then on where it is not. @returns whether it may be started */
  take(build: BuildAsked): boolean
  /** It builds nothing: it only takes images from elsewhere. */
  notePull(operation: string): void
  /**
   * How its job was seen, by whoever saw it: who starts one may see its end in the same answer. One that a former leader started
   * counts, whether it builds or not.
   */
  noteJob(build: BuildAsked, job: Pick<JobState, 'state'>): void
  /** Its operation has ended, or its job will never be. */
  noteOver(operation: string): void
  /** Whether it still waits, after so long at most. */
  waits(operation: string, waitMs: number): Promise<boolean>
}

/** @param host where it is built: null where that is not known */
export const buildOf = (
  { spec }: Pick<AppResource, 'spec'>,
  { id }: Pick<Operation, 'id'>,
  host: Pick<TargetHost, 'name' | 'account'> | null,
): BuildAsked => ({
  ...{ operation: id, account: spec.account, host: host?.name ?? spec.hostId },
  isShared: (host?.account ?? null) === null,
})

type Place = { build: BuildAsked; isRunning: boolean; heardMs: number }

/**
 * Of those that may have a place: who has the fewest, who had one longest ago, who came first.
 * @param here all of one host @param turnOf when an account had a place last @returns null where the host builds enough
 */
const nextOf = (here: readonly Place[], turnOf: (account: string) => number): BuildAsked | null => {
  const running = here.filter(({ isRunning }) => isRunning)
  if (running.length >= AT_ONCE) return null
  const ofAccount = ({ account }: BuildAsked) => running.filter(({ build }) => belongsTo(build, account)).length
  const mayGo = here
    .filter(({ build, isRunning }) => !isRunning && (!build.isShared || ofAccount(build) < OF_ONE))
    .map(({ build }) => build)
  const [first = null] = mayGo.toSorted((a, b) => ofAccount(a) - ofAccount(b) || turnOf(a.account) - turnOf(b.account))
  return first
}

export const makeBuilds = ({ nowMs = () => performance.now() }: { nowMs?: () => number } = {}): Builds => {
  /** By operation, in the order in which they came. */
  const places = new Map<string, Place>()
  /** At which turn an account had a place last. */
  const turns = new Map<string, number>()
  const pulls = new Set<string>()
  let turn = 0

  const on = (host: string): Place[] => {
    for (const [operation, { isRunning, heardMs }] of places) {
      if (nowMs() - heardMs > HEARD_MS[isRunning ? 'running' : 'waiting']) places.delete(operation)
    }
    return [...places.values()].filter(({ build }) => build.host === host)
  }

  const isNext = ({ operation, host }: BuildAsked): boolean =>
    nextOf(on(host), (account) => turns.get(account) ?? 0)?.operation === operation

  const hear = (operation: string): Place | undefined => {
    const place = places.get(operation)
    if (place) place.heardMs = nowMs()
    return place
  }

  const run = (build: BuildAsked): void => {
    places.set(build.operation, { build, isRunning: true, heardMs: nowMs() })
  }

  const noteOver = (operation: string): void => {
    places.delete(operation)
    pulls.delete(operation)
    if (places.size === 0) turns.clear()
  }

  return {
    take: (build) => {
      const place = hear(build.operation) ?? { build, isRunning: false, heardMs: nowMs() }
      places.set(build.operation, place)
      if (place.isRunning) return true
      if (!isNext(build)) return false
      turn += 1
      turns.set(build.account, turn)
      run(build)
      return true
    },
    notePull: (operation) => void pulls.add(operation),
    noteJob: (build, { state }) => {
      if (state === 'running' && !pulls.has(build.operation)) run(build)
      if (state === 'exited') noteOver(build.operation)
    },
    noteOver,
    waits: async (operation, waitMs) => {
      const isWaiting = () => {
        const place = hear(operation)
        return place !== undefined && !place.isRunning && !isNext(place.build)
      }
      if (!isWaiting()) return false
      await sleep(waitMs)
      return isWaiting()
    },
  }
}
