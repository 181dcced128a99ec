/** One attempt of a delivery: to the address that its account chose, signed, and judged by what was answered. */
import { bodyOf, type StoredEvent } from '../../crds/kernel/event.ts'
import { type Answered, NOT_ATTEMPTED, outcomeOf } from '../../crds/webhook/outcome.ts'
import { makeSigner } from '../../crds/webhook/signature.ts'
import { nameOf, StaleEpoch } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { Egress } from '../net/egress.ts'
import { isAway } from '../store/pg/away.ts'
import type { Deliveries, Ended, EndpointAddress, Notice, WebhookDelivery } from '../store/webhook/deliveries.ts'
import type { EndpointQueue } from './endpoint-queues.ts'

/** Over the whole exchange. */
export const DELIVERY_LIMIT_MS = 15_000
export const ANSWER_BYTES_MAX = 65_536
/** A secret that ran out, and an address that was changed, are out of use after this. */
const ADDRESS_FRESH_MS = 30_000
const TEXTS_MAX = 1_000

export type WebhookAttemptDeps = {
  deliveries: Pick<Deliveries, 'address'>
  egress: Egress
  log: Log
  /** The platform's clock: what is due when. */
  now: () => Date
  /** The receivers' clock: what is signed. */
  wall?: () => Date
  random?: () => number
  /** The mail to the owner that follows from an attempt: the last of a delivery, or the end of an endpoint. */
  noticeOf(delivery: WebhookDelivery, address: EndpointAddress, ended: Ended): Notice | null
}

type Signing = NonNullable<EndpointQueue['address']>

/** Gives null when there is nobody to send to any more. @throws where the ledger is away: nothing was attempted */
export type WebhookAttempt = (queue: EndpointQueue, delivery: WebhookDelivery) => Promise<Ended | null>

/** Most events go to several endpoints at about the same time: each is written out once. */
const makeTexts = (): ((event: StoredEvent) => string) => {
  const texts = new Map<string, string>()
  return (event) => {
    const known = texts.get(event.id)
    if (known !== undefined) return known
    const text = bodyOf(event)
    if (texts.size >= TEXTS_MAX) texts.clear()
    texts.set(event.id, text)
    return text
  }
}

/** One for all who wait for it, or they would begin out of their order. */
const lookUp = ({ deliveries }: WebhookAttemptDeps, queue: EndpointQueue, endpoint: string): Promise<void> => {
  queue.lookUp ??= deliveries
    .address(endpoint)
    .then((found) => {
      const freshUntilMs = performance.now() + ADDRESS_FRESH_MS
      queue.address = found && { ...found, sign: makeSigner(found.secrets), freshUntilMs }
    })
    .finally(() => {
      queue.lookUp = null
    })
  return queue.lookUp
}

const addressOf = async (
  deps: WebhookAttemptDeps,
  queue: EndpointQueue,
  { endpoint, version }: WebhookDelivery,
): Promise<EndpointQueue['address']> => {
  const isOld = () => queue.address !== null && queue.address.version < version
  const isStale = queue.address === null || isOld() || queue.address.freshUntilMs <= performance.now()
  if (isStale) await lookUp(deps, queue, endpoint)
  // one that was under way already may have seen what was there before
  if (isOld()) await lookUp(deps, queue, endpoint)
  return queue.address
}

/** What could not even be attempted counts as an attempt, or it would be taken again for ever. @throws where a part is away */
const notAttempted = ({ log }: WebhookAttemptDeps, { endpoint, event }: WebhookDelivery, error: unknown): Answered => {
  if (isAway(error) || error instanceof StaleEpoch) throw error
  log.warn({ err: error, endpoint, event: event.id }, 'a delivery could not be attempted')
  const nothing = { status: null, body: new Uint8Array(), latencyMs: 0 }
  return { ok: false, fault: NOT_ATTEMPTED, detail: `the service itself failed (${nameOf(error)})`, ...nothing }
}

/** @returns a function that makes one attempt */
export const makeWebhookAttempt = (deps: WebhookAttemptDeps): WebhookAttempt => {
  const { egress, wall = () => new Date(), random = Math.random } = deps
  const textOf = makeTexts()
  const exchange = async (address: Signing, { event }: WebhookDelivery): Promise<Answered> => {
    const body = textOf(event)
    const headers = { 'content-type': 'application/json', ...address.sign({ id: event.id, body, at: wall() }) }
    const limits = { limitMs: DELIVERY_LIMIT_MS, bytesMax: ANSWER_BYTES_MAX }
    return egress.exchange({ method: 'POST', url: address.url, headers, body, ...limits })
  }
  return async (queue, delivery) => {
    const resultOf = (answer: Answered): Ended => {
      const outcome = outcomeOf(answer, delivery, { now: deps.now(), random: random() })
      return { id: delivery.id, begun: delivery.begun, ...outcome }
    }
    try {
      const address = await addressOf(deps, queue, delivery)
      if (!address) return null
      const result = resultOf(await exchange(address, delivery))
      const mail = deps.noticeOf(delivery, address, result)
      return mail ? { ...result, mail } : result
    } catch (error) {
      return resultOf(notAttempted(deps, delivery, error))
    }
  }
}
