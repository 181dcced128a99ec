/**
 * The webhook sender fans stored events out to the endpoints that want them, and delivers each, signed, to the address that
 * the account chose. Each endpoint has a queue and a concurrency of its own, so that a hanging one costs the others nothing;
 * a rate limits repeats, so that a thousand endpoints that come back are not overrun (rules/webhook.md#fairness).
 */
import { NOT_RECORDED } from '../../crds/webhook/outcome.ts'
import { isItemFault } from '../store/pg/pg.ts'
import {
  type Deliveries,
  type DeliveryTurn,
  type Ended,
  type Released,
  SPREAD_MAX,
  type WebhookDelivery,
} from '../store/webhook/deliveries.ts'
import { type EndpointQueue, makeEndpointQueues } from './endpoint-queues.ts'
import {
  DELIVERY_LIMIT_MS,
  makeWebhookAttempt,
  type WebhookAttempt,
  type WebhookAttemptDeps,
} from './webhook-attempt.ts'

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
/** Where the last look found so many, a wake is left to the next poll: more looks would be more commits, and hardly sooner. */
const EVENTS_CROWD = 3
/** How often it asks for deliveries that have become due. */
const DUE_POLL_MS = 1_000
const BACKOFF_MS = 500

export type WebhookSenderDeps = WebhookAttemptDeps & {
  deliveries: Deliveries
  /** Whether a repeat may be due by our clock; always when left out. */
  mayRepeat?: () => boolean
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

const nowMs = () => performance.now()

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

type Work = 'due' | 'spread' | 'turn'

/** When each work is to be done next, by the clock of the process. */
const makeTimetable = () => {
  const at: Record<Work, number> = { due: 0, spread: 0, turn: Number.POSITIVE_INFINITY }
  let wakeUp = () => {}
  return {
    at,
    /** In so long at the latest. */
    plan: (work: Work, inMs: number): void => {
      const then = nowMs() + inMs
      if (then >= at[work]) return
      at[work] = then
      wakeUp()
    },
    wakeUp: () => wakeUp(),
    /** Until the time is up, or something is planned. */
    sleep: (ms: number) =>
      new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms)
        wakeUp = () => {
          clearTimeout(timer)
          resolve()
        }
      }),
  }
}

type Sending = {
  deps: WebhookSenderDeps
  attempt: WebhookAttempt
  queues: ReturnType<typeof makeEndpointQueues>
  bucket: ReturnType<typeof makeBucket>
  times: ReturnType<typeof makeTimetable>
  /** What the next turn records, and gives back. */
  ended: Ended[]
  released: Released[]
  stopping: boolean
  spreading: Promise<void> | null
  /** Events that the last look found. */
  lastSpread: number
}

const run = async (sending: Sending, queue: EndpointQueue, delivery: WebhookDelivery): Promise<void> => {
  const { deps, queues, times } = sending
  try {
    const result = await sending.attempt(queue, delivery)
    if (result) {
      sending.ended.push(result)
      sending.released.push(...queues.recordOutcome(queue, result))
      deps.onAttempt?.(result.state)
    }
  } catch (error) {
    // its lease runs out, and it is taken again
    deps.log.warn({ err: error, endpoint: delivery.endpoint, event: delivery.event.id }, 'a delivery was not attempted')
  } finally {
    queues.over(queue)
    start(sending, queue)
    times.plan('turn', sending.stopping || queues.held() === 0 || queues.isHungry(queue) ? 0 : GATHER_MS)
  }
}

const start = (sending: Sending, queue: EndpointQueue): void => {
  const { queues } = sending
  for (let next = queues.next(queue, nowMs()); next; next = queues.next(queue, nowMs())) void run(sending, queue, next)
}

const spread = async (sending: Sending): Promise<void> => {
  const { deps, queues, times } = sending
  const { spread: count, endpoints } = await deps.deliveries.spread()
  sending.lastSpread = count
  for (const endpoint of endpoints) queues.awaits(endpoint, false)
  if (endpoints.length > 0) times.plan('turn', 0)
  times.plan('spread', count >= SPREAD_MAX ? 0 : EVENTS_POLL_MS)
}

/** What the ledger refuses as it is, is recorded without its words: one of them keeps none of the others. */
const recordEach = async ({ deps: { deliveries, log } }: Sending, results: readonly Ended[]): Promise<void> => {
  const nothing = { firsts: new Map(), agains: [], released: [], leaseMs: LEASE_MS }
  for (const { mail, ...result } of results) {
    try {
      await deliveries.turn([{ ...result, ...(mail && { mail }) }], nothing)
    } catch (error) {
      if (!isItemFault(error)) throw error
      log.warn({ err: error, delivery: result.id }, 'how a delivery ended was refused')
      await deliveries.turn([{ ...result, status: null, latencyMs: 0, response: null, fault: NOT_RECORDED }], nothing)
    }
  }
}

