/**
 * The platform's clock: what plans, conditions and sweeps go by. It is the wall's, except on a development installation,
 * where it can be moved forward for all processes at once and never goes back (rules/platform.md#clock).
 * Signatures, leases and everything the database decides by its own clock stay with the wall.
 */

import { nextDue } from './ledger/schedule.ts'
import type { Pg } from './pg/pg.ts'

const CHANNEL = 'bottega_clock'
/** Stops on the way of one move; what is due beyond them is dealt with at its end. */
const STOPS_MAX = 100

type Row = { offsetMs: number; moves: number; settled: number }

const READ = 'select offset_ms as "offsetMs", moves, settled from dev_clock'
const MOVE = 'select offset_ms as "offsetMs", moves, settled from move_dev_clock($1)'
const SETTLE = 'select settle_dev_clock($1)'

export type DevClock = {
  now(): Date
  /**
   * Moves the clock of every process, from one instant at which something is scheduled to the next, so that everything
   * happens in its order and at its time, as if the time had passed. @returns resolves once the controllers have looked at
   * all that fell due; false when they did not in time
   */
  advance(ms: number, withinMs: number): Promise<boolean>
  close(): Promise<void>
}

/**
 * @param deps.onMove of the process that leads: looks at everything that may have fallen due, and resolves when it has
 *   been dealt with; left out in processes that only read the time
 */
export const openDevClock = async (deps: {
  pg: Pg
  onMove?: () => Promise<void>
  wall?: () => number
}): Promise<DevClock> => {
  const { pg, onMove, wall = Date.now } = deps
  let row: Row = { offsetMs: 0, moves: 0, settled: 0 }
  const changed = new Set<() => void>()
  const run = (name: string, text: string, values: unknown[] = []) => pg.query<Row>(name, text, values)
  const take = ({ rows }: { rows: Row[] }) => {
    const found = rows[0]
    if (found && found.moves >= row.moves) row = found
    for (const ring of changed) ring()
  }

  let dealingWith = 0
  const deal = async () => {
    const { moves, settled } = row
    if (!onMove || moves <= settled || moves <= dealingWith) return
    dealingWith = moves
    try {
      await onMove()
      await run('dev_clock_settle', SETTLE, [moves])
    } catch {
      // Whoever waits is told that it did not come in time; the next move, or a restart, looks again.
      dealingWith = 0
    }
  }
  const look = async () => {
    take(await run('dev_clock_read', READ))
    await deal()
  }
  const lookSoon = () => void look().catch(() => undefined)
  const listener = await pg.listen(CHANNEL, lookSoon, lookSoon)
  await look()

  const now = () => new Date(wall() + row.offsetMs)
  /** One move, and the wait until it has been dealt with. */
  const move = async (ms: number, withinMs: number): Promise<boolean> => {
    const { rows } = await run('dev_clock_move', MOVE, [ms])
    take({ rows })
    const mine = rows[0]?.moves ?? 0
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const check = () => row.settled >= mine && resolve(true)
    const timer = setTimeout(() => resolve(false), withinMs)
    changed.add(check)
    check()
    try {
      return await promise
    } finally {
      clearTimeout(timer)
      changed.delete(check)
    }
  }

  return {
    now,
    async advance(ms, withinMs) {
      const endOffsetMs = row.offsetMs + ms
      const endAt = performance.now() + withinMs
      let inTime = true
      for (let stops = 0; stops < STOPS_MAX && inTime; stops++) {
        const left = endOffsetMs - row.offsetMs
        const next = await nextDue(pg, now(), new Date(now().getTime() + left))
        const hopMs = next === null ? left : next.getTime() - now().getTime() + 1
        if (hopMs >= left) break
        if (hopMs > 0) inTime = await move(hopMs, endAt - performance.now())
      }
      const left = endOffsetMs - row.offsetMs
      return left > 0 ? move(left, Math.max(0, endAt - performance.now())) : inTime
    },
    close: () => listener.close(),
  }
}
