/**
 * What is to happen at an instant: rows that a pass writes when its plan desires another, and that
 * the sweep claims when they are due, each once (sql/functions/turn_schedule.sql; rules/platform.md#schedule). A claim records a fact and queues
 * its mail in one transaction, without a pass; one without an effect only has the resource looked at.
 */
import { isDeepStrictEqual } from '../values/compare.ts'
import type { NewEvent } from './event.ts'

/** What a claim writes. Values are JSON, and none is undefined: it is compared with what stands in the database. */
export type ScheduledEffect = {
  fact: {
    /** Unique per resource, so that the same thing is never done twice. */
    key: string
    kind: string
    body: Record<string, unknown>
    /** NewEvent in the same transaction. */
    event?: NewEvent
  }
  mail?: {
    kind: string
    account: string
    purpose: string
    channel: string
    messageId: string
    payload: Record<string, unknown>
  }
}

/** `purpose` is unique per resource. Instants are ISO; from `lapsesAt` on it is for a pass to say what is due instead. */
export type Desired = { purpose: string; dueAt: string; lapsesAt: string | null; effect: ScheduledEffect | null }

/** A desired row as it was written down. It holds while the spec is of that generation and nothing was recorded since. */
export type Scheduled = Desired & { generation: number; factSeq: number }

/** All rows of one resource. */
export type ResourceSchedule = { kind: string; resource: string; rows: readonly Scheduled[] }

/** What the plan was made on. */
type Basis = { generation: number; factSeq: number }

const isSame = (desiredRow: Scheduled, standing: Scheduled | undefined): boolean =>
  standing !== undefined &&
  desiredRow.dueAt === standing.dueAt &&
  desiredRow.lapsesAt === standing.lapsesAt &&
  isDeepStrictEqual(desiredRow.effect, standing.effect) &&
  // to look is right whatever has happened meanwhile
  (desiredRow.effect === null ||
    (desiredRow.generation === standing.generation && desiredRow.factSeq === standing.factSeq))

/** All rows of the resource as they are to be; null when those that stand are the same, so that nothing is written. */
export const rescheduled = (
  desired: readonly Desired[],
  standing: readonly Scheduled[],
  basis: Basis,
): Scheduled[] | null => {
  const rows = desired.map((desiredRow) => ({ ...desiredRow, generation: basis.generation, factSeq: basis.factSeq }))
  const stands = (row: Scheduled) =>
    isSame(
      row,
      standing.find(({ purpose }) => purpose === row.purpose),
    )
  return rows.length === standing.length && rows.every(stands) ? null : rows
}
