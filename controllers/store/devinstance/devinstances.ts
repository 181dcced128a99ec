/**
 * The rows of dev instances in PostgreSQL: reservations under the owner's cap, and decisions one after the other
 * (rules/devinstance.md#reservation). What one transaction must hold together is one SQL function
 * (sql/functions/settle_devbox.sql).
 */

import type { JudgedBy } from '../../../crds/devinstance/facts.ts'
import { DEVINSTANCE } from '../../../crds/devinstance/kind.ts'
import type { NewHistoryEntry, Taken } from '../../../crds/devinstance/life/context.ts'
import type { DevInstanceRow } from '../../../crds/devinstance/life/row.ts'
import type { HistoryEntry, StoredDevInstance } from '../../../crds/devinstance/view.ts'
import type { By, DevInstanceRecord } from '../../../crds/devinstance/world.ts'
import type { NewEvent } from '../../../crds/kernel/event.ts'
import { makeBatch } from '../../base/batch.ts'
import type { NewFact } from '../ledger/facts.ts'
import { MIRROR_COLUMNS, type MirrorRow, typedBy } from '../mirror.ts'
import { LEASE } from '../pg/fence.ts'
import type { Page } from '../pg/page.ts'
import { isItemFault, type Pg } from '../pg/pg.ts'
import { type Envs, makeEnvs } from './envs.ts'
import { makePast, type Past } from './past.ts'

const OBSERVE_MAX = 128
/** Reports that are kept of one instance: a day of one a minute. */
export const REPORT_RING = 1440
/** Entries of the history that a detail shows. */
export const HISTORY_SHOWN = 200

export type ReservationRequest = {
  resource: string
  account: string
  name: string
  committedMicroUsd: number
  capMicroUsd: number
  pricingVersion: string
  /** ISO. */
  at: string
}
/** `others`: what the owner's other instances are committed to. */
export type Reserved = { outcome: 'reserved' | 'held' | 'CAP_EXCEEDED' | 'NAME_TAKEN'; others: number }

/** `usedAt`: the latest instant of use that any report has told of. `attestedAt`: when the latest came that attests something. */
export type KeptReport = { at: string; body: Record<string, unknown> }
export type LatestReport = KeptReport & { usedAt: string | null }
export type PendingTrigger = { seq: number; key: string; kind: string; body: Record<string, unknown>; at: string }
export type ObservedDevInstance = {
  record: DevInstanceRecord | null
  pending: PendingTrigger[]
  lastReport: (LatestReport & { attestedAt: string | null }) | null
  factSeq: number
}

/** One decision. `seq` null: `fact` is the operator's own. */
export type DevInstanceDecision = {
  resource: string
  rev: number
  at: string
  by: By | null
  outcome: JudgedBy
} & ({ seq: number } | { seq: null; fact: NewFact }) &
  (
    | { state: 'refused'; code: string; detail: string; row: DecidedRow | null }
    | { state: 'accepted'; row: DecidedRow; event: NewEvent | null }
  )
/** The row as a decision leaves it; a report that was refused may leave one, too. */
export type DecidedRow = {
  uid: string
  box: DevInstanceRow
  committedMicroUsd: number
  capMicroUsd: number
  /** It may exceed the cap: an admin lets it, or it has happened. */
  over: boolean
  entries: NewHistoryEntry[]
}
/** `stale`: it was decided against a row that is no more. `taken`: the unique index that is in the way. */
export type Settled =
  | { outcome: 'settled' | 'stale' }
  | { outcome: 'CAP_EXCEEDED'; others: number }
  | { outcome: 'taken'; what: Taken }

export type Visible = { account: string; teams: readonly string[]; isAdmin: boolean }

/** What the api does with rows of dev instances: it reserves and reads, and decides nothing. */
export type DevInstances = Past &
  Envs & {
    /** Takes a name and a part of the cap. Safe to repeat. */
    reserve(reservation: ReservationRequest): Promise<Reserved>
    /** The resource was refused: frees what was taken for it. */
    release(resource: string): Promise<void>
    /** What an account is committed to, in micro-USD. */
    committed(account: string): Promise<number>
    /** One page of what somebody may see, newest first, and how many there are. */
    list(visible: Visible, page: Page): Promise<{ rows: MirrorRow<StoredDevInstance>[]; total: number }>
    lastReport(resource: string): Promise<KeptReport | null>
    history(resource: string): Promise<HistoryEntry[]>
    /** Keeps a report and gives the one before it. @param report.usedAt when it tells of use, else null */
    report(resource: string, report: LatestReport): Promise<KeptReport | null>
    /** Reports of the last `withinMs`, oldest first. */
    reports(resource: string, since: string): Promise<KeptReport[]>
    /** Tells in the history what changed nothing: that the environment was shown. */
    note(resource: string, entry: { kind: string; at: string; by: By; data: Record<string, unknown> }): Promise<void>
  }

