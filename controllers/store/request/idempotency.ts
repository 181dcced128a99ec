/**
 * The book of idempotency keys: a key is reserved before its handler runs and the outcome is kept after, for 24 hours
 * per account and route (rules/platform.md#idempotency). What is kept is sealed by the caller of this file.
 */
import { randomUUID } from 'node:crypto'
import type { Pg } from '../pg/pg.ts'

/** From the first use on. */
export const KEEP_MS = 24 * 3_600_000
/** A run that says nothing for this long is believed dead, and the same request may run again. */
export const LEASE_MS = 30_000
const RENEW_PER_LEASE = 3
/** Rows per statement of the sweep: none of them holds locks for long. */
const SWEEP_BATCH = 500

export type KeyRef = { account: string; route: string; key: string }

/** What a kept answer belongs to. */
export const aboutAnswer = ({ account, route, key }: KeyRef): string => JSON.stringify([account, route, key])

/** How a run ended: `answered` is replayed; `refused` frees the key; after `failed` only the same request may run. */
export type IdempotencyOutcome = { state: 'answered'; sealed: Buffer } | { state: 'refused' | 'failed' }

export type Run = {
  /** Keeps the outcome. A run whose lease was taken over writes nothing. */
  end(outcome: IdempotencyOutcome): Promise<void>
}

/** `firstUsedAt` (ISO) is the same for every retry of one key, over crashes and failures, until the key lapses. */
export type ReservedKey =
  | { outcome: 'run'; firstUsedAt: string; run: Run }
  | { outcome: 'replay'; firstUsedAt: string; sealed: Buffer }
  | { outcome: 'in_flight'; firstUsedAt: string }
  /** `sealed`: how the other request was answered; null while it was not. */
  | { outcome: 'mismatch'; firstUsedAt: string; sealed: Buffer | null }

export type KeyBook = {
  /** @param fingerprint 32 bytes that two requests share when they ask for the same */
  reserve(of: KeyRef, fingerprint: Buffer): Promise<ReservedKey>
  /** What was answered so was refused after all: the key is free for a corrected request. */
  free(of: KeyRef, sealed: Buffer): Promise<void>
}

const RESERVE = `
select outcome, first_used_at as "firstUsedAt", sealed
from reserve_key($1, $2, $3, $4, $5, $6::int * interval '1 ms', $7, $8::bigint * interval '1 ms')`
const END = `
update idempotency set state = $5, sealed = $6
where account = $1 and route = $2 and key = $3 and run = $4 and state = 'running'`
const FREE = `
update idempotency set state = 'refused', sealed = null
where account = $1 and route = $2 and key = $3 and state = 'answered' and sealed = $4`
const RENEW = `
update idempotency set lease_until = clock_timestamp() + $5::int * interval '1 ms'
where account = $1 and route = $2 and key = $3 and run = $4 and state = 'running'`
const SWEEP = `
delete from idempotency where (account, route, key) in (
  select account, route, key from idempotency
  where first_used_at <= $1::timestamptz - $2::bigint * interval '1 ms'
  order by first_used_at limit ${SWEEP_BATCH} for update skip locked
) returning 1 as gone`

type Row = { outcome: ReservedKey['outcome']; firstUsedAt: string; sealed: Buffer | null }

/** @param deps.now the platform's clock: keys lapse by it; leases follow the database's */
export const makeKeyBook = (deps: { pg: Pg; now: () => Date; leaseMs?: number }): KeyBook => {
  const { pg, now, leaseMs = LEASE_MS } = deps

  const begin = (of: KeyRef, id: string): Run => {
    const place = [of.account, of.route, of.key, id]
    // A missed renewal is made up by the next; were they all missed, the lease ends as if we had died.
    const renew = () => void pg.query('renew_key', RENEW, [...place, leaseMs]).catch(() => {})
    const timer = setInterval(renew, leaseMs / RENEW_PER_LEASE)
    timer.unref()
    return {
      async end(outcome) {
        clearInterval(timer)
        const sealed = outcome.state === 'answered' ? outcome.sealed : null
        await pg.query('end_key', END, [...place, outcome.state, sealed])
      },
    }
  }

  return {
    async free({ account, route, key }, sealed) {
      await pg.query('free_key', FREE, [account, route, key, sealed])
    },
    async reserve(of, fingerprint) {
      const id = randomUUID()
      const values = [of.account, of.route, of.key, fingerprint, id, leaseMs, now().toISOString(), KEEP_MS]
      const { rows } = await pg.query<Row>('reserve_key', RESERVE, values)
      const row = rows[0]
      if (row === undefined) throw new Error('reserve_key gave no answer')
      const { outcome, firstUsedAt } = row
      if (outcome === 'run') return { outcome, firstUsedAt, run: begin(of, id) }
      if (outcome === 'in_flight') return { outcome, firstUsedAt }
      if (outcome === 'mismatch') return { outcome, firstUsedAt, sealed: row.sealed }
      if (row.sealed === null) throw new Error('an answered key has no answer')
      return { outcome, firstUsedAt, sealed: row.sealed }
    },
  }
}

/** Deletes keys that have lapsed, in small batches. @returns how many went */
export const sweepKeys = async (deps: { pg: Pg; now: () => Date }): Promise<number> => {
  for (let swept = 0; ; ) {
    const { rows } = await deps.pg.query('sweep_keys', SWEEP, [deps.now().toISOString(), KEEP_MS])
    swept += rows.length
    if (rows.length < SWEEP_BATCH) return swept
  }
}
