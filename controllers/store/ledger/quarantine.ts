/**
 * What was set aside: rows that failed through a fault of their own as often as they may, so that nothing waits behind them
 * (sql/schema/019_quarantine.sql; rules/platform.md#quarantine).
 */
import { LEASE } from '../pg/fence.ts'
import type { Pg } from '../pg/pg.ts'

/** Rows of the outbox by their channel, deliveries, and documents that cannot be drawn. */
export const QUARANTINE_SOURCES = ['mail', 'card', 'event', 'delivery', 'document'] as const
export type QuarantineSource = (typeof QUARANTINE_SOURCES)[number]

/** `kind`, `resource`: what it is about. `account`: whose; null where nobody knows. Instants are ISO. */
export type Quarantined = {
  id: number
  source: QuarantineSource
  kind: string
  resource: string
  account: string | null
  reason: string
  tries: number
  at: string
  releasedAt: string | null
  releasedBy: string | null
}

export type Quarantine = {
  /** Newest first; `released`: what was released, in place of what is still set aside. */
  list(
    filter: { source: QuarantineSource | null; released: boolean },
    page: { limit: number; offset: number },
  ): Promise<{ rows: Quarantined[]; total: number }>
  get(id: number): Promise<Quarantined | null>
  /** It is tried again now. @returns false where it is not set aside any more, or nothing is left to be tried */
  release(id: number, by: { who: string; at: string }): Promise<boolean>
}

const COLUMNS = `id, source, kind, resource, account, reason, tries, iso_ms(at) as at,
  iso_ms(released_at) as "releasedAt", released_by as "releasedBy"`
const CHOSEN = 'from quarantine where ($1::text is null or source = $1) and (released_at is not null) = $2'
const LIST = `select ${COLUMNS} ${CHOSEN} order by id desc limit $3 offset $4`
const TOTAL = `select count(*)::integer as total ${CHOSEN}`
const GET = `select ${COLUMNS} from quarantine where id = $1`
const RELEASE = 'select release_quarantined($1, $2, $3) as released'
const COUNTS = 'select source, count(*)::integer as count from quarantine where released_at is null group by source'

export const makeQuarantine = ({ pg }: { pg: Pg }): Quarantine => ({
  async list({ source, released }, { limit, offset }) {
    const [page, count] = await Promise.all([
      pg.query<Quarantined>('quarantine_list', LIST, [source, released, limit, offset]),
      pg.query<{ total: number }>('quarantine_total', TOTAL, [source, released]),
    ])
    return { rows: page.rows, total: count.rows[0]?.total ?? 0 }
  },
  get: async (id) => (await pg.query<Quarantined>('quarantine_get', GET, [id])).rows[0] ?? null,
  async release(id, { who, at }) {
    const { rows } = await pg.query<{ released: boolean }>('quarantine_release', RELEASE, [id, who, at])
    return rows[0]?.released ?? false
  },
})

/** A try to draw a document that failed through a fault of its own. */
export type FailedDrawing = {
  kind: string
  resource: string
  account: string
  /** Names the document among those of its invoice. */
  subject: string
  /** Of the fact that tells of the try. */
  key: string
  /** Safe to show. */
  reason: string
  /** With this one. */
  tries: number
  /** It is set aside. */
  isLast: boolean
  /** ISO. */
  at: string
}

const PUT_OFF_DRAWING = 'select put_off_drawing($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)'

/** @returns a function that records a try, and sets the document aside after the last. Safe to repeat. @throws StaleEpoch */
export const makePutOffDrawing =
  ({ pg, epoch }: { pg: Pg; epoch: () => number }): ((failed: FailedDrawing) => Promise<void>) =>
  async ({ kind, resource, account, subject, key, reason, tries, isLast, at }) => {
    const values = [LEASE, epoch(), kind, resource, account, subject, key, reason, tries, isLast, at]
    await pg.query('put_off_drawing', PUT_OFF_DRAWING, values)
  }

/** Mail, events and deliveries that wait, by what they are. */
export type WaitingCounts = { source: Exclude<QuarantineSource, 'document'>; count: number }[]

const WAITING = `
select w.source, count(*)::integer as count
from (
  select o.channel as source from outbox o where o.due_at is not null and o.channel <> 'card'
  union all
  select 'delivery' from deliveries d where d.state = 'pending'
) w
group by w.source order by w.source`
const SET_ASIDE = 'select source, count from set_aside_waiting($1, $2, $3, $4)'
const MAYBE_SENT = 'it waited in the copy of the database that was put back: it may have gone out since'

/** What waited in an older copy of the database. */
export const makeWaiting = ({ pg }: { pg: Pg }) => ({
  counts: async (): Promise<WaitingCounts> =>
    (await pg.query<WaitingCounts[number]>('waiting_counts', WAITING, [])).rows,
  /** Until an administrator releases it. Safe to repeat. @throws StaleEpoch */
  setAside: async (epoch: number, at: string): Promise<WaitingCounts> =>
    (await pg.query<WaitingCounts[number]>('set_aside_waiting', SET_ASIDE, [LEASE, epoch, MAYBE_SENT, at])).rows,
})

const UNDECIDED = `
select count(*)::integer as count,
  greatest(0, coalesce(extract(epoch from $1::timestamptz - min(at)) * 1000, 0))::bigint as "lateMs"
from facts where state = 'pending'`

/** For the metrics: how much is set aside now, by source; and how many facts nobody has decided, and for how long. */
export const makeQuarantineCounts = ({ pg, now }: { pg: Pg; now: () => Date }) => ({
  quarantined: async (): Promise<{ source: QuarantineSource; count: number }[]> =>
    (await pg.query<{ source: QuarantineSource; count: number }>('quarantine_counts', COUNTS, [])).rows,
  undecided: async (): Promise<{ count: number; lateMs: number }> => {
    const { rows } = await pg.query<{ count: number; lateMs: number }>('facts_undecided', UNDECIDED, [
      now().toISOString(),
    ])
    return rows[0] ?? { count: 0, lateMs: 0 }
  },
})
