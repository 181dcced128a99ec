/**
 * A reflector: list, then watch, for ever. It never stays dead, whatever the server, the network or a handler does
 * (research/performance-reliability section 3, faults 11-15 and 21). One per kind and process.
 */
import type { Key } from '../../crds/object.ts'
import { type Backoff, backoffMs, sleep } from './backoff.ts'
import { keyOfObject, makeStore, type Store } from './cache.ts'
import { isGone, KubeError } from './errors.ts'
import type { AnyObject, KindRef, Kube, Selection, WatchEvent } from './kube.ts'
import type { Log } from './log.ts'
import { type Lister, makeLister } from './relist.ts'

const IDLE_MS = 30_000
const RELIST_MS = 600_000
const BACKOFF: Backoff = { minMs: 200, maxMs: 10_000 }
/** The server ends a watch after five to ten minutes, not all of them at once. */
const WATCH_SECONDS = 300
/** So many refusals in a row without an event, and the version we resume from is suspect. */
const REFUSALS_BEFORE_RELIST = 3
/** A watch that ends sooner, without an event, is a failure: the server would be flooded with new ones. */
const HEALTHY_MS = 1_000

export type Change<R> = { deleted: boolean; object: R }
export type Listener<R> = (key: Key, change: Change<R>) => void | Promise<void>

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
  onChange?: Listener<R>
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
  /** Read your writes: takes the answer to a write unless something newer is held. Wakes nobody. */
  put(object: R): void
  /** Called for each held object at once, then for each change. @returns the way to end it */
  subscribe(listener: Listener<R>): () => void
  /** The first list is in. */
  synced: Promise<void>
  isSynced(): boolean
  /** Milliseconds since the server was last heard. */
  staleness(): number
  /** Ends the watch, also while it waits to reconnect; resolves when nothing runs any more. */
  stop(): Promise<void>
}

const reasonOf = (error: unknown): string => {
  if (!(error instanceof KubeError)) return 'Error'
  return error.status === 0 ? (error.reason.split(' ')[0] ?? error.reason) : String(error.status)
}

/** Listeners that may throw: the cache goes on, the error is logged and counted. */
const makeListeners = <R extends AnyObject>({ kind, onChange, log, metrics }: ReflectOptions<R>) => {
  const listeners = new Set<Listener<R>>(onChange ? [onChange] : [])

  const tell = (listener: Listener<R>, object: R, deleted: boolean) => {
    const key = keyOfObject(object)
    const failed = (error: unknown) => {
      metrics?.handlerFailed(kind.kind)
      log?.error({ err: error, kind: kind.kind, key }, 'watch handler failed')
    }
    try {
      const done = listener(key, { deleted, object })
      if (done instanceof Promise) done.catch(failed)
    } catch (error) {
      failed(error)
    }
  }

  return {
    notify: (object: R, deleted: boolean) => {
      for (const listener of listeners) tell(listener, object, deleted)
    },
    subscribe: (listener: Listener<R>, held: R[]) => {
      listeners.add(listener)
      for (const object of held) tell(listener, object, false)
      return () => {
        listeners.delete(listener)
      }
    },
  }
}

type LoopOptions<R> = {
  options: ReflectOptions<R>
  selection: Selection
  store: Store<R>
  lister: Lister
  notify: (object: R, deleted: boolean) => void
  heard: () => void
  onSynced: () => void
  signal: AbortSignal
}

