/**
 * "Why did my check fail": a delivery as a receiver got it, held against what was sent
 * (rules/webhook.md#why-a-check-fails).
 */
import { bodyOf } from '../../crds/kernel/event.ts'
import { eventIdsOf } from '../../crds/webhook/received.ts'
import { judge, type Received } from '../../crds/webhook/verify.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import type { WebhookNeeds } from './needs.ts'

/** Looks, and stores nothing. */
export const verifyDelivery = async (
  deps: WebhookNeeds,
  { caller: { account }, body }: ApiRequest,
): Promise<Answer> => {
  const received = body as Received
  const [events, held] = await Promise.all([
    Promise.all(eventIdsOf(received).map((id) => deps.endpoints.event(account, id))),
    deps.endpoints.secrets(account),
  ])
  const event = events.find((one) => one !== null) ?? null
  const endpoints = held.map(({ url, secret, previous, previousUntil }) => ({
    name: url,
    secret,
    previous: previous !== null && previousUntil !== null ? { secret: previous, until: previousUntil } : null,
  }))
  // signatures go by the receivers' clock, not by that of the platform, which a developer can move
  const known = { now: new Date(), event: event && { id: event.id, body: bodyOf(event) }, endpoints }
  return { status: 200, body: { ...judge(received, known) } }
}
