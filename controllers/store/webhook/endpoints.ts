/**
 * Endpoints, events and the delivery log as the API sees them. Secrets are sealed before they are stored, each for its
 * endpoint (sql/schema/015_webhooks.sql; rules/webhook.md#secret).
 */

import type { StoredEvent } from '../../../crds/kernel/event.ts'
import { type EndpointRow, fingerprintOf } from '../../../crds/webhook/endpoint.ts'
import type { DeliveryRow } from '../../../crds/webhook/log.ts'
import type { Sealer } from '../../base/seal.ts'
import type { Page } from '../pg/page.ts'
import { DatabaseRefused, type Pg } from '../pg/pg.ts'

/** Names an endpoint: another account's is not there at all. */
export type EndpointRef = { account: string; id: string }
export type NewEndpoint = EndpointRef & { url: string; events: string[]; secret: string; at: string }
/** What changes; what is left out stays. */
export type EndpointChange = { url?: string; events?: string[]; status?: 'enabled' | 'disabled'; at: string }

export type DeliveryFilter = { states?: readonly string[]; eventId?: string }
/** Events after one sequence, up to another, both as numbers of the account. */
export type EventRange = { after: number; until: number; limit: number }
/** `all`: those too that the endpoint does not ask for. */
export type Redelivery = EventRange & { all: boolean; at: string }

/** Why a change was refused; null when it was done. */
export type EndpointRefusal = 'NOT_FOUND' | 'ENDPOINT_EXISTS' | null

export type Endpoints = {
  get(ref: EndpointRef): Promise<EndpointRow | null>
  list(account: string): Promise<EndpointRow[]>
  /** Null: the account has as many as it may. `made` is false for the one that had this address and these events already. */
  create(endpoint: NewEndpoint, limit: number): Promise<{ row: EndpointRow; made: boolean } | null>
  change(ref: EndpointRef, change: EndpointChange): Promise<EndpointRefusal>
  remove(ref: EndpointRef): Promise<boolean>
  /** From now on both sign, until `until`. @returns false when there is no such endpoint */
  rotate(ref: EndpointRef, secret: string, times: { at: string; until: string }): Promise<boolean>
  /** What each endpoint of an account signs with, and signed with before. For the check of a signature alone. */
  secrets(
    account: string,
  ): Promise<{ id: string; url: string; secret: string; previous: string | null; previousUntil: string | null }[]>
  /** @returns the delivery */
  ping(ref: EndpointRef, event: { id: string; type: string; data: object; at: string }): Promise<number>
  redeliver(ref: EndpointRef, range: Redelivery): Promise<{ id: number; sequence: number }[]>
  deliveries(ref: EndpointRef, filter: DeliveryFilter, page: Page): Promise<{ rows: DeliveryRow[]; total: number }>
  delivery(ref: EndpointRef, id: number): Promise<DeliveryRow | null>
  events(account: string, range: EventRange): Promise<StoredEvent[]>
  event(account: string, id: string): Promise<StoredEvent | null>
  /** The sequence of the newest event of an account; 0 when there is none yet. */
  last(account: string): Promise<number>
}

const ENDPOINT = `w.id, w.account, w.url, w.events, iso_ms(w.disabled_at) as "disabledAt", w.disabled_reason as "disabledReason",
  iso_ms(w.failing_since) as "failingSince", w.last_error as "lastError", iso_ms(w.previous_until) as "previousUntil",
  iso_ms(w.created_at) as "createdAt", iso_ms(w.updated_at) as "updatedAt"`
