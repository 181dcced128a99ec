/**
 * The sweep over the schedule: claims what is due in batches, without a pass, and has every resource concerned looked at. It
 * knows no kind. What it may not claim (the spec was edited since, the resource is paused, something is due instead) is left
 * for a pass to say.
 */
import { PAUSED } from '../../crds/kernel/object.ts'
import type { Log } from '../base/log.ts'
import type { AnyResource } from '../kinds/held.ts'
import type { QueueLane } from '../runtime/lanes.ts'
import type { ClaimedRow, DueRow, Schedule, ScheduleTurn } from '../store/ledger/schedule.ts'
import { isItemFault } from '../store/pg/pg.ts'

/** Rows per transaction. */
const BATCH = 500
/** How late something may be that fell due while nobody wrote to the schedule. */
const POLL_MS = 1_000

export type SchedulerDeps = {
  schedule: Pick<Schedule, 'due' | 'turn'>
  /** Out of the watch; undefined when the resource is no more. */
  find: (kind: string, resource: string) => AnyResource | undefined
  /** One that is not there and goes on without: what is kept of it. Null for all others. */
  stored: (kind: string, resource: string) => Promise<AnyResource | null>
  wake: (kind: string, resource: string, lane: QueueLane) => void
  /** Mail was queued. */
  onQueued: () => void
  now: () => Date
  /** Whether that clock may be believed; nothing is due while it may not. Yes when left out. */
  isClockTrusted?: (() => boolean) | undefined
  log: Log
}

export type Scheduler = {
  /** Claims all that is due. @returns how many rows were dealt with; rejects when it was stopped before the end */
  sweep(): Promise<number>
  /** Something may be due at once. */
  wake(): void
  stop(): Promise<void>
}

const isClaimable = (row: DueRow, object: AnyResource, now: Date): boolean =>
  row.hasEffect &&
  row.generation === object.metadata.generation &&
  // Its status has taken in more than the row was decided on: an older copy of the ledger was put back.
  row.factSeq >= (object.status?.factSeq ?? 0) &&
  object.metadata.annotations?.[PAUSED] !== 'true' &&
  (row.lapsesAt === null || Date.parse(row.lapsesAt) > now.getTime())

/** What is done about each row that is due. */
const turnOf = async ({ find, stored, now }: SchedulerDeps, rows: readonly DueRow[]): Promise<ScheduleTurn> => {
  const found = await Promise.all(
    rows.map(async (row) => ({ row, object: find(row.kind, row.resource) ?? (await stored(row.kind, row.resource)) })),
  )
  const at = now()
  const held = found.flatMap(({ row, object }) => (object ? [{ row, claims: isClaimable(row, object, at) }] : []))
  return {
    claims: held.flatMap(({ row, claims }) => {
      const { resource, purpose, generation, factSeq } = row
      return claims ? [{ resource, purpose, generation, factSeq }] : []
    }),
    looks: held.flatMap(({ row: { resource, purpose }, claims }) => (claims ? [] : [{ resource, purpose }])),
    gone: found.flatMap(({ row, object }) => (object ? [] : [row.resource])),
  }
}

/** Each claim alone: one that the ledger refuses is looked at instead, where its pass writes it anew, and keeps no other. */
const claimEach = async (
  { schedule, log }: SchedulerDeps,
  { claims, looks, gone }: ScheduleTurn,
): Promise<ClaimedRow[]> => {
  const claimed: ClaimedRow[] = []
  const refused: ScheduleTurn['looks'][number][] = []
  for (const claim of claims) {
    try {
      claimed.push(...(await schedule.turn({ claims: [claim], looks: [], gone: [] })))
    } catch (error) {
      if (!isItemFault(error)) throw error
      const { resource, purpose } = claim
      log.warn({ err: error, resource, purpose }, 'what was due could not be claimed')
      refused.push({ resource, purpose })
    }
  }
  await schedule.turn({ claims: [], looks: [...looks, ...refused], gone })
  return claimed
}

/** @param seen takes what is to be looked at, also when nobody heard how the claim ended @returns whether there was any */
const sweepBatch = async (deps: SchedulerDeps, seen: DueRow[]): Promise<boolean> => {
  if (deps.isClockTrusted?.() === false) return false
  const rows = await deps.schedule.due(BATCH)
  if (rows.length === 0) return false
  seen.push(...rows)
  const turn = await turnOf(deps, rows)
  const claimed = await deps.schedule.turn(turn).catch((error: unknown) => {
    if (!isItemFault(error)) throw error
    return claimEach(deps, turn)
  })
  if (claimed.some(({ mailed }) => mailed)) deps.onQueued()
  return true
}

/** Sweeps at once, then every second. */
export const startScheduler = (deps: SchedulerDeps): Scheduler => {
  let stopping = false
  let timer: NodeJS.Timeout | undefined
  let last: Promise<unknown> = Promise.resolve()
  /** A sweep that has not begun yet: it will find whatever is due by then. */
  let isRung = false

  const sweepAll = async (): Promise<number> => {
    isRung = false
    const seen: DueRow[] = []
    try {
      while (!stopping && (await sweepBatch(deps, seen)));
    } finally {
      // Views come after: the passes would slow down what has to go out, and whoever waits for another.
      for (const { kind, resource } of seen) deps.wake(kind, resource, 'routine')
    }
    // Nobody is to believe that all of it was dealt with.
    if (stopping) throw new Error('the sweep was stopped')
    return seen.length
  }
  /** One after the other: the second finds what the first left. */
  const sweep = (): Promise<number> => {
    const mine = last.then(sweepAll, sweepAll)
    last = mine.catch(() => undefined)
    return mine
  }
  const tick = async (): Promise<void> => {
    clearTimeout(timer)
    await sweep().catch((error) => {
      if (!stopping) deps.log.warn({ err: error }, 'the schedule was not swept')
    })
    clearTimeout(timer)
    if (!stopping) timer = setTimeout(() => void tick(), POLL_MS)
  }
  void tick()

  return {
    sweep,
    wake: () => {
      if (isRung) return
      isRung = true
      void tick()
    },
    stop: async () => {
      stopping = true
      clearTimeout(timer)
      await last
    },
  }
}
