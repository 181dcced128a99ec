/**
 * A controller: keys from the cache through a queue into passes (DESIGN section 1). What a pass does stands in pass.ts.
 */
import type { Key, Resource } from '../../crds/object.ts'
import type { Plan } from '../../crds/plan.ts'
import type { Backoff } from './backoff.ts'
import type { QueueClock } from './delays.ts'
import type { Events } from './events.ts'
import type { KindRef, Kube } from './kube.ts'
import type { Log } from './log.ts'
import { makePass } from './pass.ts'
import { makeQueue, type QueueMetrics, type Wave } from './queue.ts'
import type { Cache } from './watch.ts'

const CONCURRENCY = 16
const OBSERVE_LIMIT_MS = 10_000
const ACT_LIMIT_MS = 30_000
/** Work that lasts longer is said in the status. */
const QUIET_MS = 2_000

/**
 * One effect. May give back what its own answer says of the world (a number that was claimed), so that the steps which
 * need it can follow without another look; nothing is ever reported on the strength of it.
 */
export type Effect<Step, O, World> = (
  step: Step,
  object: O,
  signal: AbortSignal,
  // biome-ignore lint/suspicious/noConfusingVoidType: most effects answer nothing
) => Promise<((world: World) => World) | void>

/**
 * @typeParam O the resource as the cache holds it
 * @typeParam Facts the kind's own part of the status
 * @typeParam World what `observe` finds
 * @typeParam Step one effect each, told apart by `do`
 */
export type Controller<O extends Resource<unknown>, Facts extends object, World, Step extends { do: string }> = {
  kind: KindRef
  /** Reads only. May throw Waiting and Stalled; anything else is a fault. */
  observe(object: O, signal: AbortSignal): Promise<World>
  /** Pure. */
  plan(object: O, world: World, now: Date): Plan<Step, Facts>
  /** One effect per step, each keyed or observable: it may run twice. May throw Waiting and Stalled. */
  act: { [K in Step['do']]: Effect<Extract<Step, { do: K }>, O, World> }
  /** After the status is written, in each pass that took no step: the mirror row. A failure backs off. */
  report?(object: O, world: World, plan: Plan<Step, Facts>, signal: AbortSignal): Promise<void>
  /** Qualified name. With it the object stays, once deleted, until a plan without steps says ready. */
  finalizer?: string
  /** The object is gone. */
  forget?(key: Key): Promise<void>
}

export type PassResult = 'success' | 'error' | 'requeue_after'

export type ControllerMetrics = {
  running(controller: string, concurrency: number): void
  started(controller: string): void
  ended(controller: string, result: PassResult, seconds: number): void
  stalled(controller: string): void
}

export type ControllerDeps<O> = {
  kube: Pick<Kube, 'get' | 'patchStatus' | 'patchMeta'>
  cache: Pick<Cache<O>, 'get' | 'put' | 'subscribe'>
  log: Log
  events?: Events
  metrics?: { controller: ControllerMetrics; queue: QueueMetrics }
  /** The platform's clock: what plans and conditions go by. */
  now?: () => Date
  concurrency?: number
  /** Under load passes start in waves, so that they share their reads and commits. */
  wave?: Wave
  backoff?: Backoff
  /** Of the queue. */
  clock?: QueueClock
  random?: () => number
  observeLimitMs?: number
  actLimitMs?: number
  quietMs?: number
}

export type RunningController = {
  /** Something outside changed: look at this object. */
  wake(key: Key): void
  wakeAfter(key: Key, ms: number): void
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

/** Starts at once: every object that the cache holds is looked at. */
export const runController = <O extends Resource<unknown>, Facts extends object, World, Step extends { do: string }>(
  controller: Controller<O, Facts, World, Step>,
  deps: ControllerDeps<O>,
): RunningController => {
  const name = controller.kind.kind.toLowerCase()
  const concurrency = deps.concurrency ?? CONCURRENCY
  const metrics = deps.metrics?.controller
  const ownWrites = makeOwnWrites((key) => queue.add(key))
  const pass = makePass(controller, {
    ...deps,
    name,
    write: ownWrites.during,
    now: deps.now ?? (() => new Date()),
    observeLimitMs: deps.observeLimitMs ?? OBSERVE_LIMIT_MS,
    actLimitMs: deps.actLimitMs ?? ACT_LIMIT_MS,
    quietMs: deps.quietMs ?? QUIET_MS,
  })

  const onItem = async (key: Key, signal: AbortSignal) => {
    const startedAt = performance.now()
    let result: PassResult = 'error'
    metrics?.started(name)
    try {
      const afterMs = await pass(key, signal)
      result = afterMs === undefined ? 'success' : 'requeue_after'
      return afterMs === undefined ? undefined : { afterMs }
    } finally {
      metrics?.ended(name, result, (performance.now() - startedAt) / 1000)
    }
  }

  const queue = makeQueue({
    name,
    concurrency,
    onItem,
    ...(deps.wave && { wave: deps.wave }),
    ...(deps.backoff && { backoff: deps.backoff }),
    ...(deps.clock && { clock: deps.clock }),
    ...(deps.random && { random: deps.random }),
    ...(deps.metrics && { metrics: deps.metrics.queue }),
  })
  metrics?.running(name, concurrency)
  const unsubscribe = deps.cache.subscribe((key, { object, deleted }) => {
    if (deleted) {
      queue.forget(key)
      queue.add(key)
    } else ownWrites.onEvent(key, object.metadata.resourceVersion)
  })

  return {
    wake: queue.add,
    wakeAfter: queue.addAfter,
    busy: () => queue.size() + queue.running(),
    stop: (deadlineMs) => {
      unsubscribe()
      return queue.drain(deadlineMs)
    },
  }
}
