/** One kind's line in the operator: its controller, how many passes at once, and whom it follows. */

import type { Kind } from '../../crds/kernel/kind.ts'
import { type CommonStatus, keyOf, type Resource } from '../../crds/kernel/object.ts'
import type { Cache } from '../kube/watch.ts'
import type { Controller, KeptBeside } from '../runtime/contract.ts'
import { type RunningController, runController } from '../runtime/controller.ts'
import type { BatchedStart } from '../runtime/queue.ts'
import type { Context } from './context.ts'
import { type AnyResource, keyOfAccount } from './held.ts'
import { keptOf } from './kept.ts'
import type { Mails } from './mails.ts'

/**
 * @typeParam O the resource
 * @typeParam Facts, World, Step as in Controller
 */
type Given<Spec, Status extends CommonStatus, Facts extends object, World, Step extends { do: string }> = {
  kind: Kind<Spec, Status>
  /** Passes at once. */
  concurrency: number
  /** Under load passes start in batches (runtime/queue.ts). */
  batchedStart?: BatchedStart
  /** How long a look may take; the runtime's default when left out. */
  observeLimitMs?: number
  /** How long one step may take; the runtime's default when left out. */
  actLimitMs?: number
  make(context: Context): Controller<Resource<Spec, Status>, Facts, World, Step>
  /** After how long work that lasts is said in the status; the runtime's default when left out. */
  quietMs?: number
  /** It finds by itself what a resource goes on as that stands for a lost one; else `metadata.origin` tells it (kept.ts). */
  hasOwnLives?: true
  /** Its rows are worked on also while its resource is lost: its plan needs no status. */
  goesOnWithout?: true
  /** What is done now and then beside the passes; a failure is made up for by the next. */
  sweep?(context: Context): Promise<unknown>
  /** What it has mailed, by the name of each mail; none when left out. */
  mails?: Mails
  /** Which resources of this kind are to be looked at when one of another kind changed. */
  follows?: readonly { kind: string; concerns(changed: AnyResource, own: Resource<Spec, Status>): boolean }[]
}

/** A kind as the operator runs it, its types closed over. */
export type Control = {
  kind: Kind
  mails: Mails
  goesOnWithout: boolean
  start(context: Context, cache: Cache<AnyResource>): RunningController
  sweep?: (context: Context) => Promise<unknown>
  follows: readonly { kind: string; concerns(changed: AnyResource, own: AnyResource): boolean }[]
}

const isReady = ({ status }: AnyResource): boolean =>
  status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') ?? false

/** Whatever waits for its account is looked at when the account appears or changes. */
const FOLLOWS_ACCOUNT: Control['follows'][number] = {
  kind: 'Account',
  concerns: (changed, own) => own.spec.account === keyOfAccount(changed) && !isReady(own),
}

/** Closes a kind's types over its line. The cache that it is started with holds resources of its own kind alone. */
export const controlOf = <Spec, Status extends CommonStatus, Facts extends object, World, Step extends { do: string }>(
  given: Given<Spec, Status, Facts, World, Step>,
): Control => ({
  kind: given.kind,
  mails: given.mails ?? {},
  goesOnWithout: given.goesOnWithout ?? false,
  ...(given.sweep && { sweep: given.sweep }),
  follows: [FOLLOWS_ACCOUNT, ...((given.follows ?? []) as Control['follows'])],
  start: (context, cache) => {
    const { kube, log, now, metrics, events, witness, onLost, namespace, desires } = context
    const { kind, hasOwnLives = false, goesOnWithout = false } = given
    const kept = keptOf({ kind, namespace, desires, hasOwnLives, goesOnWithout })
    const { concurrency, batchedStart, observeLimitMs, actLimitMs, quietMs } = given
    return runController(given.make(context), {
      kube,
      cache: cache as unknown as Cache<Resource<Spec, Status>>,
      log,
      now,
      concurrency,
      witness,
      kept: kept as unknown as KeptBeside<Resource<Spec, Status>>,
      ...(onLost && { onLost }),
      ...(batchedStart && { batchedStart }),
      ...(observeLimitMs !== undefined && { observeLimitMs }),
      ...(actLimitMs !== undefined && { actLimitMs }),
      ...(quietMs !== undefined && { quietMs }),
      ...(metrics && { metrics }),
      ...(events && { events }),
    })
  },
})

/** Wakes what follows another kind. @returns the way to end it */
export const follow = (
  control: Control,
  running: RunningController,
  cacheOf: (kind: string) => Pick<Cache<AnyResource>, 'list' | 'subscribe'> | undefined,
): (() => void) => {
  const ends = control.follows.flatMap(({ kind, concerns }) => {
    if (kind === control.kind.kind) return []
    const end = cacheOf(kind)?.subscribe((_key, { object, deleted }) => {
      if (deleted) return
      for (const own of cacheOf(control.kind.kind)?.list() ?? []) {
        if (concerns(object, own)) running.wake(keyOf(own.metadata))
      }
    })
    return end ? [end] : []
  })
  return () => {
    for (const end of ends) end()
  }
}
