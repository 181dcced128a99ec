/** Keys that wait for an instant: a binary heap by instant, one instant per key, the earliest kept. */
import type { Key } from '../../crds/kernel/object.ts'
import { TIMER_MAX_MS } from '../base/backoff.ts'

type Entry = { key: Key; at: number }

export type Delays = {
  /** Keeps the earlier one when the key waits already. */
  set(key: Key, at: number): void
  delete(key: Key): void
  /** The earliest instant. */
  next(): number | undefined
  /** Takes out the keys whose instant has come. */
  due(now: number): Key[]
  size(): number
}

export const makeDelays = (): Delays => {
  /** The truth; heap entries that say otherwise are leftovers and are skipped. */
  const instants = new Map<Key, number>()
  const heap: Entry[] = []

  const at = (index: number): number => heap[index]?.at ?? Number.POSITIVE_INFINITY
  const swap = (a: number, b: number) => {
    const [x, y] = [heap[a], heap[b]]
    if (x === undefined || y === undefined) return
    heap[a] = y
    heap[b] = x
  }
  const push = (entry: Entry) => {
    let index = heap.push(entry) - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (at(parent) <= at(index)) return
      swap(parent, index)
      index = parent
    }
  }
  const pop = () => {
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    heap[0] = last
    for (let index = 0; ; ) {
      const left = 2 * index + 1
      const least = at(left + 1) < at(left) ? left + 1 : left
      if (at(least) >= at(index)) return
      swap(least, index)
      index = least
    }
  }
  /** Drops leftovers from the top. */
  const top = (): Entry | undefined => {
    for (let first = heap[0]; first !== undefined; first = heap[0]) {
      if (instants.get(first.key) === first.at) return first
      pop()
    }
    return undefined
  }

  return {
    set: (key, instant) => {
      const held = instants.get(key)
      if (held !== undefined && held <= instant) return
      instants.set(key, instant)
      push({ key, at: instant })
    },
    delete: (key) => {
      instants.delete(key)
    },
    next: () => top()?.at,
    due: (now) => {
      const keys: Key[] = []
      for (let first = top(); first !== undefined && first.at <= now; first = top()) {
        pop()
        instants.delete(first.key)
        keys.push(first.key)
      }
      return keys
    },
    size: () => instants.size,
  }
}

/** Time and timers, so that tests need not wait. Milliseconds of a monotonic clock. */
export type QueueClock = {
  now(): number
  /** @returns the way to cancel */
  after(ms: number, fire: () => void): () => void
}

export type Alarm = Pick<Delays, 'delete' | 'size'> & {
  /** The earliest of several delays counts. */
  set(key: Key, ms: number): void
  /** Nothing goes off any more. */
  cancel(): void
}

/** One timer for all delays, never longer than a timer can be: a longer one would fire at once. */
export const makeAlarm = (clock: QueueClock, onDue: (key: Key) => void): Alarm => {
  const delays = makeDelays()
  let cancelTimer = () => {}
  let timerAt = Number.POSITIVE_INFINITY

  const arm = () => {
    const next = delays.next()
    if (next === undefined || next >= timerAt) return
    cancelTimer()
    timerAt = next
    cancelTimer = clock.after(Math.min(Math.max(0, next - clock.now()), TIMER_MAX_MS), () => {
      timerAt = Number.POSITIVE_INFINITY
      for (const key of delays.due(clock.now())) onDue(key)
      arm()
    })
  }

  return {
    set: (key, ms) => {
      delays.set(key, clock.now() + ms)
      arm()
    },
    cancel: () => cancelTimer(),
    delete: delays.delete,
    size: delays.size,
  }
}
