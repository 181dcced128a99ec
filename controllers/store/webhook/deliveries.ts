/**
 * Events and their deliveries as the sender sees them: what the state machines told is spread to whoever wants it, due
 * attempts are leased, and how they ended is recorded with what follows from it (sql/functions/turn_deliveries.sql).
 */
import type { StoredEvent } from '../../../crds/kernel/event.ts'
import type { DeliveryOutcome } from '../../../crds/webhook/outcome.ts'
import type { Sealer } from '../../base/seal.ts'
import { LEASE } from '../pg/fence.ts'
import type { Pg } from '../pg/pg.ts'

/** Events that one call spreads at most. */
export const SPREAD_MAX = 500

/** An attempt under our lease. `begun` above 1: it was begun before, and nobody knows how that ended. */
export type WebhookDelivery = {
  id: number
  endpoint: string
  /** Of the endpoint, whose address and secrets are those of this version or a newer one. */
  version: number
  /** No delivery to it has succeeded of late. */
  isFailing: boolean
  account: string
  begun: number
  attempt: number
  isLast: boolean
  event: StoredEvent
}

/** One attempt, as it was leased. Left alone, it is one that is not begun after all. */
export type Released = { id: number; begun: number }

/** A mail to the owner, written in the commit of what it tells. */
export type Notice = {
  kind: string
  resource: string
  account: string
  purpose: string
  messageId: string
  payload: Record<string, unknown>
}

/** How an attempt under our lease ended, and the mail that follows from it. */
export type Ended = DeliveryOutcome & Released & { mail?: Notice }

/** What to send with: the newest secret first. */
export type EndpointAddress = { version: number; url: string; secrets: string[] }

/** `firsts`: of how many endpoints how many first attempts. `agains`: of whom one repeat. `released` are free again. */
export type DeliveryTurn = {
  firsts: ReadonlyMap<string, number>
  agains: readonly string[]
  released: readonly Released[]
  leaseMs: number
}

/** `again`: repeats of it are due; else first attempts. */
export type Due = { endpoint: string; again: boolean }

/** What waits to be attempted. `lateMs`: for how long the oldest of it has been due; 0 when nothing is. */
export type DeliveryBacklog = { attempt: 'first' | 'again'; count: number; lateMs: number }

export type Deliveries = {
  /** Gives events their place and their deliveries. @returns how many there were, and whom they concern */
  spread(): Promise<{ spread: number; endpoints: string[] }>
  /** Endpoints with something due that nobody is at. */
  due(): Promise<Due[]>
  turn(ended: readonly Ended[], turn: DeliveryTurn): Promise<WebhookDelivery[]>
  /** Null when it was deleted. */
  address(endpoint: string): Promise<EndpointAddress | null>
}

const SPREAD = 'select spread, endpoints from spread_events($1, $2, $3, $4)'
const DUE = 'select endpoint, again from due_endpoints($1, $2)'
const TURN = 'select * from turn_deliveries($1, $2, $3, $4, $5, $6, $7, $8, $9)'
const ADDRESS = `
select version, url, secret, case when previous_until > $2 then previous_secret end as previous
from webhook_endpoints where id = $1`
const BACKLOG = `
select case attempt when 1 then 'first' else 'again' end as attempt, count(*)::integer as count,
  greatest(0, extract(epoch from $1::timestamptz - min(due_at)) * 1000)::bigint as "lateMs"
from deliveries where state = 'pending' group by 1`

type Stored = Omit<WebhookDelivery, 'event'> & Omit<StoredEvent, 'id'> & { eventId: string }
type StoredAddress = { version: number; url: string; secret: Buffer; previous: Buffer | null }

const deliveryOf = ({
  eventId,
  type,
  createdAt,
  sequence,
  objectSequence,
  test,
  data,
  ...rest
}: Stored): WebhookDelivery => ({
  ...rest,
  event: { id: eventId, type, createdAt, sequence, objectSequence, test, data },
})

/** @param deps.now the platform's clock, which `hack/up` can move forward */
export const makeDeliveries = (deps: { pg: Pg; sealer: Sealer; epoch: () => number; now: () => Date }): Deliveries => {
  const { pg, sealer, epoch, now } = deps
  const at = () => now().toISOString()
  return {
    async spread() {
      const { rows } = await pg.query<{ spread: number; endpoints: string[] }>('spread_events', SPREAD, [
        LEASE,
        epoch(),
        at(),
        SPREAD_MAX,
      ])
      return rows[0] ?? { spread: 0, endpoints: [] }
    },
    async due() {
      return (await pg.query<Due>('due_endpoints', DUE, [at(), epoch()])).rows
    },
    async turn(ended, { firsts, agains, released, leaseMs }) {
      const from = now()
      const { rows } = await pg.query<Stored>('turn_deliveries', TURN, [
        LEASE,
        epoch(),
        JSON.stringify(ended),
        JSON.stringify(released),
        [...firsts.keys()],
        [...firsts.values()],
        agains,
        from.toISOString(),
        new Date(from.getTime() + leaseMs).toISOString(),
      ])
      return rows.map(deliveryOf)
    },
    async address(endpoint) {
      const { rows } = await pg.query<StoredAddress>('endpoint_address', ADDRESS, [endpoint, at()])
      const [row] = rows
      if (!row) return null
      const { secret, previous, ...rest } = row
      const secrets = [secret, ...(previous ? [previous] : [])]
      return { ...rest, secrets: secrets.map((sealed) => sealer.open(sealed, endpoint).toString('utf8')) }
    },
  }
}

/** For the metrics: any process may ask. */
export const makeBacklog =
  ({ pg, now }: { pg: Pg; now: () => Date }): (() => Promise<DeliveryBacklog[]>) =>
  async () =>
    (await pg.query<DeliveryBacklog>('deliveries_backlog', BACKLOG, [now().toISOString()])).rows

/** The oldest are those with the lowest ids, up to the two days in which a delivery is repeated: no index is kept for it. */
const PURGE = `
delete from deliveries d where d.id = any (array(
  select o.id from (select id, settled_at from deliveries where state <> 'pending' order by id limit $2) o
  where o.settled_at < $1
))`
/** How long the log is kept. What was told is kept for good: it can be caught up with, and sent again. */
const LOG_DAYS = 30
const PURGE_MAX = 5_000
const DAY_MS = 86_400_000

/** Removes what is old from the log, in small batches. */
export const purgeDeliveries = async ({ pg, now }: { pg: Pg; now: () => Date }): Promise<void> => {
  const before = new Date(now().getTime() - LOG_DAYS * DAY_MS).toISOString()
  await pg.query('purge_deliveries', PURGE, [before, PURGE_MAX])
}
