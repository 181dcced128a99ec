/**
 * A keyed queue: a key waits at most once, runs at most once at a time, and runs again when it was added while it ran
 * (semantics of client-go's workqueue). Failures come back with exponential, jittered delay.
 */
import type { Key } from '../../crds/kernel/object.ts'
import { type Backoff, backoffMs } from '../base/backoff.ts'
import { type Alarm, makeAlarm, type QueueClock } from './delays.ts'
import { type Lanes, makeLanes, type QueueLane, type WaitingKey } from './lanes.ts'

const BACKOFF: Backoff = { minMs: 50, maxMs: 300_000 }
/** What was asked for and comes back as soon as this has somebody who still waits for it. */
const SOON_MS = 60_000

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
  /** Whose turn a key takes (lanes.ts); all are nobody's when left out. Asked when it comes to wait. */
  accountOf?: (key: Key) => string
  /** Running ones of one account at once, also while nobody else waits; no bound when left out. */
  accountMost?: number
  /**
   * Works on one key. A rejection brings the key back with back-off; `afterMs` brings it back then, and any success
   * resets the back-off. The signal aborts when a drain ran out of time.
   */
  onItem: (key: Key, signal: AbortSignal) => Promise<{ afterMs?: number } | undefined>
}

export type Queue = {
  /** @param lane `asked` when left out */
  add(key: Key, lane?: QueueLane): void
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

type Place = { since: number; lane: QueueLane }
/** Running. */
type Started = Place & { account: string }

/** The options with their defaults, and where each key stands. */
type QueueState = Pick<QueueOptions, 'name' | 'onItem' | 'metrics' | 'batchedStart' | 'backoffOf'> & {
  concurrency: number
  accountOf: (key: Key) => string
  backoff: Backoff
  clock: QueueClock
  random: () => number
  alarm: Alarm
  waiting: Lanes
  /** Key → since when it runs, and in which lane it waited. */
  running: Map<Key, Started>
  /** Key → since when it is to run again, once it ran. */
  dirty: Map<Key, Place>
  failures: Map<Key, number>
  /** Keys that come back by themselves, and are asked for still. */
  askedAgain: Set<Key>
  cut: AbortController
  draining: boolean
  /** Keys are about to be started. */
  serving: boolean
  onIdle: () => void
}

const add = (queue: QueueState, key: Key, lane: QueueLane): void => {
  if (queue.draining) return
  const since = queue.clock.now()
  if (queue.running.has(key)) {
    const dirty = queue.dirty.get(key)
    if (dirty?.lane === 'asked') return
    queue.dirty.set(key, { since: dirty?.since ?? since, lane })
    if (dirty) return
  } else if (!queue.waiting.add({ key, account: queue.accountOf(key), since, lane })) return
  queue.metrics?.added(queue.name)
  serveSoon(queue)
}

const addAfter = (queue: QueueState, key: Key, ms: number): void => {
  if (queue.draining) return
  if (ms > 0) queue.alarm.set(key, ms)
  else add(queue, key, 'routine')
}

const onDue = (queue: QueueState, key: Key): void => add(queue, key, queue.askedAgain.delete(key) ? 'asked' : 'routine')

const settle = (queue: QueueState, key: Key, afterMs: number | undefined, failed?: Backoff): void => {
  const { running, dirty, failures, waiting, name, metrics } = queue
  const now = queue.clock.now()
  const ran = running.get(key)
  metrics?.finished(name, (now - (ran?.since ?? now)) / 1000)
  running.delete(key)
  if (ran) waiting.ended(ran.account)
  const again = dirty.get(key)
  dirty.delete(key)
  if (failed) {
    const times = failures.get(key) ?? 0
    failures.set(key, times + 1)
    metrics?.retried(name)
    if (ran?.lane === 'asked') queue.askedAgain.add(key)
    addAfter(queue, key, backoffMs(failed, times, queue.random))
  } else {
    failures.delete(key)
    if (ran?.lane === 'asked' && afterMs !== undefined && afterMs <= SOON_MS) queue.askedAgain.add(key)
    else queue.askedAgain.delete(key)
    if (afterMs !== undefined) addAfter(queue, key, afterMs)
  }
  if (again !== undefined && !queue.draining) waiting.add({ key, account: queue.accountOf(key), ...again })
  if (running.size === 0) queue.onIdle()
  serveSoon(queue)
}

const start = (queue: QueueState, { key, account, since, lane }: WaitingKey): void => {
  const now = queue.clock.now()
  queue.running.set(key, { account, since: now, lane })
  queue.metrics?.started(queue.name, (now - since) / 1000)
  // A throw before the first await is a rejection like any other.
  Promise.try(queue.onItem, key, queue.cut.signal).then(
    (result) => settle(queue, key, result?.afterMs),
    (error) => settle(queue, key, undefined, queue.backoffOf?.(error) ?? queue.backoff),
  )
}

const serve = (queue: QueueState): void => {
  while (queue.running.size < queue.concurrency) {
    const next = queue.waiting.take()
    if (!next) return
    start(queue, next)
  }
}

/** A moment later: several events for one key often come in one piece, and are one reason to run. */
const serveSoon = (queue: QueueState): void => {
  if (queue.serving || queue.waiting.size() === 0) return
  queue.serving = true
  const begin = () => {
    queue.serving = false
    serve(queue)
  }
  const { batchedStart } = queue
  if (batchedStart && queue.running.size >= batchedStart.from) queue.clock.after(batchedStart.ms, begin)
  else queueMicrotask(begin)
}

const drain = async (queue: QueueState, deadlineMs: number): Promise<boolean> => {
  queue.draining = true
  queue.alarm.cancel()
  queue.waiting.clear()
  queue.dirty.clear()
  if (queue.running.size === 0) return true
  const idle = new Promise<void>((resolve) => {
    queue.onIdle = resolve
  })
  const inTime = await endsWithin(queue.clock, deadlineMs, idle)
  if (!inTime) queue.cut.abort(new Error('the queue was stopped'))
  return inTime
}

export const makeQueue = (options: QueueOptions): Queue => {
  const clock = options.clock ?? realClock
  const queue: QueueState = {
    ...options,
    concurrency: options.concurrency ?? 1,
    backoff: options.backoff ?? BACKOFF,
    clock,
    random: options.random ?? Math.random,
    alarm: makeAlarm(clock, (key) => onDue(queue, key)),
    waiting: makeLanes(options.accountMost),
    accountOf: options.accountOf ?? (() => ''),
    running: new Map(),
    dirty: new Map(),
    failures: new Map(),
    askedAgain: new Set(),
    cut: new AbortController(),
    draining: false,
    serving: false,
    onIdle: () => {},
  }
  queue.metrics?.watching(queue.name, () => {
    const now = clock.now()
    const runningSeconds = [...queue.running.values()].map(({ since }) => (now - since) / 1000)
    return { depth: queue.waiting.size(), runningSeconds }
  })

  return {
    add: (key, lane = 'asked') => add(queue, key, lane),
    addAfter: (key, ms) => addAfter(queue, key, ms),
    forget: (key) => {
      queue.failures.delete(key)
      queue.askedAgain.delete(key)
      queue.alarm.delete(key)
    },
    size: queue.waiting.size,
    delayed: () => queue.alarm.size(),
    running: () => queue.running.size,
    drain: (deadlineMs) => drain(queue, deadlineMs),
  }
}
