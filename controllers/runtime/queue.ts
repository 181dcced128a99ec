/**
 * A keyed queue: a key waits at most once, runs at most once at a time, and runs again when it was added while it ran
 * (semantics of client-go's workqueue). Failures come back with exponential, jittered delay.
 */
import type { Key } from '../../crds/kernel/object.ts'
import { type Backoff, backoffMs } from '../base/backoff.ts'
import { makeAlarm, type QueueClock } from './delays.ts'

const BACKOFF: Backoff = { minMs: 50, maxMs: 300_000 }

const realClock: QueueClock = {
  now: () => performance.now(),
  after: (ms, fire) => {
    const timer = setTimeout(fire, ms)
    return () => clearTimeout(timer)
  },
}

export type QueueMetrics = {
  added(queue: string): void
  retried(queue: string): void
  started(queue: string, waitedSeconds: number): void
  finished(queue: string, workedSeconds: number): void
  /** Read at scrape time: keys waiting, and how long each running one has been at it. */
  watching(queue: string, read: () => { depth: number; runningSeconds: number[] }): void
}

/** While `from` keys or more run, further ones start together, `ms` after the first of them came. */
export type BatchedStart = { from: number; ms: number }

export type QueueOptions = {
  name: string
  concurrency?: number
  /** Left out: every key starts at once. */
  batchedStart?: BatchedStart
  backoff?: Backoff
  /** Of a failure that is to wait otherwise. */
  backoffOf?: (error: unknown) => Backoff | undefined
  clock?: QueueClock
  random?: () => number
  metrics?: QueueMetrics
  /**
   * Works on one key. A rejection brings the key back with back-off; `afterMs` brings it back then, and any success
   * resets the back-off. The signal aborts when a drain ran out of time.
   */
  onItem: (key: Key, signal: AbortSignal) => Promise<{ afterMs?: number } | undefined>
}

export type Queue = {
  add(key: Key): void
  /** The earliest of several delays counts. */
  addAfter(key: Key, ms: number): void
  /** Forgets back-off and delay of a key that is gone. */
  forget(key: Key): void
  /** Keys ready to run, without delayed and running ones. */
  size(): number
  delayed(): number
  running(): number
  /** Starts nothing more and waits for what runs; after the deadline its signals abort. @returns whether all ended in time */
  drain(deadlineMs: number): Promise<boolean>
}

const endsWithin = async (clock: QueueClock, ms: number, work: Promise<void>): Promise<boolean> => {
  const late = Promise.withResolvers<boolean>()
  const cancel = clock.after(ms, () => late.resolve(false))
  const inTime = await Promise.race([work.then(() => true), late.promise])
  cancel()
  return inTime
}

export const makeQueue = (options: QueueOptions): Queue => {
  const { name, onItem, metrics, batchedStart } = options
  const concurrency = options.concurrency ?? 1
  const backoff = options.backoff ?? BACKOFF
  const clock = options.clock ?? realClock
  const random = options.random ?? Math.random
  /** Key → since when it waits. Insertion order is the order of service. */
  const waiting = new Map<Key, number>()
  /** Key → since when it runs. */
  const running = new Map<Key, number>()
  const dirty = new Map<Key, number>()
  const failures = new Map<Key, number>()
  const cut = new AbortController()
  let draining = false
  let onIdle = () => {}

  const add = (key: Key) => {
    if (draining) return
    const now = clock.now()
    if (running.has(key)) {
      if (dirty.has(key)) return
      dirty.set(key, now)
    } else {
      if (waiting.has(key)) return
      waiting.set(key, now)
    }
    metrics?.added(name)
    serveSoon()
  }

  const alarm = makeAlarm(clock, add)

  const addAfter = (key: Key, ms: number) => {
    if (draining) return
    if (!(ms > 0)) return add(key)
    alarm.set(key, ms)
  }

  const settle = (key: Key, afterMs: number | undefined, failed?: Backoff) => {
    const now = clock.now()
    metrics?.finished(name, (now - (running.get(key) ?? now)) / 1000)
    running.delete(key)
    const again = dirty.get(key)
    dirty.delete(key)
    if (failed) {
      const times = failures.get(key) ?? 0
      failures.set(key, times + 1)
      metrics?.retried(name)
      addAfter(key, backoffMs(failed, times, random))
    } else {
      failures.delete(key)
      if (afterMs !== undefined) addAfter(key, afterMs)
    }
    if (again !== undefined && !draining) waiting.set(key, waiting.get(key) ?? again)
    if (running.size === 0) onIdle()
    serveSoon()
  }

  const start = (key: Key, since: number) => {
    const now = clock.now()
    waiting.delete(key)
    running.set(key, now)
    metrics?.started(name, (now - since) / 1000)
    // A throw before the first await is a rejection like any other.
    Promise.try(onItem, key, cut.signal).then(
      (result) => settle(key, result?.afterMs),
      (error) => settle(key, undefined, options.backoffOf?.(error) ?? backoff),
    )
  }

  const serve = () => {
    for (const [key, since] of waiting) {
      if (running.size >= concurrency) return
      start(key, since)
    }
  }

  // A moment later: several events for one key often come in one piece, and are one reason to run.
  let serving = false
  const serveSoon = () => {
    if (serving || waiting.size === 0) return
    serving = true
    const begin = () => {
      serving = false
      serve()
    }
    if (batchedStart && running.size >= batchedStart.from) clock.after(batchedStart.ms, begin)
    else queueMicrotask(begin)
  }

  metrics?.watching(name, () => {
    const now = clock.now()
    return { depth: waiting.size, runningSeconds: [...running.values()].map((since) => (now - since) / 1000) }
  })

  return {
    add,
    addAfter,
    forget: (key) => {
      failures.delete(key)
      alarm.delete(key)
    },
    size: () => waiting.size,
    delayed: () => alarm.size(),
    running: () => running.size,
    drain: async (deadlineMs) => {
      draining = true
      alarm.cancel()
      waiting.clear()
      dirty.clear()
      if (running.size === 0) return true
      const idle = new Promise<void>((resolve) => {
        onIdle = resolve
      })
      const inTime = await endsWithin(clock, deadlineMs, idle)
      if (!inTime) cut.abort(new Error('the queue was stopped'))
      return inTime
    },
  }
}
