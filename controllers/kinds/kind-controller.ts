/** One kind's line in the operator: its controller, how many passes at once, and whom it follows. */

import type { Kind } from '../../crds/kernel/kind.ts'
import type { CommonStatus, Key, Resource } from '../../crds/kernel/object.ts'
import { inTurns } from '../base/turns.ts'
import { type Index, indexBy } from '../kube/indexer.ts'
import type { Cache } from '../kube/watch.ts'
import type { Controller, KeptBeside } from '../runtime/contract.ts'
import { type RunningController, runController } from '../runtime/controller.ts'
import type { BatchedStart } from '../runtime/queue.ts'
import type { MirrorRow } from '../store/mirror.ts'
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
  /**
   * Passes of one account at once, also while nobody else waits. For kinds whose passes wait for what accounts themselves run:
   * a host that never answers would else hold the last of them (hack/decisions/110).
   */
  accountMost?: number
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
  /** Makes one anew that left the cluster, of its archived view, because something was reported of it. */
  bringBack?(context: Context, row: MirrorRow): Promise<unknown>
  /** Decides what was said of one that was deleted by what is kept of it. @returns whether anything is */
  settleDeleted?(context: Context, resource: string): Promise<boolean>
  /** Which resources of this kind are to be looked at when one of another kind changed. */
  follows?: readonly FollowRule<Resource<Spec, Status>>[]
}

/** Followers are found by an index over their own kind: a change costs what it concerns, however many resources there are. */
export type FollowRule<Own> = {
  /** Which is followed. */
  kind: string
  /** Under what one of our kind stands; null while no change concerns it. */
  under(own: Own): string | null
  /** Under what those stand whom this change concerns. */
  of(changed: AnyResource): string
  /** Asked of each of them; yes when left out. */
  concerns?(changed: AnyResource, own: Own): boolean
}

/** A kind as the operator runs it, its types closed over. */
export type Control = {
  kind: Kind
  mails: Mails
  goesOnWithout: boolean
  start(context: Context, cache: Cache<AnyResource>): RunningController
  sweep?: (context: Context) => Promise<unknown>
  bringBack?: (context: Context, row: MirrorRow) => Promise<unknown>
  settleDeleted?: (context: Context, resource: string) => Promise<boolean>
  follows: readonly FollowRule<AnyResource>[]
}

const isReady = ({ status }: AnyResource): boolean =>
  status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') ?? false

/** Whatever waits for its account is looked at when the account appears or changes. */
const FOLLOWS_ACCOUNT: FollowRule<AnyResource> = {
  kind: 'Account',
  under: (own) => (isReady(own) ? null : (own.spec.account ?? null)),
  of: keyOfAccount,
}

/** A change that concerns more than these is nobody's in particular: its followers come after whoever waits. */
const CROWD_FROM = 100

/** Closes a kind's types over its line. The cache that it is started with holds resources of its own kind alone. */
export const controlOf = <Spec, Status extends CommonStatus, Facts extends object, World, Step extends { do: string }>(
  given: Given<Spec, Status, Facts, World, Step>,
): Control => ({
  kind: given.kind,
  mails: given.mails ?? {},
  goesOnWithout: given.goesOnWithout ?? false,
  ...(given.sweep && { sweep: given.sweep }),
  ...(given.bringBack && { bringBack: given.bringBack }),
  ...(given.settleDeleted && { settleDeleted: given.settleDeleted }),
  follows: [FOLLOWS_ACCOUNT, ...((given.follows ?? []) as readonly FollowRule<AnyResource>[])],
  start: (context, cache) => {
    const { kube, log, now, metrics, events, witness, onLost, namespace, desires } = context
    const { kind, hasOwnLives = false, goesOnWithout = false } = given
    const kept = keptOf({ kind, namespace, desires, hasOwnLives, goesOnWithout })
    const { concurrency, accountMost, batchedStart, observeLimitMs, actLimitMs, quietMs } = given
    return runController(given.make(context), {
      kube,
      cache: cache as unknown as Cache<Resource<Spec, Status>>,
      log,
      now,
      concurrency,
      accountOf: ({ spec }) => (spec as AnyResource['spec']).account,
      witness,
      kept: kept as unknown as KeptBeside<Resource<Spec, Status>>,
      ...(onLost && { onLost }),
      ...(accountMost !== undefined && { accountMost }),
      ...(batchedStart && { batchedStart }),
      ...(observeLimitMs !== undefined && { observeLimitMs }),
      ...(actLimitMs !== undefined && { actLimitMs }),
      ...(quietMs !== undefined && { quietMs }),
      ...(metrics && { metrics }),
      ...(events && { events }),
    })
  },
})

/** What is done for one that the cluster does not have (workers/pending-facts.ts). */
export const whileAbsent = ({ kind, bringBack, settleDeleted }: Control, context: Context) => ({
  kind,
  ...(bringBack && { bringBack: (row: MirrorRow) => bringBack(context, row) }),
  ...(settleDeleted && { settleDeleted: (resource: string) => settleDeleted(context, resource) }),
})

/** An index for each line of `follows`, in their order. To be made before the cache has anything. */
export const indexFollowers = (
  { follows }: Pick<Control, 'follows'>,
  cache: Pick<Cache<AnyResource>, 'subscribe'>,
): Index[] => follows.map(({ under }) => indexBy(cache, under))

type Following = {
  cacheOf(kind: string): Pick<Cache<AnyResource>, 'get' | 'subscribe'> | undefined
  /** As indexFollowers made them. */
  followers: readonly Index[]
}

/** Wakes what follows another kind. @returns the way to end it */
export const follow = (
  control: Pick<Control, 'kind' | 'follows'>,
  running: Pick<RunningController, 'wake'>,
  { cacheOf, followers }: Following,
): (() => void) => {
  let isOver = false
  const own = cacheOf(control.kind.kind)
  const ends = control.follows.flatMap(({ kind, of, concerns }, place) => {
    if (kind === control.kind.kind) return []
    const end = cacheOf(kind)?.subscribe((_key, { object, deleted, held }) => {
      // what is there at the start has happened to nobody: all are looked at then in any case
      if (deleted || held) return
      const keys = followers[place]?.of(of(object)) ?? []
      const lane = keys.length > CROWD_FROM ? 'routine' : 'asked'
      const wakeConcerned = (key: Key) => {
        const follower = own?.get(key)
        if (follower && (concerns?.(object, follower) ?? true)) running.wake(key, lane)
      }
      inTurns(keys, wakeConcerned, () => isOver)
    })
    return end ? [end] : []
  })
  return () => {
    isOver = true
    for (const end of ends) end()
  }
}
