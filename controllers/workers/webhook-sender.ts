/**
 * The webhook sender fans stored events out to the endpoints that want them, and delivers each, signed, to the address that
 * the account chose. Each endpoint has a queue and a concurrency of its own, so that a hanging one costs the others nothing;
 * a rate limits repeats, so that a thousand endpoints that come back are not overrun (rules/webhook.md#fairness).
 */
import { bodyOf, type StoredEvent } from '../../crds/kernel/event.ts'
import { outcomeOf } from '../../crds/webhook/outcome.ts'
import { makeSigner } from '../../crds/webhook/signature.ts'
import type { Log } from '../base/log.ts'
import type { Egress } from '../net/egress.ts'
import {
  type Deliveries,
  type Ended,
  type EndpointAddress,
  type Notice,
  type Released,
  SPREAD_MAX,
  type WebhookDelivery,
} from '../store/webhook/deliveries.ts'
import { type EndpointQueue, makeEndpointQueues } from './endpoint-queues.ts'

/** Over the whole exchange. */
export const DELIVERY_LIMIT_MS = 15_000
export const ANSWER_BYTES_MAX = 65_536
/** Repeats over all endpoints. */
export const REPEATS_PER_SECOND_MAX = 200
export const REPEATS_AT_ONCE = 20
const REPEATS_POLL_MS = 50
/** What waits in memory for longer is not begun any more. */
const LEASE_MS = 60_000
/** Of the lease: an attempt that is begun has ended, and is recorded, before it runs out. */
const HELD_MS = LEASE_MS - 2 * DELIVERY_LIMIT_MS
/** Outcomes wait so long for others, to share their commit; one that is alone waits for nobody. */
const GATHER_MS = 25
/**
 * How often it asks for new events: one probe of an index. A notification for each commit would make commits wait for one
 * another, those that give numbers too.
 */
const EVENTS_POLL_MS = 100
/** One commit fans out the events of about the same time. */
const EVENTS_GATHER_MS = 40
/** How often it asks for deliveries that have become due. */
const DUE_POLL_MS = 1_000
const BACKOFF_MS = 500
/** A secret that ran out, and an address that was changed, are out of use after this. */
const ADDRESS_FRESH_MS = 30_000
const TEXTS_MAX = 1_000

export type WebhookSenderDeps = {
  deliveries: Deliveries
  egress: Egress
  /** The platform's clock: what is due when. */
  now: () => Date
  /** The receivers' clock: what is signed. */
  wall?: () => Date
  random?: () => number
  /** The mail to the owner that follows from an attempt: the last of a delivery, or the end of an endpoint. */
  noticeOf(delivery: WebhookDelivery, address: EndpointAddress, ended: Ended): Notice | null
  log: Log
  onAttempt?(state: Ended['state']): void
}

export type WebhookSender = {
  /** A new event may be stored. */
  wake(): void
  /** A delivery was queued for this endpoint. */
  queued(endpoint: string): void
  /** Takes nothing more, waits for what is under way and records it. */
  stop(): Promise<void>
}

/** So many a second, so many at once. */
const makeBucket = (perSecond: number, most: number, nowMs: () => number) => {
  let [left, atMs] = [most, nowMs()]
  return {
    /** How many may go now. */
    level: (): number => {
      const passedMs = nowMs() - atMs
      atMs += passedMs
      left = Math.min(most, left + (passedMs / 1000) * perSecond)
      return Math.floor(left)
    },
    take: (count: number): void => {
      left -= count
    },
  }
}

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

