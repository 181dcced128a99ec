/**
 * When a token was last used: noted in memory by the request, written in batches a little later, at most once a minute
 * per token over all processes. A request never waits for it, and a lost note costs a minute of accuracy.
 */
import type { Pg } from '../../controllers/store/pg/pg.ts'

const EVERY_MS = 60_000
const FLUSH_AFTER_MS = 1000
const NOTED_MAX = 10_000

/** Rows that another process is writing are left to it. */
const WRITE = `
update tokens set last_used_at = now()
where id in (
  select id from tokens
  where id = any($1::text[]) and (last_used_at is null or last_used_at < now() - interval '1 minute')
  order by id
  for update skip locked
)`

export type TokenUse = {
  note(id: string): void
  /** Writes what was noted, so that what is shown next has it. */
  flush(): Promise<void>
  /** Writes what was noted, and stops. */
  close(): Promise<void>
}

/** @param deps.nowMs monotonic */
export const makeTokenUse = (deps: {
  pg: Pg
  nowMs: () => number
  onError: (error: unknown) => void
  flushAfterMs?: number
}): TokenUse => {
  const notedAtMs = new Map<string, number>()
  let pending = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  let writing = Promise.resolve()

  const write = async (): Promise<void> => {
    const ids = [...pending]
    pending = new Set()
    timer = undefined
    if (ids.length === 0) return
    try {
      await deps.pg.query('note_token_use', WRITE, [ids])
    } catch (error) {
      // with the next ones, or at the end
      if (pending.size < NOTED_MAX) for (const id of ids) pending.add(id)
      deps.onError(error)
    }
  }
  const flush = async (): Promise<void> => {
    clearTimeout(timer)
    // one after the other: whoever waits for the second waits for the first
    writing = writing.then(write)
    await writing
  }
  return {
    note(id) {
      const atMs = deps.nowMs()
      if (atMs - (notedAtMs.get(id) ?? Number.NEGATIVE_INFINITY) < EVERY_MS) return
      if (notedAtMs.size >= NOTED_MAX) notedAtMs.clear()
      notedAtMs.set(id, atMs)
      pending.add(id)
      timer ??= setTimeout(() => {
        writing = write()
      }, deps.flushAfterMs ?? FLUSH_AFTER_MS)
    },
    flush,
    close: flush,
  }
}
