/**
 * The register of numbers: 1..n per series without hole or repeat, each entry hashed together with the one before.
 * Claims are committed in groups; how the lock is held and the chain computed stands in sql/functions/claim_numbers.sql.
 * Source: rules/invoice.md#numbering, #register.
 */
import type { EntryWord } from '../../../crds/invoice/order/numbering.ts'
import { makeBatch } from '../../base/batch.ts'
import { LEASE } from '../pg/fence.ts'
import { isItemFault, type Pg } from '../pg/pg.ts'

/** Entries that one page may hold. */
export const ENTRIES_MAX = 1000
/** While one run is answered, the next already waits at the database for the lock on the series. */
const IN_FLIGHT = 2

/** `prefix` is ready to be followed by the sequence: `INV-026-`. A series keeps its account for ever. */
export type ClaimedSeries = { id: string; account: string; prefix: string }
/** The rule that a new number breaks which somebody is known to have already (sql/functions/claim_unknown_numbers.sql). */
export const SERIES_KNOWN = 'series_known'
export type EntryKind = 'invoice' | 'credit_note'

/** A request for a number. `resource` is the identity: it gets one number, however often it asks. */
export type NumberClaim = {
  resource: string
  uid: string
  series: ClaimedSeries
  kind: EntryKind
  totalCents: number
  currency: string
  /** ISO instant, kept with milliseconds. */
  issuedAt: string
  /** Kept as it is, for comparing when the same resource comes again. */
  payload: unknown
  /** Numbers of the series are known to have been given up to this one, whatever the register says; 0 when left out. */
  known?: number
}

/** `replayed`: the resource had this number before; then series and date are those of the first time. */
export type Claimed = { number: string; seriesId: string; seq: number; issuedAt: string; replayed: boolean }

/** `firstBad`: the first sequence at which an entry is missing, moved or altered. `headHash` in hex. */
export type Verification = { ok: boolean; count: number; last: number; headHash: string; firstBad?: number }

export type SeriesRow = { id: string; account: string; prefix: string; last: number; headHash: string }

/**
 * Hashes in lower-case hex. Its place in the chain is (seq, step): `step` is 0 of what stands for a number. `reference` is what
 * a later entry rests on: the sha256 of the document, or the number of the credit note; else ''.
 */
export type RegisterEntry = {
  seq: number
  step: number
  entry: EntryWord
  number: string
  resource: string
  kind: EntryKind
  totalCents: number
  currency: string
  issuedAt: string
  reference: string
  prevHash: string
  hash: string
}

export type RegisterReader = {
  /** Recomputes the whole chain. `null` when there is no such series. */
  verify(seriesId: string): Promise<Verification | null>
  /** In the order of the chain. `limit` is at most ENTRIES_MAX. */
  entries(seriesId: string, page: { limit: number; offset: number }): Promise<RegisterEntry[]>
  /** The series of one account, by id. */
  seriesOf(account: string): Promise<SeriesRow[]>
}

const VERIFY = 'select count, last, head_hash as "headHash", first_bad as "firstBad" from verify_series($1)'
const SERIES_OF = `
select id, account, prefix, last_seq as last, encode(head_hash, 'hex') as "headHash"
from series where account = $1 order by id`
/** Of `register r`, with the hash of the entry before it. */
export const ENTRY_COLUMNS = `
r.seq, r.step, r.entry, r.number, r.resource, r.kind, r.total_cents as "totalCents", r.currency,
  iso_ms(r.issued_at) as "issuedAt", r.reference, encode(r.hash, 'hex') as hash,
  encode(coalesce((
    select p.hash from register p where p.series_id = r.series_id and (p.seq, p.step) < (r.seq, r.step)
    order by p.seq desc, p.step desc limit 1
  ), genesis_hash(r.series_id)), 'hex') as "prevHash"`
const ENTRIES = `
select ${ENTRY_COLUMNS} from register r where r.series_id = $1 order by r.seq, r.step limit $2 offset $3`

