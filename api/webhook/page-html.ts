/** The page of one's webhooks: how each endpoint stands, its last deliveries, and forms to ping, to send again, to switch on. */

import { type Html, html, safeUrl } from '../../crds/text/html.ts'
import { WEBHOOKS_PAGE } from '../../crds/webhook/endpoint.ts'
import { accountPage } from '../page/frame.ts'

/** Instants are ISO in UTC. */
export type ShownDelivery = {
  id: string
  event_id: string
  type: string
  sequence: number
  attempt: number
  state: 'pending' | 'delivered' | 'failed' | 'dead' | 'refused'
  status: number | null
  latency_ms: number | null
  error: string | null
  response: string | null
  next_attempt_at: string | null
  created_at: string
}
export type ShownEndpoint = {
  id: string
  url: string
  events: readonly string[]
  status: 'enabled' | 'disabled'
  disabled_reason: string | null
  failing_since: string | null
  last_error: string | null
  deliveries: readonly ShownDelivery[]
  total: number
}
export type WebhooksFacts = {
  email: string
  endpoints: readonly ShownEndpoint[]
  /** Guards the forms against posts from elsewhere. */
  formToken: string
  /** Only deliveries that did not succeed. */
  isTrouble: boolean
  done?: string
}

const time = (iso: string): Html => html`<time datetime="${iso}">${iso.slice(0, 19).replace('T', ' ')} UTC</time>`
const fact = (name: string, value: Html): Html => html`<div><dt>${name}</dt><dd>${value}</dd></div>`

const STATES: Record<ShownDelivery['state'], { words: string; tone: string }> = {
  pending: { words: 'Waiting', tone: 'hint' },
  delivered: { words: 'Delivered', tone: 'good' },
  failed: { words: 'Failed', tone: 'fault' },
  dead: { words: 'Given up', tone: 'fault' },
  refused: { words: 'Refused by us', tone: 'fault' },
}

type Act = { path: string; words: string; about: string }

const button = (formToken: string, { path, words, about }: Act): Html =>
  html`<form method="post" action="${safeUrl(path)}"><input type="hidden" name="form_token" value="${formToken}">
<button class="plain" type="submit">${words}<span class="for"> ${about}</span></button></form>`

const outcome = ({ state, status, latency_ms: ms, error, response, next_attempt_at: next }: ShownDelivery): Html => {
  const { words, tone } = STATES[state]
  return html`<span class="${tone}">${words}</span>${status !== null && html`, ${status}`}${ms !== null && html`, ${ms} ms`}
${error !== null && html`<span class="hint">${error}</span>`}
${next !== null && html`<span class="hint">Next attempt ${time(next)}</span>`}
${response !== null && html`<details><summary>Answer<span class="for"> to this attempt</span></summary><pre>${response}</pre></details>`}`
}

const row = (endpoint: ShownEndpoint, delivery: ShownDelivery, formToken: string): Html => {
  const about = `${delivery.type}, attempt ${delivery.attempt} at ${delivery.created_at}`
  const path = `${WEBHOOKS_PAGE}/${endpoint.id}/deliveries/${delivery.id}/redeliver`
  const canResend = delivery.state !== 'pending' && endpoint.status === 'enabled'
  return html`<tr><th scope="row">${delivery.type}<span class="hint">No. ${delivery.sequence}, attempt ${delivery.attempt}, ${time(delivery.created_at)}</span>
<span class="hint">${delivery.event_id}</span></th>
<td>${outcome(delivery)}</td>
<td>${canResend && button(formToken, { path, words: 'Send again', about })}</td></tr>`
}

const standing = ({
  status,
  disabled_reason: reason,
  failing_since: since,
  last_error: error,
}: ShownEndpoint): Html => {
  if (status === 'disabled') return html`<p class="fault">Switched off: ${reason ?? 'by its owner'}.</p>`
  if (since === null) return html`<p class="good">Takes what it is sent.</p>`
  return html`<p class="fault">No delivery has succeeded since ${time(since)}: ${error ?? 'no answer'}.</p>`
}

const acts = ({ id, url, status }: ShownEndpoint, formToken: string): Html => {
  const path = `${WEBHOOKS_PAGE}/${id}`
  return html`<div class="acts">${button(formToken, { path: `${path}/test`, words: 'Send a ping', about: `to ${url}` })}
${status === 'disabled' && button(formToken, { path: `${path}/enable`, words: 'Switch on', about: url })}</div>`
}

const section = (endpoint: ShownEndpoint, { formToken, isTrouble }: WebhooksFacts): Html => {
  const { id, url, events, deliveries, total } = endpoint
  const none = isTrouble ? 'Nothing has failed.' : 'Nothing was delivered yet.'
  return html`<section aria-labelledby="${id}">
<h2 id="${id}" class="address">${url}</h2>
${standing(endpoint)}
<dl class="facts">${fact('Told of', html`${events.join(', ')}`)}${fact('Id', html`${id}`)}</dl>
${acts(endpoint, formToken)}
${
  deliveries.length === 0
    ? html`<p>${none}</p>`
    : html`<div class="scroll" role="region" aria-label="Deliveries to ${url}" tabindex="0"><table class="log"><caption class="for">Deliveries to ${url}</caption>
<thead><tr><th scope="col">Event</th><th scope="col">Outcome</th><th scope="col"><span class="for">Action</span></th></tr></thead>
<tbody>${deliveries.map((delivery) => row(endpoint, delivery, formToken))}</tbody></table></div>`
}
${total > deliveries.length && html`<p class="hint">${deliveries.length} of ${total} are shown, the newest first. GET /api/webhooks/${id}/deliveries has all.</p>`}
</section>`
}

const filter = (isTrouble: boolean): Html =>
  isTrouble
    ? html`<a href="${WEBHOOKS_PAGE}">All deliveries</a>`
    : html`<a href="${WEBHOOKS_PAGE}?show=trouble">Only what did not succeed</a>`

export const webhooksPage = (facts: WebhooksFacts): string => {
  const { email, endpoints, isTrouble, done } = facts
  return accountPage(
    'Your webhooks',
    html`<main class="wide">
<header><div><h1>Your webhooks</h1><p>Signed in as ${email}</p></div><nav aria-label="Deliveries">${filter(isTrouble)}</nav></header>
${done !== undefined && html`<p class="note" role="status">${done}</p>`}
${endpoints.length === 0 ? html`<p>There is no endpoint yet. POST /api/webhooks makes one.</p>` : endpoints.map((one) => section(one, facts))}
<p class="hint">A delivery that fails is repeated after 1 minute, 10 minutes, 1 hour, 6 hours and 24 hours, then given up. Every repeat carries the same event id.</p>
</main>`,
  )
}
