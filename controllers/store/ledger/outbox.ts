/**
 * The outbox: effects on the outside (mail, calls to the card processor), written before the effect in the transaction that
 * decided it, and taken from here under a lease. An attempt whose outcome nobody recorded is counted as unknown and
 * repeated under the same message id: never in silence (rules/platform.md#effects).
 */
import type { SendRecord } from '../../../crds/invoice/facts/ledger.ts'
import { LEASE } from '../pg/fence.ts'
import type { Pg } from '../pg/pg.ts'

/** Rows that one statement takes at most, whatever was asked for. */
export const CLAIM_MAX = 500
const ERROR_MAX_CHARS = 500

/** A row under our lease. `attempt` counts from 1; `unknowns` of the earlier ones ended nobody knows how. */
export type OutboxRow = {
  id: number
  /** Of the resource. */
  kind: string
  resource: string
  purpose: string
  messageId: string
  payload: unknown
  attempt: number
  unknowns: number
  createdAt: string
}

/**
 * The send that a message is about (its payload says which); null when it is about none. `links`: versions of the links of its
 * resource that are good, of those that were ended before.
 */
export type AboutSend = (Pick<SendRecord, 'gate' | 'frozen'> | { gate: null; frozen: null }) & {
  links: Readonly<Partial<Record<string, number>>>
  /** The message of a visitor that it brings; null when it brings none, or it is there no more. */
  sealed?: Buffer | null
}

/** How an attempt ended. `dueAt` (ISO) is when to try again; an unknown outcome may be left at that (null). */
export type Settlement = { id: number; attempt: number } & (
  | { state: 'sent' }
  | { state: 'queued'; error: string; dueAt: string }
  | { state: 'failed' | 'bounced'; error: string }
  /** Set aside (rules/platform.md#quarantine): its row has failed, and is shown to administrators. */
  | { state: 'quarantined'; error: string }
  | { state: 'unknown'; error: string; dueAt: string | null }
)

/** Rows that still need somebody. `lateMs`: for how long the oldest of them has been due; 0 when none is. */
export type OutboxBacklog = { channel: string; state: string; count: number; lateMs: number }

export type TurnRequest = { channel: string; limit: number; leaseMs: number }

export type Outbox = {
  /**
   * Records how the last attempts ended and takes what is due next, for at most `leaseMs`, in one commit: the oldest of each
   * account, which take turns where more is due than is asked for (hack/decisions/110).
   * An attempt whose lease was lost meanwhile is no longer counted: a later one decides.
   */
  turn(results: Settlement[], request: TurnRequest): Promise<(OutboxRow & AboutSend)[]>
  backlog(): Promise<OutboxBacklog[]>
}

const TURN = `
select id, kind, resource, purpose, message_id as "messageId", payload, attempt, unknowns, created_at as "createdAt", gate, frozen,
  links, sealed, turn
from turn_outbox($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`
const BACKLOG = `
select channel, state, count(*) as count,
  greatest(0, coalesce(
    extract(epoch from $1::timestamptz - min(case when state = 'sending' then lease_until else due_at end)) * 1000, 0
  ))::bigint as "lateMs"
from outbox where due_at is not null
group by channel, state order by channel, state`

const errorOf = (result: Settlement): string | null =>
  'error' in result ? result.error.replaceAll('\0', '').slice(0, ERROR_MAX_CHARS) : null

export type OutboxDeps = {
  pg: Pg
  epoch: () => number
  /** The platform's clock, which `hack/up` can move forward. */
  now: () => Date
  /** Whether a retry may be due by that clock; always when left out. First attempts are not asked about. */
  mayRetry?: () => boolean
}

/** The values of TURN but for the last. */
const valuesOf = (deps: OutboxDeps, results: Settlement[], { channel, limit, leaseMs }: TurnRequest): unknown[] => {
  const at = deps.now()
  // In one order, so that two senders never wait for one another in a circle.
  const ordered = results.toSorted((a, b) => a.id - b.id)
  return [
    LEASE,
    deps.epoch(),
    ordered.map(({ id }) => id),
    ordered.map(({ attempt }) => attempt),
    ordered.map(({ state }) => state),
    ordered.map(errorOf),
    ordered.map((result) => ('dueAt' in result ? result.dueAt : null)),
    channel,
    at.toISOString(),
    new Date(at.getTime() + leaseMs).toISOString(),
    Math.min(limit, CLAIM_MAX),
    deps.mayRetry?.() === false,
  ]
}

type TurnRow = OutboxRow & AboutSend & { turn: string }

export const makeOutbox = (deps: OutboxDeps): Outbox => {
  const { pg, now } = deps
  /** Whose turn was last, by channel. Whoever leads next begins anew. */
  const lastTurns = new Map<string, string>()
  return {
    async turn(results, request) {
      const { channel } = request
      const values = [...valuesOf(deps, results, request), lastTurns.get(channel) ?? '']
      const { rows } = await pg.query<TurnRow>('turn_outbox', TURN, values)
      if (rows[0]) lastTurns.set(channel, rows[0].turn)
      return rows.map(({ turn: _turn, ...row }) => row)
    },
    async backlog() {
      return (await pg.query<OutboxBacklog>('outbox_backlog', BACKLOG, [now().toISOString()])).rows
    },
  }
}
