/**
 * The delivery log, a ping, sending again, and catching up with what was told (rules/webhook.md#delivery-log,
 * #catching-up).
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { PING, viewEvent } from '../../crds/kernel/event.ts'
import { type DeliveryRow, viewDelivery } from '../../crds/webhook/log.ts'
import { accepted, wantsAsync } from '../command/verdict.ts'
import { Problem } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import { pagedAnswer, pageOf } from '../openapi/paging.ts'
import { ownEndpoint, WEBHOOKS } from './endpoints.ts'
import type { WebhookNeeds } from './needs.ts'

/** Events that one call sends again. */
export const REDELIVER_MAX = 1_000
/** Beyond the limit of one attempt. */
const PING_WAIT_MS = 17_000
const PING_POLL_MS = 50
const EVENT_ID_BYTES = 16

export const listDeliveries = async (deps: WebhookNeeds, request: ApiRequest): Promise<Answer> => {
  const { account, id } = await ownEndpoint(deps, request)
  const { state, event_id: eventId } = request.query
  const page = pageOf(request)
  const filter = { ...(state !== undefined && { states: [state] }), ...(eventId !== undefined && { eventId }) }
  const { rows, total } = await deps.endpoints.deliveries({ account, id }, filter, page)
  return pagedAnswer('deliveries', { items: rows.map(viewDelivery), total }, page)
}

const deliveryOf = async (deps: WebhookNeeds, request: ApiRequest): Promise<DeliveryRow> => {
  const { account, id } = await ownEndpoint(deps, request)
  const delivery = request.params.delivery ?? ''
  const row = /^\d{1,15}$/.test(delivery) ? await deps.endpoints.delivery({ account, id }, Number(delivery)) : null
  if (!row) throw new Problem('NOT_FOUND', `There is no delivery ${delivery} to ${id}.`)
  return row
}

const pathOf = (endpoint: string, delivery: number): string => `${WEBHOOKS}/${endpoint}/deliveries/${delivery}`

export const getDelivery = async (deps: WebhookNeeds, request: ApiRequest): Promise<Answer> => ({
  status: 200,
  body: { delivery: viewDelivery(await deliveryOf(deps, request)) },
})

/** Sends a signed message of no consequence, and says what the receiver made of it. */
export const pingEndpoint = async (deps: WebhookNeeds, request: ApiRequest): Promise<Answer> => {
  const ref = await ownEndpoint(deps, request)
  const event = {
    id: `evt_${randomBytes(EVENT_ID_BYTES).toString('hex')}`,
    type: PING,
    data: { endpoint: { id: ref.id, url: ref.url } },
    at: deps.now().toISOString(),
  }
  const delivery = await deps.endpoints.ping(ref, event)
  const untilMs = performance.now() + (wantsAsync(request) ? 0 : PING_WAIT_MS)
  for (;;) {
    const row = await deps.endpoints.delivery(ref, delivery)
    // it was deleted meanwhile
    if (!row) throw new Problem('NOT_FOUND', `There is no webhook endpoint ${ref.id}.`)
    if (row.state !== 'pending') return { status: 200, body: { delivery: viewDelivery(row) } }
    if (performance.now() >= untilMs || deps.waiter.isLeaving())
      return accepted(pathOf(ref.id, delivery), { delivery: viewDelivery(row) })
    await sleep(PING_POLL_MS)
  }
}

const refuseDisabled = ({
  id,
  disabledAt,
  disabledReason,
}: {
  id: string
  disabledAt: string | null
  disabledReason: string | null
}): void => {
  if (disabledAt !== null) throw new Problem('ENDPOINT_DISABLED', `${id} was switched off: ${disabledReason}.`)
}

/** The same event once more, with a schedule of its own; an attempt that is planned for later begins now in its place. */
export const redeliverOne = async (deps: WebhookNeeds, request: ApiRequest): Promise<Answer> => {
  const endpoint = await ownEndpoint(deps, request)
  const row = await deliveryOf(deps, request)
  refuseDisabled(endpoint)
  const range = { after: row.sequence - 1, until: row.sequence, limit: 1, all: true, at: deps.now().toISOString() }
  const [made] = await deps.endpoints.redeliver(endpoint, range)
  const fresh = made ? await deps.endpoints.delivery(endpoint, made.id) : row
  return accepted(pathOf(endpoint.id, fresh?.id ?? row.id), { delivery: viewDelivery(fresh ?? row) })
}

/** All that an endpoint asks for in a range of sequences, whether it was delivered before or not. */
export const redeliverRange = async (deps: WebhookNeeds, request: ApiRequest): Promise<Answer> => {
  const endpoint = await ownEndpoint(deps, request)
  refuseDisabled(endpoint)
  const { after, until } = request.body as { after: number; until?: number }
  const range = {
    after,
    until: until ?? Number.MAX_SAFE_INTEGER,
    limit: REDELIVER_MAX,
    all: false,
    at: deps.now().toISOString(),
  }
  const made = await deps.endpoints.redeliver(endpoint, range)
  const body = { queued: made.length, last: made.at(-1)?.sequence ?? after, more: made.length === REDELIVER_MAX }
  return accepted(`${WEBHOOKS}/${endpoint.id}/deliveries`, body)
}

/** What was told, in its order: whoever has seen one sequence has seen all before it. */
export const listEvents = async (deps: WebhookNeeds, { caller: { account }, query }: ApiRequest): Promise<Answer> => {
  const after = Number(query.after ?? 0)
  const { limit } = pageOf({ query })
  // before the page, so that nothing is told to be there that the page could not have shown
  const newest = await deps.endpoints.last(account)
  const events = await deps.endpoints.events(account, { after, until: newest, limit })
  return { status: 200, body: { events: events.map(viewEvent), last: events.at(-1)?.sequence ?? after, newest } }
}