/** Starts at once. */
export const startWebhookSender = (deps: WebhookSenderDeps): WebhookSender => {
  const { deliveries, egress, log, wall = () => new Date(), random = Math.random } = deps
  const nowMs = () => performance.now()
  const queues = makeEndpointQueues()
  const textOf = makeTexts()
  const bucket = makeBucket(REPEATS_PER_SECOND_MAX, REPEATS_AT_ONCE, nowMs)
  let ended: Ended[] = []
  let released: Released[] = []
  let stopping = false
  let spreading: Promise<void> | null = null
  let wakeUp = () => {}
  /** When each is to be done next. */
  const at = { due: 0, spread: 0, turn: Number.POSITIVE_INFINITY }
  const plan = (what: keyof typeof at, inMs: number): void => {
    const then = nowMs() + inMs
    if (then >= at[what]) return
    at[what] = then
    wakeUp()
  }

  /** One for all who wait for it, or they would begin out of their order. */
  const lookUp = (queue: EndpointQueue, endpoint: string): Promise<void> => {
    queue.lookUp ??= deliveries
      .address(endpoint)
      .then((found) => {
        queue.address = found && { ...found, sign: makeSigner(found.secrets), freshUntilMs: nowMs() + ADDRESS_FRESH_MS }
      })
      .finally(() => {
        queue.lookUp = null
      })
    return queue.lookUp
  }

  const addressOf = async (
    queue: EndpointQueue,
    { endpoint, version }: WebhookDelivery,
  ): Promise<EndpointQueue['address']> => {
    const isOld = () => queue.address !== null && queue.address.version < version
    if (queue.address === null || isOld() || queue.address.freshUntilMs <= nowMs()) await lookUp(queue, endpoint)
    // one that was under way already may have seen what was there before
    if (isOld()) await lookUp(queue, endpoint)
    return queue.address
  }

  /** One attempt; null when there is nobody to send to any more. */
  const attempt = async (queue: EndpointQueue, delivery: WebhookDelivery): Promise<Ended | null> => {
    const address = await addressOf(queue, delivery)
    if (!address) return null
    const { event } = delivery
    const body = textOf(event)
    const headers = { 'content-type': 'application/json', ...address.sign({ id: event.id, body, at: wall() }) }
    const limits = { limitMs: DELIVERY_LIMIT_MS, bytesMax: ANSWER_BYTES_MAX }
    const answer = await egress.exchange({ method: 'POST', url: address.url, headers, body, ...limits })
    const outcome = outcomeOf(answer, delivery, { now: deps.now(), random: random() })
    const result: Ended = { id: delivery.id, begun: delivery.begun, ...outcome }
    const mail = deps.noticeOf(delivery, address, result)
    return mail ? { ...result, mail } : result
  }

  const run = async (queue: EndpointQueue, delivery: WebhookDelivery): Promise<void> => {
    try {
      const result = await attempt(queue, delivery)
      if (result) {
        ended.push(result)
        released.push(...queues.recordOutcome(queue, result))
        deps.onAttempt?.(result.state)
      }
    } catch (error) {
      // its lease runs out, and it is taken again
      log.warn({ err: error, endpoint: delivery.endpoint, event: delivery.event.id }, 'a delivery was not attempted')
    } finally {
      queues.over(queue)
      start(queue)
      plan('turn', stopping || queues.held() === 0 || queues.isHungry(queue) ? 0 : GATHER_MS)
    }
  }

  const start = (queue: EndpointQueue): void => {
    for (let next = queues.next(queue, nowMs()); next; next = queues.next(queue, nowMs())) void run(queue, next)
  }

  const spread = async (): Promise<void> => {
    const { spread: count, endpoints } = await deliveries.spread()
    for (const endpoint of endpoints) queues.awaits(endpoint, false)
    if (endpoints.length > 0) plan('turn', 0)
    plan('spread', count >= SPREAD_MAX ? 0 : EVENTS_POLL_MS)
  }

  const turn = async (): Promise<void> => {
    const wanted = stopping ? { firsts: new Map<string, number>(), agains: [] } : queues.wanted(bucket.level())
    const [results, freed] = [ended, released]
    if (wanted.firsts.size + wanted.agains.length + results.length + freed.length === 0) return
    ended = []
    released = []
    try {
      const untilMs = nowMs() + HELD_MS
      const rows = await deliveries.turn(results, { ...wanted, released: freed, leaseMs: LEASE_MS })
      bucket.take(rows.filter(({ attempt: nth }) => nth > 1).length)
      // who stopped meanwhile begins nothing any more
      if (stopping) return
      queues.takeIn(rows, wanted, untilMs)
      for (const endpoint of new Set(rows.map((row) => row.endpoint))) start(queues.of(endpoint))
    } catch (error) {
      ended = [...results, ...ended]
      released = [...freed, ...released]
      throw error
    }
  }

  const due = async (): Promise<void> => {
    for (const { endpoint, again } of await deliveries.due()) queues.awaits(endpoint, again)
    queues.tidy()
    plan('turn', 0)
    plan('due', DUE_POLL_MS)
  }

  /** Does it if its time has come; tries again later when the ledger is away. */
  const perform = async (what: keyof typeof at, work: () => Promise<void>): Promise<void> => {
    if (nowMs() < at[what]) return
    at[what] = Number.POSITIVE_INFINITY
    try {
      await work()
    } catch (error) {
      log.warn({ err: error }, 'the webhook sender cannot reach the ledger')
      if (stopping && queues.held() === 0) ended = []
      plan(what, BACKOFF_MS)
    }
  }

  const sleep = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      wakeUp = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  /** Beside the turns: a long one holds up no attempt. */
  const spreadAside = (): void => {
    if (spreading || nowMs() < at.spread) return
    spreading = perform('spread', spread).finally(() => {
      spreading = null
      wakeUp()
    })
  }

  /** @returns when there is something to do next */
  const round = async (): Promise<number> => {
    if (stopping) {
      await perform('turn', turn)
      return at.turn
    }
    await perform('due', due)
    spreadAside()
    await perform('turn', turn)
    if (queues.awaitsRepeats()) plan('turn', REPEATS_POLL_MS)
    return Math.min(at.due, at.turn, spreading ? at.due : at.spread)
  }

  const loop = async (): Promise<void> => {
    while (!stopping || queues.held() > 0 || ended.length > 0) {
      const waitMs = Math.min((await round()) - nowMs(), DUE_POLL_MS)
      if (waitMs > 0) await sleep(waitMs)
    }
    await spreading
  }
  const looping = loop()
  return {
    wake: () => plan('spread', EVENTS_GATHER_MS),
    queued: (endpoint) => {
      queues.awaits(endpoint, false)
      // what was planned for later begins as the repeat that it is
      queues.awaits(endpoint, true)
      plan('turn', 0)
    },
    stop: async () => {
      stopping = true
      queues.clear()
      plan('turn', 0)
      wakeUp()
      await looping
    },
  }
}
