/** What a kind gives the runtime, and what the runtime gives a kind. */

import type { Key, Resource } from '../../crds/kernel/object.ts'
import type { Plan } from '../../crds/kernel/plan.ts'
import type { Backoff } from '../base/backoff.ts'
import type { Log } from '../base/log.ts'
import type { Events } from '../kube/events.ts'
import type { KindRef, Kube, Ref } from '../kube/kube.ts'
import type { Cache } from '../kube/watch.ts'
import type { Witness } from '../kube/witness.ts'
import type { QueueClock } from './delays.ts'
import type { BatchedStart, QueueMetrics } from './queue.ts'

/** The world as it was found in the very transaction that the effect was written in: as good as a look that follows it. */
export type AfterStep<World> = { looked: World }

/**
 * One effect. May give back what its own answer says of the world (a number that was claimed), so that the steps which
 * need it can follow without another look; nothing is ever reported on the strength of it. Or it has looked itself: the next
 * round goes by that, when this was the last step.
 */
export type StepEffect<Step, O, World> = (
  step: Step,
  object: O,
  signal: AbortSignal,
  /** As the step was planned on it. */
  world: World,
  // biome-ignore lint/suspicious/noConfusingVoidType: most effects answer nothing
) => Promise<((world: World) => World) | AfterStep<World> | void>

export type Gone = 'deleted' | 'absent'
/** One life of a name, as it was when it was seen to go. */
export type SeenGone = { uid: string; generation: number; creationTimestamp: string }

/** What is kept of resources beside the cluster (hack/decisions/037). */
export type KeptBeside<O> = {
  /** The object with the uid that its rows know it by (`metadata.origin`). */
  known(object: O): Promise<O>
  /** Of a resource that is not there and goes on without one: as it was asked for last. Null for all others. */
  stored(key: Key): Promise<O | null>
  /** What is asked, where no view was written with it. */
  keep(object: O): Promise<void>
  /** It was deleted: a fact. `null` where nobody saw it go. */
  deleted(key: Key, seen: SeenGone | null): Promise<void>
}

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
  act: { [K in Step['do']]: StepEffect<Extract<Step, { do: K }>, O, World> }
  /** After the status is written, in each pass that took no step: the mirror row. A failure backs off. */
  report?(object: O, world: World, plan: Plan<Step, Facts>, signal: AbortSignal): Promise<void>
  /** When the work of a pass lasts or fails: what is asked, for those who look before there is a verdict. May run beside a step. */
  show?(object: O, world: World, plan: Plan<Step, Facts>): Promise<void>
  /** What a pass is at, as a sentence for people: a step by its name, `observe` or `plan`. The name itself is told when left out. */
  words?(stage: string): string | undefined
  /** Qualified name. With it the object stays, once deleted, until a plan without steps says ready. */
  finalizer?: string
  /** The object is gone: its deletion was seen, or (`absent`) happened while nobody looked, which is less sure. */
  forget?(key: Key, how: Gone): Promise<void>
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
  /** Whose it is: accounts take turns (lanes.ts). Nobody's when left out or undefined. */
  accountOf?: (object: O) => string | undefined
  /** Passes of one account at once, also while nobody else waits; no bound when left out. */
  accountMost?: number
  /** Under load passes start in batches, so that they share their reads and commits. */
  batchedStart?: BatchedStart
  backoff?: Backoff
  /** Of the queue. */
  clock?: QueueClock
  random?: () => number
  observeLimitMs?: number
  actLimitMs?: number
  quietMs?: number
  /** Whether an object that is gone was deleted for itself; yes when left out. What was not is never forgotten. */
  witness?: Pick<Witness, 'isDeleted'>
  /** Something is not there any more that nobody deleted. */
  onLost?: () => void
  kept?: KeptBeside<O>
}

export type PassDeps<O> = ControllerDeps<O> & {
  name: string
  now: () => Date
  observeLimitMs: number
  actLimitMs: number
  quietMs: number
  /** What may be forgotten. A key that the cache does not hold, and that is not in here, is left as it is: absence is no deletion. */
  gone: Map<Key, Gone>
  /** Lives that were seen to go, and are not on record yet. */
  lives: Map<Key, SeenGone[]>
  /** Wraps each write to the object, so that its own watch event wakes nobody. */
  write: (key: Key, run: () => Promise<O>) => Promise<O>
}

/** What belongs to one pass over one key. */
export type Pass = {
  key: Key
  ref: Ref
  signal: AbortSignal
  log: Log
  /** What is being done: the reason, should it fail or last. */
  stage: string
  /** The note that work lasts, while it is being written. */
  note: Promise<unknown>
}