const GET = `select ${ENDPOINT} from webhook_endpoints w where w.account = $1 and w.id = $2`
const LIST = `select ${ENDPOINT} from webhook_endpoints w where w.account = $1 order by w.created_at, w.id`
const CREATE = 'select id, made from create_endpoint($1, $2, $3, $4, $5, $6, $7, $8)'
/** Switching on forgets what had switched it off. */
const CHANGE = `
update webhook_endpoints w set
  url = $3, events = $4, fingerprint = $5,
  disabled_at = case $6 when 'enabled' then null when 'disabled' then coalesce(w.disabled_at, $7) else w.disabled_at end,
  disabled_reason = case $6 when 'enabled' then null when 'disabled' then coalesce(w.disabled_reason, 'its owner switched it off')
    else w.disabled_reason end,
  failing_since = case when $6 = 'enabled' then null else w.failing_since end,
  last_error = case when $6 = 'enabled' then null else w.last_error end,
  version = w.version + 1, updated_at = $7
where w.account = $1 and w.id = $2
returning w.id`
const DROP_PENDING = `
update deliveries d set state = 'dead', fault = 'ENDPOINT_DISABLED', due_at = null, lease_until = null, settled_at = $2
where d.endpoint = $1 and d.state = 'pending'`
const REMOVE = 'delete from webhook_endpoints w where w.account = $1 and w.id = $2 returning w.id'
const ROTATE = `
update webhook_endpoints w set previous_secret = w.secret, previous_until = $4, secret = $3, version = w.version + 1, updated_at = $5
where w.account = $1 and w.id = $2
returning w.id`
const SECRETS = `
select id, url, secret, previous_secret as previous, iso_ms(previous_until) as "previousUntil"
from webhook_endpoints where account = $1 order by created_at, id`
const PING = `
select ping_endpoint(w.id, $3, $4, $5, $6) as id from webhook_endpoints w where w.account = $1 and w.id = $2`
const REDELIVER = `
select r.id, r.sequence from webhook_endpoints w, redeliver_events(w.id, $3, $4, $5, $6, $7) r
where w.account = $1 and w.id = $2 order by r.sequence`
const DELIVERY = `d.id, e.id as "eventId", e.type, d.sequence, d.attempt, d.state, d.status, d.latency_ms as "latencyMs",
  d.fault as error, d.response, iso_ms(coalesce(d.next_attempt_at, d.due_at)) as "nextAttemptAt",
  iso_ms(d.created_at) as "createdAt", iso_ms(d.settled_at) as "settledAt"`
const LOGGED = `
from deliveries d join events e on e.account = d.account and e.sequence = d.sequence
where d.account = $1 and d.endpoint = $2`
const DELIVERY_BY_ID = `select ${DELIVERY} ${LOGGED} and d.id = $3`
const EVENT = `id, type, iso_ms(created_at) as "createdAt", sequence, object_sequence as "objectSequence", test, data`
const EVENTS = `select ${EVENT} from events where account = $1 and sequence > $2 and sequence <= $3 order by sequence limit $4`
const EVENT_BY_ID = `select ${EVENT} from events where account = $1 and id = $2`
const LAST = 'select last from event_heads where account = $1'

/** The unique index speaks where two changes lead to the same address and events. */
const isTwin = (error: unknown): boolean =>
  error instanceof DatabaseRefused && error.constraint === 'webhook_endpoints_account_fingerprint_key'

type EndpointDeps = { pg: Pg; sealer: Sealer }

const sealed = ({ sealer }: EndpointDeps, secret: string, id: string): Buffer => sealer.seal(Buffer.from(secret), id)

const get = async ({ pg }: EndpointDeps, { account, id }: EndpointRef): Promise<EndpointRow | null> =>
  (await pg.query<EndpointRow>('endpoint_get', GET, [account, id])).rows[0] ?? null

const create = async (deps: EndpointDeps, endpoint: NewEndpoint, limit: number) => {
  const { id, account, url, events, secret, at } = endpoint
  const values = [id, account, url, events, fingerprintOf(url, events), sealed(deps, secret, id), limit, at]
  const [made] = (await deps.pg.query<{ id: string; made: boolean }>('endpoint_create', CREATE, values)).rows
  const row = made && (await get(deps, { account, id: made.id }))
  return row ? { row, made: made.made } : null
}