export const makeRegisterReader = ({ pg }: { pg: Pg }): RegisterReader => ({
  async verify(seriesId) {
    type Row = { count: number; last: number; headHash: string; firstBad: number | null }
    const { rows } = await pg.query<Row>('verify_series', VERIFY, [seriesId])
    if (rows[0] === undefined) return null
    const { firstBad, ...found } = rows[0]
    return firstBad === null ? { ok: true, ...found } : { ok: false, ...found, firstBad }
  },
  async entries(seriesId, { limit, offset }) {
    const values = [seriesId, Math.min(limit, ENTRIES_MAX), offset]
    return (await pg.query<RegisterEntry>('register_entries', ENTRIES, values)).rows
  },
  async seriesOf(account) {
    return (await pg.query<SeriesRow>('series_of', SERIES_OF, [account])).rows
  },
})

const CLAIM = `
select seq, number, held_series as "heldSeries", held_at as "heldAt"
from claim_unknown_numbers($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`

type Pending = { claim: NumberClaim; epoch: number }
type Row = { seq: number; number: string; heldSeries: string | null; heldAt: string | null }

/** Numbers the distinct keys of a list from 0. Gives the place of each item's key, and the items that came first. */
const distinct = <T>(items: T[], keyOf: (item: T) => string): { places: number[]; firsts: T[] } => {
  const known = new Map<string, number>()
  const firsts: T[] = []
  const places = items.map((item) => {
    const key = keyOf(item)
    const place = known.get(key) ?? firsts.push(item) - 1
    known.set(key, place)
    return place
  })
  return { places, firsts }
}

const toClaimed = (row: Row, claim: NumberClaim): Claimed => {
  const { seq, number, heldSeries, heldAt } = row
  return heldSeries === null || heldAt === null
    ? { number, seq, seriesId: claim.series.id, issuedAt: claim.issuedAt, replayed: false }
    : { number, seq, seriesId: heldSeries, issuedAt: heldAt, replayed: true }
}

const claimAll = async (pg: Pg, pending: Pending[]): Promise<Claimed[]> => {
  const { places, firsts: claims } = distinct(pending, ({ claim }) => claim.resource)
  const series = distinct(
    claims,
    ({
      claim: {
        series: { id, account, prefix },
      },
    }) => `${id}\n${account}\n${prefix}`,
  )
  const seriesOf = (pick: (of: ClaimedSeries) => string) => series.firsts.map(({ claim }) => pick(claim.series))
  const known = series.firsts.map(() => 0)
  for (const [index, place] of series.places.entries()) {
    known[place] = Math.max(known[place] ?? 0, claims[index]?.claim.known ?? 0)
  }
  const each = <V>(pick: (claim: NumberClaim) => V) => claims.map(({ claim }) => pick(claim))
  const { rows } = await pg.query<Row>('claim_numbers', CLAIM, [
    LEASE,
    pending[0]?.epoch,
    seriesOf((one) => one.id),
    seriesOf((one) => one.account),
    seriesOf((one) => one.prefix),
    series.places.map((place) => place + 1),
    each((claim) => claim.resource),
    each((claim) => claim.uid),
    each((claim) => claim.kind),
    each((claim) => claim.totalCents),
    each((claim) => claim.currency),
    each((claim) => claim.issuedAt),
    each((claim) => JSON.stringify(claim.payload)),
    known,
  ])
  const answered = new Set<number>()
  return pending.map(({ claim }, index) => {
    const place = places[index] ?? -1
    const row = rows[place]
    if (row === undefined) throw new Error('claim_numbers left a claim without an answer')
    const claimed = toClaimed(row, claim)
    // A second claim of the same resource in one batch is a replay of the first.
    if (answered.has(place)) return { ...claimed, replayed: true }
    answered.add(place)
    return claimed
  })
}

/**
 * Gives a function that gives numbers. It may be called again after any failure: what was committed is replayed.
 * Throws DatabaseUnavailable, StaleEpoch, or DatabaseRefused for a claim that breaks a rule of the schema.
 */
export const makeClaimNumber = (deps: { pg: Pg; epoch: () => number }): ((claim: NumberClaim) => Promise<Claimed>) => {
  const claim = makeBatch<Pending, Claimed>({
    run: (pending) => claimAll(deps.pg, pending),
    inFlight: IN_FLIGHT,
    mayJoin: (chosen, next) => chosen[0]?.epoch === next.epoch,
    isItemFault,
  })
  return (request) => claim({ claim: request, epoch: deps.epoch() })
}
