/**
 * The webhook sender's queues: what waits in memory for each endpoint, and how many attempts it may have under way. No
 * endpoint takes the concurrency of another (rules/webhook.md#fairness).
 */
import type { Signer } from '../../crds/webhook/signature.ts'
import type { Ended, EndpointAddress, Released, WebhookDelivery } from '../store/webhook/deliveries.ts'

/** Attempts under way at one endpoint that takes what it is sent; one that does not is tried one at a time. */
export const CONCURRENCY_MAX = 16
const CONCURRENCY_FIRST = 4
/** Deliveries in memory for each concurrent attempt, under way or next, so that no attempt waits for the ledger. */
const HELD_PER_ATTEMPT = 2
/** The same for one that answers within SWIFT_MS. */
const HELD_PER_SWIFT_ATTEMPT = 8
const SWIFT_MS = 200
/** In memory over all endpoints. */
const HELD_MAX = 4_096

export type EndpointQueue = {
  waiting: (WebhookDelivery & { untilMs: number })[]
  underWay: number
  concurrency: number
  isSwift: boolean
  /** Whether the last that it was given was a repeat. */
  wasRepeat: boolean
  address: (EndpointAddress & { sign: Signer; freshUntilMs: number }) | null
  lookUp: Promise<void> | null
}

const newQueue = (): EndpointQueue => ({
  ...{ waiting: [], underWay: 0, concurrency: CONCURRENCY_FIRST },
  ...{ isSwift: false, wasRepeat: false, address: null, lookUp: null },
})

const mayHold = ({ concurrency, isSwift }: EndpointQueue): number =>
  concurrency === 1 ? 1 : concurrency * (isSwift ? HELD_PER_SWIFT_ATTEMPT : HELD_PER_ATTEMPT)

const roomOf = (queue: EndpointQueue): number => mayHold(queue) - queue.underWay - queue.waiting.length

/** What is asked of the ledger: of whom how many first attempts, and of whom one repeat. */
export type WantedDeliveries = { firsts: ReadonlyMap<string, number>; agains: readonly string[] }

export type EndpointQueues = {
  of(endpoint: string): EndpointQueue
  /** What is in memory, over all endpoints. */
  held(): number
  /** It may have first attempts, or repeats, waiting in the ledger. */
  awaits(endpoint: string, again: boolean): void
  awaitsRepeats(): boolean
  /** @param repeats over all endpoints, at most */
  wanted(repeats: number): WantedDeliveries
  /** What the ledger gave for it: who gave less than there was room for has no more. @param untilMs of their lease */
  takeIn(rows: readonly WebhookDelivery[], wanted: WantedDeliveries, untilMs: number): void
  /** The next that may be begun at this endpoint now; it is under way from here on. */
  next(queue: EndpointQueue, nowMs: number): WebhookDelivery | undefined
  /** One that was under way has ended. */
  over(queue: EndpointQueue): void
  /** What its last attempt says of an endpoint. @returns what was to follow, when it is not trusted with that any more */
  recordOutcome(queue: EndpointQueue, ended: Ended): Released[]
  /** Soon it would wait for the ledger. One that is tried one at a time is in no hurry. */
  isHungry(queue: EndpointQueue): boolean
  /** Forgets who has nothing to do. */
  tidy(): void
  /** Forgets all that is not under way; its lease is free for whoever leads next. */
  clear(): void
}

/** To the end of the line, or out of it. */
const requeue = (line: Set<string>, endpoint: string, stays: boolean): void => {
  line.delete(endpoint)
  if (stays) line.add(endpoint)
}

type State = {
  queues: Map<string, EndpointQueue>
  firsts: Set<string>
  agains: Set<string>
  /** Endpoints that got deliveries since the ledger was last asked: its answer may be from before that. */
  news: Set<string>
  held: number
}

const queueOf = ({ queues }: State, endpoint: string): EndpointQueue => {
  const known = queues.get(endpoint)
  if (known) return known
  const queue = newQueue()
  queues.set(endpoint, queue)
  return queue
}

const drop = (state: State, queue: EndpointQueue): WebhookDelivery[] => {
  state.held -= queue.waiting.length
  return queue.waiting.splice(0)
}

/** Where one attempt at a time serves both, they take turns: repeats of one that fails would never come to an end else. */
const isRepeatsTurn = (state: State, endpoint: string): boolean => {
  const queue = queueOf(state, endpoint)
  return roomOf(queue) > 1 || (roomOf(queue) === 1 && !(queue.wasRepeat && state.firsts.has(endpoint)))
}