/** @returns the endless runs of one reflector; both end when the signal aborts */
const makeLoop = <R extends AnyObject>(given: LoopOptions<R>) => {
  const { options, selection, store, lister, signal } = given
  const { kube, kind, log, metrics, idleMs = IDLE_MS, backoff = BACKOFF, random = Math.random } = options
  /** Where the watch resumes; undefined: list first. */
  let version: string | undefined
  let watching = new AbortController()
  /** Attempts in a row that brought nothing. */
  let failures = 0

  const onEvent = ({ type, object }: WatchEvent) => {
    const item = object as R
    if (type === 'DELETED') {
      if (store.remove(item)) given.notify(item, true)
    } else if (type !== 'BOOKMARK' && store.put(item)) {
      given.notify(item, store.get(keyOfObject(item)) === undefined)
    }
    // After the cache took it: an event that is lost half-way comes again.
    version = object.metadata.resourceVersion ?? version
    store.advance(version)
  }

  const watchOnce = async (resourceVersion: string) => {
    watching = new AbortController()
    const openedAt = performance.now()
    let events = 0
    let bytes = false
    const progressed = () => events > 0 || (bytes && performance.now() - openedAt >= Math.min(HEALTHY_MS, idleMs))
    try {
      await kube.watch(kind, {
        ...selection,
        resourceVersion,
        timeoutSeconds: Math.round(WATCH_SECONDS * (1 + random())),
        idleMs,
        signal: AbortSignal.any([signal, watching.signal]),
        onEvent: (event) => {
          onEvent(event)
          events += 1
        },
        onBytes: () => {
          bytes = true
          given.heard()
        },
      })
    } finally {
      if (progressed()) failures = 0
    }
    if (progressed()) return
    failures += 1
    await sleep(backoffMs(backoff, failures - 1, random), signal)
  }

  /** After a failure: how long to wait, and whether the version is still good. */
  const recover = async (error: unknown) => {
    const reason = reasonOf(error)
    metrics?.restarted(kind.kind, reason)
    // Silence on a quiet kind: nothing is wrong, look through a fresh connection.
    if (reason === 'Stalled' && failures === 0) return
    failures += 1
    const refused = error instanceof KubeError && error.status !== 0 && error.status !== 429
    if (isGone(error) || reason === 'Garbage' || (refused && failures >= REFUSALS_BEFORE_RELIST)) version = undefined
    const asked = error instanceof KubeError ? (error.retryAfterMs ?? 0) : 0
    const waitMs = Math.max(backoffMs(backoff, failures - 1, random), asked)
    log?.[failures > 2 ? 'warn' : 'info']({ err: error, kind: kind.kind, failures, waitMs }, 'watch ended')
    await sleep(waitMs, signal)
  }

  const listAndWatch = async () => {
    if (version === undefined) {
      watching = new AbortController()
      version = await lister.relist()
      given.onSynced()
    }
    await watchOnce(version)
  }

  const run = async () => {
    while (!signal.aborted) {
      await listAndWatch().catch(async (error) => {
        // Cut by the audit: nothing failed.
        if (!signal.aborted && !watching.signal.aborted) await recover(error)
      })
    }
  }

  const audit = async () => {
    const found = await lister.audit()
    if (found === 'time_travel') {
      version = undefined
      watching.abort()
    } else if (found > 0) metrics?.drifted(kind.kind, found)
  }

  const audits = async () => {
    const everyMs = options.relistMs ?? RELIST_MS
    for (;;) {
      await sleep(everyMs * (0.9 + random() / 5), signal)
      if (signal.aborted) return
      if (version === undefined) continue
      await audit().catch((error) => log?.info({ err: error, kind: kind.kind }, 'watch audit failed'))
    }
  }

  return { run, audits }
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
  const synced = Promise.withResolvers<void>()
  let isSynced = false
  let heardAt = performance.now()
  const staleness = () => performance.now() - heardAt
  const shared = {
    selection,
    store,
    notify,
    signal: stopping.signal,
    heard: () => {
      heardAt = performance.now()
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
  const onSynced = () => {
    isSynced = true
    synced.resolve()
  }
  const loop = makeLoop<R>({ ...shared, options, lister, onSynced })
  options.metrics?.watching(kind.kind, staleness)
  const ended = Promise.all([loop.run(), loop.audits()])

  return {
    get: store.get,
    list: store.list,
    size: store.size,
    put: store.put,
    subscribe: (listener) => subscribe(listener, store.list()),
    synced: synced.promise,
    isSynced: () => isSynced,
    staleness,
    stop: async () => {
      stopping.abort()
      await ended
    },
  }
}
