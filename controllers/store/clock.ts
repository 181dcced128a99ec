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
  /** Whoever leads from now on looks at what fell due by a move that nobody has dealt with. */
  dealAgain(): void
  close(): Promise<void>
}

type ClockDeps = {
  pg: Pg
  onMove?: () => Promise<boolean>
  /** What was to be looked at was not: whoever waits for it learns that it did not come in time, and we why. */
  onFailed?: (error: unknown) => void
  wall?: () => number
}

/** What is known of the row, and those who wait for it to change. */
type ClockState = {
  pg: Pg
  onMove: (() => Promise<boolean>) | undefined
  onFailed: ((error: unknown) => void) | undefined
  wall: () => number
  row: Row
  changed: Set<() => void>
  /** The move that is being dealt with. */
  dealingWith: number
}

const run = ({ pg }: ClockState, name: string, text: string, values: unknown[] = []) =>
  pg.query<Row>(name, text, values)

const take = (clock: ClockState, found: Row | undefined): void => {
  if (found && found.moves >= clock.row.moves) clock.row = found
  for (const check of clock.changed) check()
}

const deal = async (clock: ClockState): Promise<void> => {
  const { moves, settled } = clock.row
  if (!clock.onMove || moves <= settled || moves <= clock.dealingWith) return
  clock.dealingWith = moves
  try {
    if (await clock.onMove()) await run(clock, 'dev_clock_settle', SETTLE, [moves])
    else clock.dealingWith = 0
  } catch (error) {
    // The next move, or a restart, looks again.
    clock.dealingWith = 0
    clock.onFailed?.(error)
  }
}

const look = async (clock: ClockState): Promise<void> => {
  const { rows } = await run(clock, 'dev_clock_read', READ)
  take(clock, rows[0])
  await deal(clock)
}

/** One move, and the wait until it has been dealt with. */
const move = async (clock: ClockState, ms: number, withinMs: number): Promise<boolean> => {
  const { rows } = await run(clock, 'dev_clock_move', MOVE, [ms])
  take(clock, rows[0])
  const mine = rows[0]?.moves ?? 0
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const check = () => clock.row.settled >= mine && resolve(true)
  const timer = setTimeout(() => resolve(false), withinMs)
  clock.changed.add(check)
  check()
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    clock.changed.delete(check)
  }
}

const nowOf = ({ wall, row }: ClockState): Date => new Date(wall() + row.offsetMs)

/** From one instant at which something is due to the next. */
const advance = async (clock: ClockState, ms: number, withinMs: number): Promise<boolean> => {
  const endOffsetMs = clock.row.offsetMs + ms
  const endAt = performance.now() + withinMs
  let inTime = true
  for (let stops = 0; stops < STOPS_MAX && inTime; stops++) {
    const left = endOffsetMs - clock.row.offsetMs
    const next = await nextDue(clock.pg, nowOf(clock), new Date(nowOf(clock).getTime() + left))
    const hopMs = next === null ? left : next.getTime() - nowOf(clock).getTime() + 1
    if (hopMs >= left) break
    if (hopMs > 0) inTime = await move(clock, hopMs, endAt - performance.now())
  }
  const left = endOffsetMs - clock.row.offsetMs
  return left > 0 ? move(clock, left, Math.max(0, endAt - performance.now())) : inTime
}

/**
 * @param deps.onMove of the process that leads: looks at everything that may have fallen due, and resolves when it has
 *   been dealt with, with false where somebody else leads; left out in processes that only read the time
 */
export const openDevClock = async ({ pg, onMove, onFailed, wall = Date.now }: ClockDeps): Promise<DevClock> => {
  const row: Row = { offsetMs: 0, moves: 0, settled: 0 }
  const clock: ClockState = { pg, onMove, onFailed, wall, row, changed: new Set(), dealingWith: 0 }
  const lookSoon = () => void look(clock).catch(() => undefined)
  const listener = await pg.listen(CHANNEL, lookSoon, lookSoon)
  await look(clock)
  return {
    now: () => nowOf(clock),
    advance: (ms, withinMs) => advance(clock, ms, withinMs),
    dealAgain: lookSoon,
    close: () => listener.close(),
  }
}

const DATABASE_NOW = 'select extract(epoch from clock_timestamp())::float8 * 1000 as ms'

/** The clock that all processes share. @returns milliseconds since 1970 @throws DatabaseUnavailable */
export const readDatabaseClock = async (pg: Pick<Pg, 'query'>): Promise<number> => {
  const { rows } = await pg.query<{ ms: number }>('clock_read', DATABASE_NOW, [])
  return Number(rows[0]?.ms)
}
