/**
 * What every worker over the outbox does: takes due rows of one channel under a lease, attempts each, and records how it
 * ended with the commit that takes the next (rules/platform.md#effects). What an attempt is, its worker says.
 */
import { makeBatch } from '../base/batch.ts'
import { nameOf, StaleEpoch } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { AboutSend, Outbox, OutboxRow, Settlement } from '../store/ledger/outbox.ts'
import { isAway } from '../store/pg/away.ts'
import { isItemFault } from '../store/pg/pg.ts'

/** How long a lane sleeps when nothing wakes it. */
const POLL_MS = 1_000
/**
 * From a wake to the first attempt. Whoever queued the row is in the midst of a pass that somebody waits for: its look, its
 * status and its view go first, and rows of about the same time are taken in one commit.
 */
const WAKE_MS = 15
/** The wait after each attempt that ended in an exception, which is no outcome; then the row is set aside. */
export const FAULT_AFTER_MS: readonly number[] = [1_000, 10_000, 60_000, 600_000]

/** A row as it is taken, with the send that it is about. */
export type TakenRow = OutboxRow & AboutSend

export type OutboxWorkerDeps = {
  outbox: Pick<Outbox, 'turn'>
  channel: string
  /** Longer than any attempt, so that a lease is never lost while it is under way. */
  leaseMs: number
  /** Loops, each with at most one row in hand: a slow one holds up no other. */
  lanes: number
  /** How long a lane waits for another that is busy, to share its commit. */
  shareMs: number
  /**
   * Gives how it ended. One that throws counts as a try: it is made again later, and set aside after the last; where a part
   * is away its lease runs out, and nothing is counted.
   */
  attempt(row: TakenRow): Promise<Settlement>
  /** How it ended is recorded. */
  onRecorded(row: TakenRow, settlement: Settlement): void
  /** The platform's clock. */
  now(): Date
  log: Log
}

export type OutboxWorker = {
  /** Something may be due. */
  wake(): void
  /** Takes nothing more, and waits for what is under way and its record. */
  stop(): Promise<void>
}

type Ended = { row: TakenRow; settlement: Settlement }

/** What an exception means for its row: one that can never be attempted holds up no other. */
const afterFault = ({ id, attempt }: TakenRow, error: unknown, now: Date): Settlement => {
  const reason = `the attempt itself failed: ${nameOf(error)}`
  const waitMs = FAULT_AFTER_MS[attempt - 1]
  if (waitMs === undefined) return { id, attempt, state: 'quarantined', error: reason }
  return { id, attempt, state: 'queued', error: reason, dueAt: new Date(now.getTime() + waitMs).toISOString() }
}

/** In place of a record that the ledger refuses. */
const unrecordable = ({ row: { id, attempt }, settlement }: Ended): Settlement => ({
  ...{ id, attempt, state: 'quarantined' },
  error: `how it ended (${settlement.state}) could not be recorded`,
})

/** Where idle lanes sleep. */
const makeBell = () => {
  const sleepers = new Set<() => void>()
  let soon: NodeJS.Timeout | undefined
  const ring = () => {
    clearTimeout(soon)
    soon = undefined
    for (const wakeUp of sleepers) wakeUp()
  }
  return {
    ring,
    ringSoon: (ms: number) => {
      soon ??= setTimeout(ring, ms)
    },
    sleep: (ms: number) =>
      new Promise<void>((resolve) => {
        const wakeUp = () => {
          clearTimeout(timer)
          sleepers.delete(wakeUp)
          resolve()
        }
        const timer = setTimeout(wakeUp, ms)
        sleepers.add(wakeUp)
      }),
  }
}

/** Starts at once. */
export const startOutboxWorker = (deps: OutboxWorkerDeps): OutboxWorker => {
  const { outbox, channel, leaseMs, shareMs, log } = deps
  const bell = makeBell()
  let stopping = false
  let inHand = 0
  /** Records how attempts ended and takes one row for each lane that asks, all in one commit. */
  const turn = makeBatch<Ended | null, TakenRow | null>({
    gatherMs: () => (inHand > 0 ? shareMs : 0),
    isItemFault,
    async run(lasts) {
      const settlements = lasts.flatMap((last) => (last ? [last.settlement] : []))
      const rows = await outbox.turn(settlements, { channel, limit: stopping ? 0 : lasts.length, leaseMs })
      return lasts.map((_last, index) => rows[index] ?? null)
    },
  })

  const attempt = async (row: TakenRow): Promise<Ended | null> => {
    inHand++
    try {
      return { row, settlement: await deps.attempt(row) }
    } catch (error) {
      log.warn({ err: error, channel, resource: row.resource, attempt: row.attempt }, 'an attempt failed in itself')
      if (isAway(error) || error instanceof StaleEpoch) return null
      return { row, settlement: afterFault(row, error, deps.now()) }
    } finally {
      inHand--
    }
  }

  /** What is to be recorded in place of what could not be. */
  const afterFailure = async (last: Ended | null, error: unknown): Promise<Ended | null> => {
    // Refused as it is: once more without its words, and then its lease runs out.
    if (last && isItemFault(error)) {
      return last.settlement.state === 'quarantined' ? null : { row: last.row, settlement: unrecordable(last) }
    }
    // To be recorded by the next step; or, when we are to stop, left for the next leader to repeat.
    if (!stopping) await bell.sleep(POLL_MS)
    return stopping ? null : last
  }

  /** The attempt before, if it is not recorded yet, then the next row. @returns what is to be recorded by the next step */
  const step = async (last: Ended | null): Promise<Ended | null> => {
    let row: TakenRow | null
    try {
      row = await turn(last)
    } catch (error) {
      log.warn({ err: error, channel }, 'a worker cannot reach the outbox')
      return afterFailure(last, error)
    }
    if (last) deps.onRecorded(last.row, last.settlement)
    if (row) return attempt(row)
    if (!stopping) await bell.sleep(POLL_MS)
    return null
  }

  const lane = async () => {
    let last: Ended | null = null
    while (!stopping || last) last = await step(last)
  }
  const lanes = Promise.all(Array.from({ length: deps.lanes }, lane))
  return {
    wake: () => bell.ringSoon(WAKE_MS),
    stop: async () => {
      stopping = true
      bell.ring()
      await lanes
    },
  }
}