/** Those of one owner follow one another anyway; in one transaction they need one commit. In the order of the owners. */
const RESERVE = `
select r.outcome, r.others
from (
  select w.* from unnest($3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::text[], $9::timestamptz[])
    with ordinality as w(resource, account, name, committed, cap, pricing_version, at, place)
  order by w.account, w.place
) w, lateral reserve_devbox($1, $2, w.resource, w.account, w.name, w.committed, w.cap, w.pricing_version, w.at) r
order by w.place`
const RELEASE = 'select release_devbox_reservation($1)'
const COMMITTED = `select devbox_committed($1, '') as committed`
const VISIBLE = `
from devboxes d, lateral (select * from mirror m where m.kind = 'DevInstance' and m.name = d.resource limit 1) m
where d.deleted_at is null and d.box is not null and ($3 or d.account = $1 or d.teams && $2::text[])`
const LIST = `
select
  (select count(*) ${VISIBLE}) as total,
  (
    select coalesce(json_agg(page), '[]')
    from (
      select ${MIRROR_COLUMNS}
      ${VISIBLE}
      order by m.created_at desc, m.place desc limit $4 offset $5
    ) page
  ) as rows`
const LAST_REPORT = `
select iso_ms(received_at) as at, body from devbox_report_heads where resource = $1`
const HISTORY = `
select kind, iso_ms(at) as at, said_by ->> 'account' as by, version, data
from devbox_history where resource = $1 order by n desc limit ${HISTORY_SHOWN}`
const REPORT = 'select previous from report_devbox($1, $2, $3, $4, $5)'
const REPORTS = `
select iso_ms(received_at) as at, body from devbox_reports where resource = $1 and received_at >= $2
order by received_at`
const NOTE = 'select note_devbox($1, $2, $3, $4, $5)'

type PendingReservation = { reservation: ReservationRequest; epoch: number | null }

const reserveAll = async (pg: Pg, reservations: PendingReservation[]): Promise<Reserved[]> => {
  const each = <V>(pick: (reservation: ReservationRequest) => V) =>
    reservations.map(({ reservation }) => pick(reservation))
  const { rows } = await pg.query<Reserved>('reserve_devbox', RESERVE, [
    LEASE,
    reservations[0]?.epoch ?? null,
    each((reservation) => reservation.resource),
    each((reservation) => reservation.account),
    each((reservation) => reservation.name),
    each((reservation) => reservation.committedMicroUsd),
    each((reservation) => reservation.capMicroUsd),
    each((reservation) => reservation.pricingVersion),
    each((reservation) => reservation.at),
  ])
  return rows
}

/** Many callers share one transaction: were each to wait for the owner's lock by itself, they would use up the pool. */
const makeReserve = (pg: Pg, epoch: () => number | null): ((reservation: ReservationRequest) => Promise<Reserved>) => {
  const reserve = makeBatch<PendingReservation, Reserved>({
    run: (reservations) => reserveAll(pg, reservations),
    mayJoin: (chosen, next) => chosen[0]?.epoch === next.epoch,
    isItemFault,
  })
  return (reservation) => reserve({ reservation, epoch: epoch() })
}

