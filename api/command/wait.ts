/**
 * The bounded wait: a route changes desire or appends a fact and then waits until the controllers' view says so.
 * Wakes come over PostgreSQL's LISTEN from the mirror; a slow poll covers a lost connection. Nothing here does the work.
 */
import type { MirrorReader, MirrorRow } from '../../controllers/store/mirror.ts'
import type { Pg } from '../../controllers/store/pg/pg.ts'
import type { KindOf } from '../../crds/kernel/kind.ts'

/** How long a request waits for a verdict before it answers 202 (rules/platform.md#bounded-wait). */
export const WAIT_MS = 15_000
const POLL_MS = 1_000
/** When the process is about to end, a verdict that is not there within this is left to the next look of the caller. */
const HURRY_MS = 2_000

/** One resource watched from before the change until the answer. Call `leave` in a `finally`. */
export type Watched<View = unknown> = {
  /**
   * Resolves with the first row that `done` accepts (undefined: the row is gone), or null when the time is up.
   * Looks only when the mirror said that the row changed, and once a second.
   */
  until(
    done: (row: MirrorRow<View> | undefined) => boolean,
    timeoutMs?: number,
  ): Promise<{ row: MirrorRow<View> | undefined } | null>
  /** Nothing was heard of the resource since the watch began, or since `until` last looked. */
  isQuiet(): boolean
  leave(): void
}

export type Waiter = {
  /** Begin before the change is made, so that no wake falls between the change and the wait. */
  watch<View>(kind: KindOf<View>, name: string): Watched<View>
  /** Calls back with everything that changed, as "Kind/name"; null: some of it was missed. */
  subscribe(onChange: (keys: string[] | null) => void): void
  /** The process is about to end: nobody waits much longer. */
  leave(): void
  isLeaving(): boolean
  close(): Promise<void>
}

/** A condition variable: a wake raises it, the sleeper takes it. */
const makeSignal = () => {
  let isRaised = false
  let wake: (() => void) | undefined
  return {
    raise() {
      isRaised = true
      wake?.()
    },
    async wait(withinMs: number) {
      if (!isRaised) {
        let timer: NodeJS.Timeout | undefined
        await new Promise<void>((resolve) => {
          wake = resolve
          timer = setTimeout(resolve, withinMs)
        })
        clearTimeout(timer)
        wake = undefined
      }
      isRaised = false
    },
    isRaised: () => isRaised,
  }
}
type Signal = ReturnType<typeof makeSignal>

/** @throws when it is not what the mirror tells: the listener then has everybody look (listen.ts) */
const keysOf = (payload: string): string[] => {
  const keys: unknown = JSON.parse(payload)
  if (!Array.isArray(keys) || !keys.every((key) => typeof key === 'string')) {
    throw new Error('a notification of the mirror is no list of keys')
  }
  return keys
}

/** One listening connection per process; any number of requests wait on it. */
export const makeWaiter = async (deps: { pg: Pg; mirror: MirrorReader }): Promise<Waiter> => {
  const signals = new Map<string, Set<Signal>>()
  const subscribers: ((keys: string[] | null) => void)[] = []
  let lastMs = Number.POSITIVE_INFINITY
  const raiseAll = () => {
    for (const set of signals.values()) for (const signal of set) signal.raise()
  }
  const notifyAll = () => {
    for (const notify of subscribers) notify(null)
    raiseAll()
  }
  const listener = await deps.pg.listen(
    'bottega_mirror',
    (payload) => {
      const keys = keysOf(payload)
      for (const notify of subscribers) notify(keys)
      for (const key of keys) for (const signal of signals.get(key) ?? []) signal.raise()
    },
    // Wakes were lost while the connection was away: everybody looks once.
    notifyAll,
  )

  const watch: Waiter['watch'] = (kind, name) => {
    const key = `${kind.kind}/${name}`
    const signal = makeSignal()
    const set = signals.get(key) ?? new Set()
    signals.set(key, set.add(signal))
    return {
      async until(done, timeoutMs = WAIT_MS) {
        const endMs = performance.now() + timeoutMs
        for (;;) {
          const leftMs = Math.min(endMs, lastMs) - performance.now()
          if (leftMs <= 0) return null
          await signal.wait(Math.min(leftMs, POLL_MS))
          const row = await deps.mirror.get(kind, name)
          if (done(row)) return { row }
        }
      },
      isQuiet: () => !signal.isRaised(),
      leave() {
        set.delete(signal)
        if (set.size === 0 && signals.get(key) === set) signals.delete(key)
      },
    }
  }
  return {
    watch,
    subscribe: (onChange) => void subscribers.push(onChange),
    leave: () => {
      lastMs = performance.now() + HURRY_MS
      raiseAll()
    },
    isLeaving: () => lastMs < Number.POSITIVE_INFINITY,
    close: () => listener.close(),
  }
}
