/**
 * The outbox: what is to leave the house (mail now, webhooks later), written before the effect in the transaction that
 * decided it, and taken from here under a lease. An attempt whose outcome nobody recorded is counted as unknown and
 * repeated under the same message id: never in silence (DESIGN section 1; fault matrix 3 and 5).
 */
import { makeBatch } from './batch.ts'
import { LEASE } from './fence.ts'
import type { Pg } from './pg.ts'

/** Rows that one statement takes at most, whatever was asked for. */
export const CLAIM_MAX = 500
const ERROR_MAX_CHARS = 500

/** A row under our lease. `attempt` counts from 1; `unknowns` of the earlier ones ended nobody knows how. */
export type OutboxRow = {
  id: number
  resource: string
  purpose: string
  messageId: string
  payload: unknown
  attempt: number
  unknowns: number
  createdAt: string
}

/** The send that a message is about (its payload says which); null when it is about none. */
export type AboutSend = { gate: 'account' | 'password' | null; frozen: unknown }

/** How an attempt ended. `dueAt` (ISO) is when to try again; an unknown outcome may be left at that (null). */
export type Settlement = { id: number; attempt: number } & (
  | { state: 'sent' }
  | { state: 'queued'; error: string; dueAt: string }
  | { state: 'failed'; error: string }
  | { state: 'unknown'; error: string; dueAt: string | null }
)

/** Rows that still need somebody. `lateMs`: for how long the oldest of them has been due; 0 when none is. */
export type Backlog = { channel: string; state: string; count: number; lateMs: number }

export type Wish = { channel: string; limit: number; leaseMs: number }

export type Outbox = {
  /**
   * Takes what is due, oldest first, for at most `leaseMs`: settle before that, or another will try too. Senders who
   * ask at the same time share one statement.
   */
  claimDue(wish: Wish): Promise<OutboxRow[]>
  /** Records how the last attempts ended and takes what is due next, in one commit. */
  turn(results: Settlement[], wish: Wish): Promise<(OutboxRow & AboutSend)[]>
  /** Records outcomes. Gives one boolean each: false when the lease was lost meanwhile, so another attempt decides. */
  settle(results: Settlement[]): Promise<boolean[]>
  backlog(): Promise<Backlog[]>
}

const CLAIM = `
select id, resource, purpose, message_id as "messageId", payload, attempt, unknowns, created_at as "createdAt"
from claim_outbox($1, $2, $3, $4, $5, $6)`
const TURN = `
select id, resource, purpose, message_id as "messageId", payload, attempt, unknowns, created_at as "createdAt", gate, frozen
from turn_outbox($1, $2, $3, $4, $5, $6, $7)`
const SETTLE = 'select id from settle_outbox($1, $2, $3)'
const BACKLOG = `
select channel, state, count(*) as count,
  greatest(0, coalesce(extract(epoch from $1::timestamptz - min(due_at)) * 1000, 0))::bigint as "lateMs"
from outbox where due_at is not null
group by channel, state order by channel, state`

type PendingWish = { wish: Wish; epoch: number }
type Pending = { result: Settlement; epoch: number }

const toSettled = (result: Settlement, at: string) => ({
  id: result.id,
  attempt: result.attempt,
  state: result.state,
  error: 'error' in result ? result.error.replaceAll('\0', '').slice(0, ERROR_MAX_CHARS) : null,
  dueAt: 'dueAt' in result ? result.dueAt : null,
  at,
})

/** @param deps.now the platform's clock, which `hack/up` can move forward */
export const makeOutbox = (deps: { pg: Pg; epoch: () => number; now: () => Date }): Outbox => {
  const { pg, epoch, now } = deps

  const claim = makeBatch<PendingWish, OutboxRow[]>({
    mayJoin: (chosen, { wish, epoch }) =>
      chosen.every(
        (one) => one.epoch === epoch && one.wish.channel === wish.channel && one.wish.leaseMs === wish.leaseMs,
      ),
    async run(pending) {
      const [first] = pending
      if (first === undefined) return []
      const at = now()
      const until = new Date(at.getTime() + first.wish.leaseMs)
      const limit = Math.min(
        CLAIM_MAX,
        pending.reduce((sum, { wish }) => sum + wish.limit, 0),
      )
      const values = [LEASE, first.epoch, first.wish.channel, at.toISOString(), until.toISOString(), limit]
      const { rows } = await pg.query<OutboxRow>('claim_outbox', CLAIM, values)
      return pending.map(({ wish }) => rows.splice(0, wish.limit))
    },
  })

  const settle = makeBatch<Pending, boolean>({
    mayJoin: (chosen, next) =>
      chosen[0]?.epoch === next.epoch && chosen.every((one) => one.result.id !== next.result.id),
    async run(pending) {
      const at = now().toISOString()
      const results = pending.map(({ result }) => toSettled(result, at))
      const values = [LEASE, pending[0]?.epoch, JSON.stringify(results)]
      const { rows } = await pg.query<{ id: number }>('settle_outbox', SETTLE, values)
      const settled = new Set(rows.map((row) => row.id))
      return pending.map(({ result }) => settled.has(result.id))
    },
  })

  return {
    claimDue: (wish) => claim({ wish, epoch: epoch() }),
    async turn(results, { channel, limit, leaseMs }) {
      const at = now()
      const until = new Date(at.getTime() + leaseMs)
      const settled = JSON.stringify(results.map((result) => toSettled(result, at.toISOString())))
      const values = [
        LEASE,
        epoch(),
        settled,
        channel,
        at.toISOString(),
        until.toISOString(),
        Math.min(limit, CLAIM_MAX),
      ]
      return (await pg.query<OutboxRow & AboutSend>('turn_outbox', TURN, values)).rows
    },
    settle: (results) => Promise.all(results.map((result) => settle({ result, epoch: epoch() }))),
    async backlog() {
      return (await pg.query<Backlog>('outbox_backlog', BACKLOG, [now().toISOString()])).rows
    },
  }
}