/** How they ended, and what is asked for, in one commit; each alone where one of them is refused. */
const record = async (sending: Sending, results: readonly Ended[], asked: DeliveryTurn): Promise<WebhookDelivery[]> => {
  const { deliveries } = sending.deps
  try {
    return await deliveries.turn(results, asked)
  } catch (error) {
    if (!isItemFault(error) || results.length === 0) throw error
    await recordEach(sending, results)
    return deliveries.turn([], asked)
  }
}

const turn = async (sending: Sending): Promise<void> => {
  const { deps, queues, bucket } = sending
  const repeats = deps.mayRepeat?.() === false ? 0 : bucket.level()
  const wanted = sending.stopping ? { firsts: new Map<string, number>(), agains: [] } : queues.wanted(repeats)
  const { ended: results, released: freed } = sending
  if (wanted.firsts.size + wanted.agains.length + results.length + freed.length === 0) return
  sending.ended = []
  sending.released = []
  try {
    const untilMs = nowMs() + HELD_MS
    const rows = await record(sending, results, { ...wanted, released: freed, leaseMs: LEASE_MS })
    bucket.take(rows.filter(({ attempt: nth }) => nth > 1).length)
    // who stopped meanwhile begins nothing any more
    if (sending.stopping) return
    queues.takeIn(rows, wanted, untilMs)
    for (const endpoint of new Set(rows.map((row) => row.endpoint))) start(sending, queues.of(endpoint))
  } catch (error) {
    sending.ended = [...results, ...sending.ended]
    sending.released = [...freed, ...sending.released]
    throw error
  }
}

const due = async ({ deps, queues, times }: Sending): Promise<void> => {
  for (const { endpoint, again } of await deps.deliveries.due()) queues.awaits(endpoint, again)
  queues.tidy()
  times.plan('turn', 0)
  times.plan('due', DUE_POLL_MS)
}

const WORKS = { due, spread, turn } as const satisfies Record<Work, (sending: Sending) => Promise<void>>

/** Does it if its time has come; tries again later when the ledger is away. */
const perform = async (sending: Sending, work: Work): Promise<void> => {
  const { deps, queues, times } = sending
  if (nowMs() < times.at[work]) return
  times.at[work] = Number.POSITIVE_INFINITY
  try {
    await WORKS[work](sending)
  } catch (error) {
    deps.log.warn({ err: error }, 'the webhook sender cannot reach the ledger')
    if (sending.stopping && queues.held() === 0) sending.ended = []
    times.plan(work, BACKOFF_MS)
  }
}

/** Beside the turns: a long one holds up no attempt. */
const spreadAside = (sending: Sending): void => {
  if (sending.spreading || nowMs() < sending.times.at.spread) return
  sending.spreading = perform(sending, 'spread').finally(() => {
    sending.spreading = null
    sending.times.wakeUp()
  })
}

/** @returns when there is something to do next */
const round = async (sending: Sending): Promise<number> => {
  const { queues, times } = sending
  const { at } = times
  if (sending.stopping) {
    await perform(sending, 'turn')
    return at.turn
  }
  await perform(sending, 'due')
  spreadAside(sending)
  await perform(sending, 'turn')
  if (queues.awaitsRepeats()) times.plan('turn', REPEATS_POLL_MS)
  return Math.min(at.due, at.turn, sending.spreading ? at.due : at.spread)
}

const loop = async (sending: Sending): Promise<void> => {
  const { queues, times } = sending
  while (!sending.stopping || queues.held() > 0 || sending.ended.length > 0) {
    const waitMs = Math.min((await round(sending)) - nowMs(), DUE_POLL_MS)
    if (waitMs > 0) await times.sleep(waitMs)
  }
  await sending.spreading
}

/** Starts at once. */
export const startWebhookSender = (deps: WebhookSenderDeps): WebhookSender => {
  const sending: Sending = {
    deps,
    attempt: makeWebhookAttempt(deps),
    queues: makeEndpointQueues(),
    bucket: makeBucket(REPEATS_PER_SECOND_MAX, REPEATS_AT_ONCE, nowMs),
    times: makeTimetable(),
    ended: [],
    released: [],
    stopping: false,
    spreading: null,
    lastSpread: 0,
  }
  const { queues, times } = sending
  const looping = loop(sending)
  return {
    wake: () => times.plan('spread', sending.lastSpread >= EVENTS_CROWD ? EVENTS_POLL_MS : EVENTS_GATHER_MS),
    queued: (endpoint) => {
      queues.awaits(endpoint, false)
      // what was planned for later begins as the repeat that it is
      queues.awaits(endpoint, true)
      times.plan('turn', 0)
    },
    stop: async () => {
      sending.stopping = true
      queues.clear()
      times.plan('turn', 0)
      times.wakeUp()
      await looping
    },
  }
}
