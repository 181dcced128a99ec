/** The page of one's webhooks. It does what the routes of api/webhook/routes.ts do, by the same functions, for a browser. */

import type { JsonSchema } from '../../crds/kernel/rest.ts'
import { type EndpointRow, viewEndpoint, WEBHOOKS_PAGE } from '../../crds/webhook/endpoint.ts'
import { viewDelivery } from '../../crds/webhook/log.ts'
import { decidesOnSites } from '../http/caller.ts'
import { goTo, pageAnswer } from '../http/pages.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import type { Route } from '../wiring/route.ts'
import { pingEndpoint, redeliverOne } from './deliveries.ts'
import { ownEndpoint } from './endpoints.ts'
import type { WebhookNeeds } from './needs.ts'
import { webhooksPage } from './page-html.ts'

const SHOWN_MAX = 25
const TROUBLE = 'trouble'
const TROUBLED = ['failed', 'dead', 'refused']

const DONE: Record<string, string> = {
  pinged: 'The ping was sent; its outcome is in the list.',
  queued: 'It is sent again.',
  enabled: 'The endpoint is switched on. What it missed can be sent again.',
}

const shown = async (deps: WebhookNeeds, row: EndpointRow, isTrouble: boolean) => {
  const filter = isTrouble ? { states: TROUBLED } : {}
  const { rows, total } = await deps.endpoints.deliveries(row, filter, { limit: SHOWN_MAX, offset: 0 })
  return { ...viewEndpoint(row), deliveries: rows.map(viewDelivery), total }
}

const showWebhooks = async (deps: WebhookNeeds, { caller, query }: ApiRequest): Promise<Answer> => {
  const isTrouble = query.show === TROUBLE
  const rows = await deps.endpoints.list(caller.account)
  const done = DONE[query.done ?? '']
  const page = webhooksPage({
    email: caller.profile.email,
    isReviewer: decidesOnSites(caller),
    endpoints: await Promise.all(rows.map((row) => shown(deps, row, isTrouble))),
    formToken: deps.keys.formToken(caller.by.id),
    isTrouble,
    ...(done !== undefined && { done }),
  })
  return pageAnswer(200, page)
}

const ping = async (deps: WebhookNeeds, request: ApiRequest): Promise<Answer> => {
  await pingEndpoint(deps, request)
  return goTo(`${WEBHOOKS_PAGE}?done=pinged`)
}

const resend = async (deps: WebhookNeeds, request: ApiRequest): Promise<Answer> => {
  await redeliverOne(deps, request)
  return goTo(`${WEBHOOKS_PAGE}?done=queued`)
}

const enable = async (deps: WebhookNeeds, request: ApiRequest): Promise<Answer> => {
  const endpoint = await ownEndpoint(deps, request)
  await deps.endpoints.change(endpoint, { status: 'enabled', at: deps.now().toISOString() })
  return goTo(`${WEBHOOKS_PAGE}?done=enabled`)
}

const own = { hidden: true, scope: { kind: 'session' } } as const
const query: Record<string, JsonSchema> = {
  done: { type: 'string', description: 'What was done last.', maxLength: 20 },
  show: { type: 'string', description: 'Only what did not succeed.', enum: [TROUBLE] },
}
const one = `${WEBHOOKS_PAGE}/:id`

export const webhooksPageRoutes: Route<WebhookNeeds>[] = [
  { ...own, method: 'GET', path: WEBHOOKS_PAGE, summary: 'Your webhooks', query, handle: showWebhooks },
  { ...own, method: 'POST', path: `${one}/test`, summary: 'Send a ping', handle: ping },
  { ...own, method: 'POST', path: `${one}/enable`, summary: 'Switch an endpoint on', handle: enable },
  {
    ...own,
    method: 'POST',
    path: `${one}/deliveries/:delivery/redeliver`,
    summary: 'Send an event again',
    handle: resend,
  },
]
