/**
 * A reflector: list, then watch, for ever. It never stays dead, whatever the server, the network or a handler does
 * (rules/platform.md#watching). One per kind and process.
 */
import type { Key } from '../../crds/kernel/object.ts'
import { type Backoff, backoffMs, sleep } from '../base/backoff.ts'
import { isGone, isKindUnknown, KubeError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { keyOfObject, makeStore, type Store } from './cache.ts'
import type { KindRef, Kube, Selection } from './kube.ts'
import type { AnyObject, WatchEvent } from './objects.ts'
import { makeListeners, type WatchListener } from './watching/listeners.ts'
import { type Lister, makeLister } from './watching/relist.ts'

const IDLE_MS = 30_000
const RELIST_MS = 600_000
const BACKOFF: Backoff = { minMs: 200, maxMs: 10_000 }
/** The server ends a watch after five to ten minutes, not all of them at once. */
const WATCH_SECONDS = 300
/** So many refusals in a row without an event, and the version we resume from is suspect. */
const REFUSALS_BEFORE_RELIST = 3
/** So long it must be said that there is no such kind: an API server that has just come up says so for a moment. */
const UNSERVED_MS = 2_000
/** A watch that ends sooner, without an event, is a failure: the server would be flooded with new ones. */
const HEALTHY_MS = 1_000

export type WatchMetrics = {
  restarted(kind: string, reason: string): void
  drifted(kind: string, events: number): void
  handlerFailed(kind: string): void
  /** Read at scrape time. */
  watching(kind: string, stalenessMs: () => number): void
}

export type ReflectOptions<R> = Selection & {
  kube: Pick<Kube, 'list' | 'watch'>
  kind: KindRef
  onChange?: WatchListener<R>
  /** Reconnect after this long without a byte. The server sends a bookmark about once a minute. */
  idleMs?: number
  relistMs?: number
  graceMs?: number
  pageLimit?: number
  backoff?: Backoff
  random?: () => number
  log?: Log
  metrics?: WatchMetrics
}

export type Cache<R> = {
  /** Frozen and shared: clone before changing. */
  get(key: Key): R | undefined
  list(): R[]
  size(): number
  /**
   * Read your writes: takes the answer to a write unless something newer is held. Every listener is notified, for the watch's own
   * event then brings nothing new; who wrote it knows it by its version (controller.ts).
   */
  put(object: R): void
  /**
   * Called for each held object at once, then for each change. With `inTurns` the held ones come in parts, a turn of the
   * event loop each, as they are by then, and changes in between: tens of thousands must not stop all else.
   * @returns the way to end it
   */
  subscribe(listener: WatchListener<R>, options?: { inTurns?: boolean }): () => void
  /** The first list is in. */
  synced: Promise<void>
  isSynced(): boolean
  /** The first list is in, or the server has said that there is no such kind. */
  settled: Promise<void>
  /** Whether there is such a kind, as far as the server has said. When it appears its objects come as any that are new. */
  isServed(): boolean
  /** Milliseconds since the server last answered. */
  staleness(): number
  /** Ends the watch, also while it waits to reconnect; resolves when nothing runs any more. */
  stop(): Promise<void>
}

const reasonOf = (error: unknown): string => {
  if (!(error instanceof KubeError)) return 'Error'
  return error.status === 0 ? (error.reason.split(' ')[0] ?? error.reason) : String(error.status)
}

type Loop<R> = {
  options: ReflectOptions<R>
  selection: Selection
  store: Store<R>
  lister: Lister
  notify: (object: R, deleted: boolean, lost?: boolean) => void
  onAnswer: () => void
  onSynced: () => void
  onUnserved: () => void
  signal: AbortSignal
  /** Where the watch resumes; undefined: list first. */
  version: string | undefined
  watching: AbortController
  /** Attempts in a row that brought nothing. */
  failures: number
}

const onEvent = <R extends AnyObject>(loop: Loop<R>, { type, object }: WatchEvent) => {
  const { store, notify } = loop
  const item = object as R
  if (type === 'DELETED') {
    if (store.remove(item)) notify(item, true)
  } else if (type !== 'BOOKMARK' && store.put(item)) {
    notify(item, store.get(keyOfObject(item)) === undefined)
  }
  // After the cache took it: an event that is lost half-way comes again.
  loop.version = object.metadata.resourceVersion ?? loop.version
  store.advance(loop.version)
}

const failureWaitMs = <R>({ options, failures }: Loop<R>): number =>
  backoffMs(options.backoff ?? BACKOFF, failures - 1, options.random ?? Math.random)

const watchOnce = async <R extends AnyObject>(loop: Loop<R>, resourceVersion: string) => {
  const { kube, kind, idleMs = IDLE_MS, random = Math.random } = loop.options
  loop.watching = new AbortController()
  const openedAt = performance.now()
  let events = 0
  let bytes = false
  const progressed = () => events > 0 || (bytes && performance.now() - openedAt >= Math.min(HEALTHY_MS, idleMs))
  try {
    await kube.watch(kind, {
      ...loop.selection,
      resourceVersion,
      timeoutSeconds: Math.round(WATCH_SECONDS * (1 + random())),
      idleMs,
      signal: AbortSignal.any([loop.signal, loop.watching.signal]),
      onEvent: (event) => {
        onEvent(loop, event)
        events += 1
      },
      onBytes: () => {
        bytes = true
        loop.onAnswer()
      },
    })
  } finally {
    if (progressed()) loop.failures = 0
  }
  if (progressed()) return
  loop.failures += 1
  await sleep(failureWaitMs(loop), loop.signal)
}

/** After a failure: how long to wait, and whether the version is still good. */
const recover = async <R>(loop: Loop<R>, error: unknown) => {
  const { kind, log, metrics } = loop.options
  const reason = reasonOf(error)
  metrics?.restarted(kind.kind, reason)
  // Silence on a quiet kind: nothing is wrong, look through a fresh connection.
  if (reason === 'Stalled' && loop.failures === 0) return
  loop.failures += 1
  const refused = error instanceof KubeError && error.status !== 0 && error.status !== 429
  const suspect = refused && loop.failures >= REFUSALS_BEFORE_RELIST
  if (isKindUnknown(error)) loop.onUnserved()
  // whatever stands under a definition that is made anew has nothing to do with the version before
  if (isGone(error) || isKindUnknown(error) || reason === 'Garbage' || suspect) loop.version = undefined
  const asked = error instanceof KubeError ? (error.retryAfterMs ?? 0) : 0
  const waitMs = Math.max(failureWaitMs(loop), asked)
  const level = loop.failures > 2 ? 'warn' : 'info'
  log?.[level]({ err: error, kind: kind.kind, failures: loop.failures, waitMs }, 'watch ended')
  await sleep(waitMs, loop.signal)
}

const listAndWatch = async <R extends AnyObject>(loop: Loop<R>) => {
  if (loop.version === undefined) {
    loop.watching = new AbortController()
    loop.version = await loop.lister.relist()
    loop.onSynced()
  }
  await watchOnce(loop, loop.version)
}

/** Ends when the signal aborts, and not before. */
const run = async <R extends AnyObject>(loop: Loop<R>) => {
  while (!loop.signal.aborted) {
    await listAndWatch(loop).catch(async (error) => {
      // Cut by the audit: nothing failed.
      if (!loop.signal.aborted && !loop.watching.signal.aborted) await recover(loop, error)
    })
  }
}

const audit = async <R>(loop: Loop<R>) => {
  const { kind, metrics } = loop.options
  const found = await loop.lister.audit()
  if (found === 'time_travel') {
    loop.version = undefined
    loop.watching.abort()
  } else if (found > 0) metrics?.drifted(kind.kind, found)
}

const audits = async <R>(loop: Loop<R>) => {
  const { kind, log, relistMs = RELIST_MS, random = Math.random } = loop.options
  for (;;) {
    await sleep(relistMs * (0.9 + random() / 5), loop.signal)
    if (loop.signal.aborted) return
    if (loop.version === undefined) continue
    await audit(loop).catch((error) => log?.info({ err: error, kind: kind.kind }, 'watch audit failed'))
  }
}

/** Whether the server has listed the kind, and whether it knows it now. */
const makeFirstList = () => {
  const synced = Promise.withResolvers<void>()
  const settled = Promise.withResolvers<void>()
  let isSynced = false
  /** Since when the server says that there is no such kind. */
  let unknownAt: number | undefined
  const isServed = () => unknownAt === undefined || performance.now() - unknownAt < UNSERVED_MS
  return {
    onListed: () => {
      isSynced = true
      unknownAt = undefined
      synced.resolve()
      settled.resolve()
    },
    onUnserved: () => {
      unknownAt ??= performance.now()
      if (!isServed()) settled.resolve()
    },
    known: { synced: synced.promise, settled: settled.promise, isSynced: () => isSynced, isServed },
  }
}

/** Starts at once. */
export const reflect = <R extends AnyObject>(options: ReflectOptions<R>): Cache<R> => {
  const { kube, kind, namespace, labelSelector, fieldSelector, graceMs, pageLimit, log } = options
  const selection: Selection = {
    ...(namespace !== undefined && { namespace }),
    ...(labelSelector !== undefined && { labelSelector }),
    ...(fieldSelector !== undefined && { fieldSelector }),
  }
  const store = makeStore<R>()
  const { notify, subscribe } = makeListeners(options)
  const stopping = new AbortController()
  const first = makeFirstList()
  let answeredAt = performance.now()
  const staleness = () => performance.now() - answeredAt
  const shared = {
    selection,
    store,
    notify,
    signal: stopping.signal,
    onAnswer: () => {
      answeredAt = performance.now()
    },
  }
  const lister = makeLister<R>({
    ...shared,
    kube,
    kind,
    ...(graceMs !== undefined && { graceMs }),
    ...(pageLimit !== undefined && { pageLimit }),
    ...(log && { log }),
  })
  const loop: Loop<R> = {
    ...shared,
    options,
    lister,
    onSynced: first.onListed,
    onUnserved: first.onUnserved,
    version: undefined,
    watching: new AbortController(),
    failures: 0,
  }
  options.metrics?.watching(kind.kind, staleness)
  const ended = Promise.all([run(loop), audits(loop)])

  return {
    get: store.get,
    list: store.list,
    size: store.size,
    put: (object) => {
      if (!store.put(object)) return
      const held = store.get(keyOfObject(object))
      if (held !== undefined) notify(held, false)
    },
    subscribe: (listener, { inTurns = false } = {}) => subscribe(listener, store, inTurns),
    ...first.known,
    staleness,
    stop: async () => {
      stopping.abort()
      await ended
    },
  }
}
