/** The page of one's webhooks: how each endpoint stands, its last deliveries, and forms to ping, to send again, to switch on. */

import { type Html, html } from '../../crds/text/html.ts'
import { WEBHOOKS_PAGE } from '../../crds/webhook/endpoint.ts'
import { accountHeader, accountPage } from '../page/account.ts'
import { fact, instant } from '../page/facts.ts'
import { button, form, notice, visuallyHidden } from '../page/form.ts'

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
  /** Is shown the way to the reviews. */
  isReviewer?: boolean
  endpoints: readonly ShownEndpoint[]
  /** Guards the forms against posts from elsewhere. */
  formToken: string
  /** Only deliveries that did not succeed. */
  isTrouble: boolean
  done?: string
}

const time = (iso: string): Html => instant(iso, { hasSeconds: true })

const STATES: Record<ShownDelivery['state'], { words: string; tone: string }> = {
  pending: { words: 'Waiting', tone: 'hint' },
  delivered: { words: 'Delivered', tone: 'good' },
  failed: { words: 'Failed', tone: 'fault' },
  dead: { words: 'Given up', tone: 'fault' },
  refused: { words: 'Refused by us', tone: 'fault' },
}

type Act = { path: string; words: string; about: string }

const actForm = (formToken: string, { path, words, about }: Act): Html =>
  form({ action: path, formToken }, button({ words, about, tone: 'plain' }))

const outcome = ({ state, status, latency_ms: ms, error, response, next_attempt_at: next }: ShownDelivery): Html => {
  const { words, tone } = STATES[state]
  return html`<span class="${tone}">${words}</span>${status !== null && html`, ${status}`}${ms !== null && html`, ${ms} ms`}
${error !== null && html`<span class="hint">${error}</span>`}
${next !== null && html`<span class="hint">Next attempt ${time(next)}</span>`}
${response !== null && html`<details><summary>Answer${visuallyHidden(' to this attempt')}</summary><pre>${response}</pre></details>`}`
}

const row = (endpoint: ShownEndpoint, delivery: ShownDelivery, formToken: string): Html => {
  const about = `${delivery.type}, attempt ${delivery.attempt} at ${delivery.created_at}`
  const path = `${WEBHOOKS_PAGE}/${endpoint.id}/deliveries/${delivery.id}/redeliver`
  const canResend = delivery.state !== 'pending' && endpoint.status === 'enabled'
  return html`<tr role="row"><th role="rowheader" scope="row">${delivery.type}<span class="hint">No. ${delivery.sequence}, attempt ${delivery.attempt}, ${time(delivery.created_at)}</span>
<span class="hint">${delivery.event_id}</span></th>
<td role="cell">${outcome(delivery)}</td>
<td role="cell">${canResend && actForm(formToken, { path, words: 'Send again', about })}</td></tr>`
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
  return html`<div class="row">${actForm(formToken, { path: `${path}/test`, words: 'Send a ping', about: `to ${url}` })}
${status === 'disabled' && actForm(formToken, { path: `${path}/enable`, words: 'Switch on', about: url })}</div>`
}

const section = (endpoint: ShownEndpoint, { formToken, isTrouble }: WebhooksFacts): Html => {
  const { id, url, events, deliveries, total } = endpoint
  const none = isTrouble ? 'Nothing has failed.' : 'Nothing was delivered yet.'
  return html`<section aria-labelledby="${id}">
<h2 id="${id}">${url}</h2>
${standing(endpoint)}
<dl class="facts">${fact('Told of', events.join(', '))}${fact('Id', id)}</dl>
${acts(endpoint, formToken)}
${
  deliveries.length === 0
    ? html`<p>${none}</p>`
    : html`<table class="log" role="table"><caption class="visually-hidden">Deliveries to ${url}</caption>
<thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">Event</th><th role="columnheader" scope="col">Outcome</th><th role="columnheader" scope="col">${visuallyHidden('Action')}</th></tr></thead>
<tbody role="rowgroup">${deliveries.map((delivery) => row(endpoint, delivery, formToken))}</tbody></table>`
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
  return accountPage({
    title: 'Your webhooks',
    layout: 'wide',
    at: WEBHOOKS_PAGE,
    isReviewer: facts.isReviewer ?? false,
    main: html`${accountHeader('Your webhooks', email, html`<nav aria-label="Deliveries">${filter(isTrouble)}</nav>`)}
${done !== undefined && notice('note', done)}
${endpoints.length === 0 ? html`<p>There is no endpoint yet. POST /api/webhooks makes one.</p>` : endpoints.map((one) => section(one, facts))}
<p class="hint">A delivery that fails is repeated after 1 minute, 10 minutes, 1 hour, 6 hours and 24 hours, then given up. Every repeat carries the same event id.</p>`,
  })
}
