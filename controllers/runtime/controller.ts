/**
 * A controller: keys from the cache through a queue into passes (rules/platform.md#passes). What a pass does stands in pass.ts.
 */

import { type Key, RECONCILE_REQUESTED_AT, type Resource } from '../../crds/kernel/object.ts'
import type { Backoff } from '../base/backoff.ts'
import type { Change } from '../kube/watching/listeners.ts'
import { isAway } from '../store/pg/away.ts'
import type { Controller, ControllerDeps, ControllerMetrics, Gone, PassResult, SeenGone } from './contract.ts'
import type { QueueLane } from './lanes.ts'
import { makePass } from './pass.ts'
import { makeQueue } from './queue.ts'

const CONCURRENCY = 16
const OBSERVE_LIMIT_MS = 10_000
const ACT_LIMIT_MS = 30_000
/** Work that lasts longer is said in the status. */
const QUIET_MS = 2_000
/** What failed for want of the control plane or the ledger is tried soon after they are back, however long they were away. */
const AWAY_BACKOFF: Backoff = { minMs: 50, maxMs: 5_000 }

export type RunningController = {
  /** Something outside changed: look at this object. @param lane `asked` when left out */
  wake(key: Key, lane?: QueueLane): void
  /** It is not there: its deletion is on record, or it is taken for deleted while nobody looked. */
  forget(key: Key, how: Gone): void
  /** Keys that wait, without delayed ones, and keys that run. */
  busy(): number
  /** Starts no more passes; those under way may end until the deadline. @returns whether all did */
  stop(deadlineMs: number): Promise<boolean>
}

/**
 * Our own write comes back as a watch event, sometimes before its answer does. While a write is in flight events for the
 * key are held; the one that carries the version we wrote is dropped, any other wakes.
 */
const makeOwnWrites = (wake: (key: Key) => void) => {
  const held = new Map<Key, Set<string>>()
  return {
    onEvent: (key: Key, version: string) => {
      const versions = held.get(key)
      if (versions) versions.add(version)
      else wake(key)
    },
    during: async <O extends Resource<unknown>>(key: Key, write: () => Promise<O>): Promise<O> => {
      const versions = held.get(key) ?? new Set<string>()
      held.set(key, versions)
      try {
        const written = await write()
        versions.delete(written.metadata.resourceVersion)
        return written
      } finally {
        held.delete(key)
        if (versions.size > 0) wake(key)
      }
    },
  }
}

/** Counts and times one pass. @returns the result as the queue takes it @throws what the pass throws */
const measured = async (
  run: () => Promise<number | undefined>,
  name: string,
  metrics: ControllerMetrics | undefined,
): Promise<{ afterMs: number } | undefined> => {
  const startedAt = performance.now()
  let result: PassResult = 'error'
  metrics?.started(name)
  try {
    const afterMs = await run()
    result = afterMs === undefined ? 'success' : 'requeue_after'
    return afterMs === undefined ? undefined : { afterMs }
  } finally {
    metrics?.ended(name, result, (performance.now() - startedAt) / 1000)
  }
}

/** A look was asked for so short a while ago that somebody may still wait for it. */
const ASKED_LATELY_MS = 600_000

/** What its status says was said of its spec as it is now, it is not on its way out, and nobody has asked for a look lately. */
const isSettled = ({ metadata, status }: Resource<unknown>, now: Date): boolean => {
  const { generation, deletionTimestamp, annotations } = metadata
  if (deletionTimestamp !== undefined || status?.observedGeneration !== generation) return false
  if (status.conditions?.some(({ type, status: is }) => type === 'Reconciling' && is === 'True')) return false
  const askedAt = Date.parse(annotations?.[RECONCILE_REQUESTED_AT]?.split('/', 1)[0] ?? '')
  return !(now.getTime() - askedAt < ASKED_LATELY_MS)
}

/** Whose a key is, as the cache knows it. */
const accountIn =
  <O>({ cache, accountOf }: Pick<ControllerDeps<O>, 'cache' | 'accountOf'>) =>
  (key: Key): string => {
    const object = cache.get(key)
    return (object && accountOf?.(object)) ?? ''
  }

/** Starts at once: every object that the cache holds is looked at, those to which something happened first. */
export const runController = <O extends Resource<unknown>, Facts extends object, World, Step extends { do: string }>(
  controller: Controller<O, Facts, World, Step>,
  deps: ControllerDeps<O>,
): RunningController => {
  const name = controller.kind.kind.toLowerCase()
  const concurrency = deps.concurrency ?? CONCURRENCY
  const metrics = deps.metrics?.controller
  const now = deps.now ?? (() => new Date())
  const ownWrites = makeOwnWrites((key) => queue.add(key))
  const gone = new Map<Key, Gone>()
  const lives = new Map<Key, SeenGone[]>()
  const pass = makePass(controller, {
    ...deps,
    name,
    gone,
    lives,
    write: ownWrites.during,
    now,
    observeLimitMs: deps.observeLimitMs ?? OBSERVE_LIMIT_MS,
    actLimitMs: deps.actLimitMs ?? ACT_LIMIT_MS,
    quietMs: deps.quietMs ?? QUIET_MS,
  })

  const queue = makeQueue({
    name,
    concurrency,
    accountOf: accountIn(deps),
    onItem: (key, signal) => measured(() => pass(key, signal), name, metrics),
    backoffOf: (error) => (isAway(error) ? (deps.backoff ?? AWAY_BACKOFF) : undefined),
    ...(deps.accountMost !== undefined && { accountMost: deps.accountMost }),
    ...(deps.batchedStart && { batchedStart: deps.batchedStart }),
    ...(deps.backoff && { backoff: deps.backoff }),
    ...(deps.clock && { clock: deps.clock }),
    ...(deps.random && { random: deps.random }),
    ...(deps.metrics && { metrics: deps.metrics.queue }),
  })
  metrics?.running(name, concurrency)
  const onChange = (key: Key, { object, deleted, lost, held }: Change<O>) => {
    if (!deleted) {
      gone.delete(key)
      if (held) queue.add(key, isSettled(object, now()) ? 'routine' : 'asked')
      else ownWrites.onEvent(key, object.metadata.resourceVersion)
      return
    }
    queue.forget(key)
    if (lost) {
      deps.onLost?.()
      // it may go on without a resource
      if (deps.kept) queue.add(key)
      return
    }
    gone.set(key, 'deleted')
    lives.set(key, [...(lives.get(key) ?? []), object.metadata])
    queue.add(key)
  }
  const unsubscribe = deps.cache.subscribe(onChange, { inTurns: true })

  return {
    wake: queue.add,
    forget: (key, how) => {
      gone.set(key, how)
      queue.add(key)
    },
    busy: () => queue.size() + queue.running(),
    stop: (deadlineMs) => {
      unsubscribe()
      return queue.drain(deadlineMs)
    },
  }
}