const chosenRepeats = (state: State, most: number): string[] => {
  const chosen: string[] = []
  for (const endpoint of state.agains) {
    if (chosen.length >= most) break
    if (isRepeatsTurn(state, endpoint)) chosen.push(endpoint)
  }
  return chosen
}

const wantedNow = (state: State, repeats: number): WantedDeliveries => {
  state.news.clear()
  const chosen = chosenRepeats(state, Math.min(repeats, HELD_MAX - state.held))
  const taken = new Set(chosen)
  let left = HELD_MAX - state.held - chosen.length
  const rooms = new Map<string, number>()
  for (const endpoint of state.firsts) {
    const room = Math.min(roomOf(queueOf(state, endpoint)) - (taken.has(endpoint) ? 1 : 0), left)
    if (room <= 0) continue
    rooms.set(endpoint, room)
    left -= room
  }
  return { firsts: rooms, agains: chosen }
}

const put = (state: State, delivery: EndpointQueue['waiting'][number]): void => {
  const queue = queueOf(state, delivery.endpoint)
  if (delivery.isFailing && queue.address === null) queue.concurrency = 1
  queue.wasRepeat = delivery.attempt > 1
  queue.waiting.push(delivery)
  state.held += 1
}

const takeIn = (
  state: State,
  rows: readonly WebhookDelivery[],
  { wanted, untilMs }: { wanted: WantedDeliveries; untilMs: number },
): void => {
  const { firsts, agains, news } = state
  const came = new Map<string, number>()
  const cameAgain = new Set<string>()
  for (const delivery of rows) {
    const { endpoint, attempt } = delivery
    if (attempt > 1) cameAgain.add(endpoint)
    else came.set(endpoint, (came.get(endpoint) ?? 0) + 1)
    put(state, { ...delivery, untilMs })
  }
  for (const [endpoint, room] of wanted.firsts) {
    requeue(firsts, endpoint, came.get(endpoint) === room || news.has(endpoint))
  }
  for (const endpoint of wanted.agains) {
    requeue(agains, endpoint, cameAgain.has(endpoint) || news.has(endpoint))
  }
}

const nextOf = (state: State, queue: EndpointQueue, nowMs: number): WebhookDelivery | undefined => {
  while (queue.underWay < queue.concurrency) {
    const delivery = queue.waiting.shift()
    if (!delivery) return undefined
    queue.underWay += 1
    if (delivery.untilMs > nowMs) return delivery
    // somebody else may have it by now
    queue.underWay -= 1
    state.held -= 1
    state.firsts.add(delivery.endpoint)
    state.agains.add(delivery.endpoint)
  }
  return undefined
}

const recordOutcome = (state: State, queue: EndpointQueue, { state: how, gone, latencyMs }: Ended): Released[] => {
  queue.isSwift = latencyMs <= SWIFT_MS
  queue.concurrency = how === 'delivered' ? Math.min(queue.concurrency * 2, CONCURRENCY_MAX) : 1
  if (queue.concurrency > 1) return []
  const dropped = drop(state, queue)
  if (gone !== undefined) return []
  for (const { endpoint, attempt } of dropped) (attempt > 1 ? state.agains : state.firsts).add(endpoint)
  return dropped.map(({ id, begun }) => ({ id, begun }))
}

const tidy = ({ queues, firsts, agains }: State): void => {
  for (const [endpoint, { underWay, waiting }] of queues) {
    const isIdle = underWay === 0 && waiting.length === 0 && !firsts.has(endpoint) && !agains.has(endpoint)
    if (isIdle) queues.delete(endpoint)
  }
}

export const makeEndpointQueues = (): EndpointQueues => {
  const state: State = { queues: new Map(), firsts: new Set(), agains: new Set(), news: new Set(), held: 0 }
  const { queues, firsts, agains, news } = state
  return {
    of: (endpoint) => queueOf(state, endpoint),
    held: () => state.held,
    awaits: (endpoint, again) => {
      const line = again ? agains : firsts
      line.add(endpoint)
      news.add(endpoint)
    },
    awaitsRepeats: () => agains.size > 0,
    wanted: (repeats) => wantedNow(state, repeats),
    takeIn: (rows, wanted, untilMs) => takeIn(state, rows, { wanted, untilMs }),
    next: (queue, nowMs) => nextOf(state, queue, nowMs),
    over: (queue) => {
      queue.underWay -= 1
      state.held -= 1
    },
    recordOutcome: (queue, ended) => recordOutcome(state, queue, ended),
    isHungry: (queue) => queue.concurrency > 1 && queue.waiting.length < mayHold(queue) / 4,
    tidy: () => tidy(state),
    clear: () => {
      for (const queue of queues.values()) drop(state, queue)
      firsts.clear()
      agains.clear()
    },
  }
}
