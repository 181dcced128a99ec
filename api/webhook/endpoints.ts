/** Endpoints: made, shown, changed, given a new secret, taken away (rules/webhook.md#endpoints). */
import { randomBytes } from 'node:crypto'
import { limitOf } from '../../crds/account/quotas.ts'
import { type EndpointRow, eventsOf, ROTATION_MS, urlFaults, viewEndpoint } from '../../crds/webhook/endpoint.ts'
import { SECRET_BYTES, secretOf } from '../../crds/webhook/signature.ts'
import { nameFor } from '../command/name.ts'
import { accountRow } from '../command/own.ts'
import { Problem, refuseFaults } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import type { WebhookNeeds } from './needs.ts'

export const WEBHOOKS = '/api/webhooks'
const ALL_EVENTS = ['*']

const NO_STORE = { 'cache-control': 'private, no-store' }

/**
 * A secret for what a request makes. Under one Idempotency-Key it is the same each time: whoever asks again after a crash is
 * shown what signs, and makes no second one.
 */
const secretFor = ({ keys }: WebhookNeeds, { caller, idempotencyKey }: ApiRequest, what: string): string => {
  if (idempotencyKey === undefined) return secretOf(randomBytes(SECRET_BYTES))
  return secretOf(keys.drawn(`webhook secret of ${caller.account} ${what} ${idempotencyKey}`).subarray(0, SECRET_BYTES))
}

/** Whether it signs with this secret now. */
const signsWith = async ({ endpoints }: WebhookNeeds, { account, id }: EndpointRow, secret: string): Promise<boolean> =>
  (await endpoints.secrets(account)).some((one) => one.id === id && one.secret === secret)

/** The caller's endpoint. Another account's is not there at all. */
export const ownEndpoint = async (deps: WebhookNeeds, { caller, params }: ApiRequest): Promise<EndpointRow> => {
  const id = params.id ?? ''
  const row = await deps.endpoints.get({ account: caller.account, id })
  if (!row) throw new Problem('NOT_FOUND', `There is no webhook endpoint ${id}.`)
  return row
}

/** The address in its one form. @throws Problem BAD_URL, also where the name leads to what is not public */
const reachable = async ({ egress, allowLoopback }: WebhookNeeds, text: string): Promise<string> => {
  refuseFaults(urlFaults(text, { allowLoopback }))
  const { href } = new URL(text)
  const fault = await egress.judge(href)
  if (fault !== null) refuseFaults([{ code: 'BAD_URL', pointer: '/url', detail: fault }])
  return href
}

export const createEndpoint = async (deps: WebhookNeeds, request: ApiRequest): Promise<Answer> => {
  const { account } = request.caller
  const body = request.body as { url: string; events?: string[] }
  const events = eventsOf(body.events ?? ALL_EVENTS)
  const url = await reachable(deps, body.url)
  const id = nameFor('whk', request)
  const secret = secretFor(deps, request, id)
  const owner = (await accountRow(deps, request.caller))?.view ?? request.caller.profile
  const limit = limitOf('webhook_endpoints', owner)
  const created = await deps.endpoints.create({ id, account, url, events, secret, at: deps.now().toISOString() }, limit)
  if (!created) throw new Problem('ENDPOINT_LIMIT', `The account has ${limit} webhook endpoints, which is the most.`)
  const { row, made } = created
  const endpoint = viewEndpoint(row)
  // made by this very request, whose answer nobody has seen
  const isRepeat = row.id === id && (await signsWith(deps, row, secret))
  if (!made && !isRepeat) return { status: 200, body: { endpoint } }
  return { status: 201, headers: { location: `${WEBHOOKS}/${row.id}`, ...NO_STORE }, body: { endpoint, secret } }
}

export const listEndpoints = async (deps: WebhookNeeds, { caller }: ApiRequest): Promise<Answer> => {
  const endpoints = (await deps.endpoints.list(caller.account)).map(viewEndpoint)
  return { status: 200, body: { endpoints, total: endpoints.length } }
}

export const getEndpoint = async (deps: WebhookNeeds, request: ApiRequest): Promise<Answer> => ({
  status: 200,
  body: { endpoint: viewEndpoint(await ownEndpoint(deps, request)) },
})

export const patchEndpoint = async (deps: WebhookNeeds, request: ApiRequest): Promise<Answer> => {
  const { account, id } = await ownEndpoint(deps, request)
  const { url, events, status } = request.body as { url?: string; events?: string[]; status?: 'enabled' | 'disabled' }
  const change = {
    ...(events !== undefined && { events: eventsOf(events) }),
    ...(url !== undefined && { url: await reachable(deps, url) }),
    ...(status !== undefined && { status }),
    at: deps.now().toISOString(),
  }
  const refusal = await deps.endpoints.change({ account, id }, change)
  if (refusal === 'NOT_FOUND') throw new Problem('NOT_FOUND', `There is no webhook endpoint ${id}.`)
  if (refusal !== null)
    throw new Problem(refusal, 'Another endpoint of this account is told the same at the same address.')
  return getEndpoint(deps, request)
}

export const deleteEndpoint = async (deps: WebhookNeeds, request: ApiRequest): Promise<Answer> => {
  const { account, id } = await ownEndpoint(deps, request)
  await deps.endpoints.remove({ account, id })
  return { status: 204 }
}

/**
 * Both secrets sign for a day, so that no receiver has to be changed at one instant. A repeat changes it no further: what
 * receivers have would sign no more.
 */
export const rotateSecret = async (deps: WebhookNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await ownEndpoint(deps, request)
  const { account, id } = row
  const secret = secretFor(deps, request, `${id} anew`)
  const now = deps.now()
  const until = new Date(now.getTime() + ROTATION_MS).toISOString()
  if (!(await signsWith(deps, row, secret))) {
    await deps.endpoints.rotate({ account, id }, secret, { at: now.toISOString(), until })
  }
  const endpoint = viewEndpoint(await ownEndpoint(deps, request))
  return { status: 200, headers: NO_STORE, body: { endpoint, secret } }
}
