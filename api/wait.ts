/**
 * The bounded wait: a route changes desire or appends a fact and then waits until the controllers' view says so.
 * Wakes come over PostgreSQL's LISTEN from the mirror; a slow poll covers a lost connection. Nothing here does the work.
 */
import type { MirrorReader, MirrorRow } from '../controllers/runtime/mirror.ts'
import type { Pg } from '../controllers/runtime/pg.ts'

/** How long a request waits for a verdict before it answers 202 (DESIGN section 5). */
export const WAIT_MS = 15_000
const POLL_MS = 1_000

/** One resource watched from before the change until the answer. Call `leave` in a `finally`. */
export type Watched = {
  /**
   * Resolves with the first row that `done` accepts (undefined: the row is gone), or null when the time is up.
   * Looks only when the mirror said that the row changed, and once a second.
   */
  until(
    done: (row: MirrorRow | undefined) => boolean,
    timeoutMs?: number,
  ): Promise<{ row: MirrorRow | undefined } | null>
  leave(): void
}

export type Waiter = {
  /** Begin before the change is made, so that no wake falls between the change and the wait. */
  watch(kind: string, name: string): Watched
  /** Tells of everything that changed, as "Kind/name"; null: some of it was missed. */
  hear(onChange: (keys: string[] | null) => void): void
  close(): Promise<void>
}

/** A flag that a sleeper can wait for: set by a wake, taken by a look. */
const makeBell = () => {
  let rung = false
  let wake: (() => void) | undefined
  return {
    ring() {
      rung = true
      wake?.()
    },
    async heard(withinMs: number) {
      if (!rung) {
        let timer: NodeJS.Timeout | undefined
        await new Promise<void>((resolve) => {
          wake = resolve
          timer = setTimeout(resolve, withinMs)
        })
        clearTimeout(timer)
        wake = undefined
      }
      rung = false
    },
  }
}
type Bell = ReturnType<typeof makeBell>

/** One listening connection per process; any number of requests wait on it. */
export const makeWaiter = async (deps: { pg: Pg; mirror: MirrorReader }): Promise<Waiter> => {
  const bells = new Map<string, Set<Bell>>()
  const hearers: ((keys: string[] | null) => void)[] = []
  const ringAll = () => {
    for (const hear of hearers) hear(null)
    for (const set of bells.values()) for (const bell of set) bell.ring()
  }
  const listener = await deps.pg.listen(
    'bottega_mirror',
    (payload) => {
      const keys = JSON.parse(payload) as string[]
      for (const hear of hearers) hear(keys)
      for (const key of keys) for (const bell of bells.get(key) ?? []) bell.ring()
    },
    // Wakes were lost while the connection was away: everybody looks once.
    ringAll,
  )

  const watch: Waiter['watch'] = (kind, name) => {
    const key = `${kind}/${name}`
    const bell = makeBell()
    const set = bells.get(key) ?? new Set()
    bells.set(key, set.add(bell))
    return {
      async until(done, timeoutMs = WAIT_MS) {
        const endMs = performance.now() + timeoutMs
        for (;;) {
          const leftMs = endMs - performance.now()
          if (leftMs <= 0) return null
          await bell.heard(Math.min(leftMs, POLL_MS))
          const row = await deps.mirror.get(kind, name)
          if (done(row)) return { row }
        }
      },
      leave() {
        set.delete(bell)
        if (set.size === 0 && bells.get(key) === set) bells.delete(key)
      },
    }
  }
  return { watch, hear: (onChange) => void hearers.push(onChange), close: () => listener.close() }
}