const changeEndpoint = async (
  deps: EndpointDeps,
  { account, id }: EndpointRef,
  change: EndpointChange,
): Promise<EndpointRefusal> => {
  const before = await get(deps, { account, id })
  if (!before) return 'NOT_FOUND'
  const { url = before.url, events = before.events, status = null, at } = change
  const values = [account, id, url, events, fingerprintOf(url, events), status, at]
  try {
    return await deps.pg.tx(async (query) => {
      const { rows } = await query('endpoint_change', CHANGE, values)
      if (rows.length === 0) return 'NOT_FOUND'
      if (status === 'disabled') await query('endpoint_drop_pending', DROP_PENDING, [id, at])
      return null
    })
  } catch (error) {
    if (isTwin(error)) return 'ENDPOINT_EXISTS'
    throw error
  }
}

const secretsOf = async ({ pg, sealer }: EndpointDeps, account: string) => {
  type Row = { id: string; url: string; secret: Buffer; previous: Buffer | null; previousUntil: string | null }
  const open = (secret: Buffer, id: string) => sealer.open(secret, id).toString('utf8')
  const { rows } = await pg.query<Row>('endpoint_secrets', SECRETS, [account])
  return rows.map(({ secret, previous, ...row }) => ({
    ...row,
    secret: open(secret, row.id),
    previous: previous && open(previous, row.id),
  }))
}

const deliveriesOf = async (
  { pg }: EndpointDeps,
  { account, id }: EndpointRef,
  { states, eventId }: DeliveryFilter,
  { limit, offset }: Page,
): Promise<{ rows: DeliveryRow[]; total: number }> => {
  const where = `${LOGGED} and ($3::text[] is null or d.state = any ($3)) and ($4::text is null or e.id = $4)`
  const values = [account, id, states ?? null, eventId ?? null]
  const list = `select ${DELIVERY} ${where} order by d.id desc limit $5 offset $6`
  const [page, count] = await Promise.all([
    pg.query<DeliveryRow>('delivery_list', list, [...values, limit, offset]),
    pg.query<{ total: number }>('delivery_count', `select count(*) as total ${where}`, values),
  ])
  return { rows: page.rows, total: Number(count.rows[0]?.total ?? 0) }
}

/** @param deps.sealer for the purpose `webhook-secret` */
export const makeEndpoints = (deps: EndpointDeps): Endpoints => {
  const { pg } = deps
  return {
    get: (ref) => get(deps, ref),
    list: async (account) => (await pg.query<EndpointRow>('endpoint_list', LIST, [account])).rows,
    create: (endpoint, limit) => create(deps, endpoint, limit),
    change: (ref, change) => changeEndpoint(deps, ref, change),
    remove: async ({ account, id }) => (await pg.query('endpoint_remove', REMOVE, [account, id])).rows.length > 0,
    rotate: async ({ account, id }, secret, { at, until }) =>
      (await pg.query('endpoint_rotate', ROTATE, [account, id, sealed(deps, secret, id), until, at])).rows.length > 0,
    secrets: (account) => secretsOf(deps, account),
    async ping({ account, id }, { id: event, type, data, at }) {
      const values = [account, id, event, type, JSON.stringify(data), at]
      return (await pg.query<{ id: number }>('endpoint_ping', PING, values)).rows[0]?.id ?? 0
    },
    async redeliver({ account, id }, { after, until, all, limit, at }) {
      const values = [account, id, after, until, all, limit, at]
      return (await pg.query<{ id: number; sequence: number }>('endpoint_redeliver', REDELIVER, values)).rows
    },
    deliveries: (ref, filter, page) => deliveriesOf(deps, ref, filter, page),
    delivery: async ({ account, id }, delivery) =>
      (await pg.query<DeliveryRow>('delivery_get', DELIVERY_BY_ID, [account, id, delivery])).rows[0] ?? null,
    events: async (account, { after, until, limit }) =>
      (await pg.query<StoredEvent>('event_list', EVENTS, [account, after, until, limit])).rows,
    event: async (account, id) =>
      (await pg.query<StoredEvent>('event_get', EVENT_BY_ID, [account, id])).rows[0] ?? null,
    last: async (account) =>
      Number((await pg.query<{ last: number }>('event_last', LAST, [account])).rows[0]?.last ?? 0),
  }
}