export const makeDevInstances = ({ pg }: { pg: Pg }): DevInstances => {
  const first = async <Row>(name: string, text: string, values: unknown[]): Promise<Row | null> =>
    (await pg.query<Row>(name, text, values)).rows[0] ?? null
  return {
    ...makePast({ pg }),
    ...makeEnvs({ pg }),
    reserve: makeReserve(pg, () => null),
    async release(resource) {
      await pg.query('release_devbox_reservation', RELEASE, [resource])
    },
    async committed(account) {
      return (await first<{ committed: number }>('devbox_committed', COMMITTED, [account]))?.committed ?? 0
    },
    async list({ account, teams, isAdmin }, { limit, offset }) {
      const values = [account, teams, isAdmin, limit, offset]
      const found = await first<{ rows: MirrorRow[]; total: number }>('devbox_list', LIST, values)
      const { rows, total } = found ?? { rows: [], total: 0 }
      return { rows: rows.map((row) => typedBy(DEVINSTANCE, row)), total }
    },
    lastReport: (resource) => first('devbox_last_report', LAST_REPORT, [resource]),
    async history(resource) {
      return (await pg.query<HistoryEntry>('devbox_history', HISTORY, [resource])).rows
    },
    async report(resource, { body, at, usedAt }) {
      const values = [resource, JSON.stringify(body), at, REPORT_RING, usedAt]
      return (await first<{ previous: KeptReport | null }>('report_devbox', REPORT, values))?.previous ?? null
    },
    async reports(resource, since) {
      return (await pg.query<KeptReport>('devbox_reports', REPORTS, [resource, since])).rows
    },
    async note(resource, { kind, at, by, data }) {
      await pg.query('note_devbox', NOTE, [resource, kind, at, JSON.stringify(by), JSON.stringify(data)])
    },
  }
}

const OBSERVE = `
select resource, record, pending, last_report as "lastReport", fact_seq as "factSeq" from observe_devboxes($1)`
const SETTLE = `
select outcome, others
from settle_devbox($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)`

const TAKEN: Record<string, Taken> = {
  devbox_name: 'name',
  devbox_instance: 'instance',
  devbox_allocation: 'address',
  devbox_public_ip: 'address',
  devbox_host_key: 'hostKey',
}

/** What the controllers do with them; every effect carries the epoch. */
export type DevInstanceLedger = {
  /** All that a pass needs; many passes share one read. */
  observe(resource: string): Promise<ObservedDevInstance>
  reserve(reservation: ReservationRequest): Promise<Reserved>
  settle(decision: DevInstanceDecision): Promise<Settled>
}

type ObservedRow = Omit<ObservedDevInstance, 'pending'> & { resource: string; pending: PendingTrigger[] | null }

const settledOf = ({ outcome, others }: { outcome: string; others: number }): Settled => {
  if (outcome === 'settled' || outcome === 'stale') return { outcome }
  if (outcome === 'CAP_EXCEEDED') return { outcome, others }
  const what = TAKEN[outcome]
  if (what === undefined) throw new Error(`settle_devbox broke on ${outcome}`)
  return { outcome: 'taken', what }
}

export const makeDevInstanceLedger = ({ pg, epoch }: { pg: Pg; epoch: () => number }): DevInstanceLedger => ({
  observe: makeBatch<string, ObservedDevInstance>({
    max: OBSERVE_MAX,
    inFlight: 2,
    async run(resources) {
      const { rows } = await pg.query<ObservedRow>('observe_devboxes', OBSERVE, [[...new Set(resources)]])
      const found = new Map(rows.map(({ resource, pending, ...row }) => [resource, { ...row, pending: pending ?? [] }]))
      return resources.map((resource) => {
        const known = found.get(resource)
        if (known === undefined) throw new Error('observe_devboxes left an instance out')
        return known
      })
    },
  }),
  reserve: makeReserve(pg, epoch),
  async settle(decision) {
    const { resource, rev, at, by } = decision
    const fact = decision.seq === null ? { ...decision.fact, writtenBy: 'controller' } : null
    const of = [LEASE, epoch(), resource, rev, decision.seq, jsonOf(fact)]
    const values = [...of, ...verdictOf(decision), jsonOf(by), ...toldOf(decision), at, jsonOf(decision.outcome)]
    const { rows } = await pg.query<{ outcome: string; others: number }>('settle_devbox', SETTLE, values)
    const row = rows[0]
    if (!row) throw new Error('settle_devbox gave no answer')
    return settledOf(row)
  },
})

const jsonOf = (value: unknown): string | null => (value === null ? null : JSON.stringify(value))

/** state, code, detail, uid, box, committed, cap, over: the middle of settle_devbox's arguments. */
const verdictOf = (decision: DevInstanceDecision): unknown[] => {
  const { state, row } = decision
  const why = decision.state === 'refused' ? [decision.code, decision.detail] : [null, null]
  const left = row
    ? [row.uid, JSON.stringify(row.box), row.committedMicroUsd, row.capMicroUsd, row.over]
    : [null, null, null, null, false]
  return [state, ...why, ...left]
}

const toldOf = (decision: DevInstanceDecision): unknown[] => [
  JSON.stringify(decision.row?.entries ?? []),
  decision.state === 'refused' ? null : jsonOf(decision.event),
]
