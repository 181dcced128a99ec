/**
 * The herald: spreads what was told to whoever wants it, and delivers it, signed, to the addresses that accounts chose. Every
 * endpoint has a queue and a number of places of its own, so that one that hangs costs the others nothing; repeats are let
 * out at a rate, so that a thousand endpoints that come back are not overrun (spec/1 Events; CONTRACT section 10, Webhooks).
 */
import { bodyOf } from '../crds/event.ts'
import { outcomeOf } from '../crds/webhook/outcome.ts'
import { makeSigner, type Signer } from '../crds/webhook/signature.ts'
import type { Address, Deliveries, Delivery, Ended, Notice } from './runtime/deliveries.ts'
import { SPREAD_MAX } from './runtime/deliveries.ts'
import type { Egress } from './runtime/egress.ts'
import type { Log } from './runtime/log.ts'

/** Over the whole exchange. */
export const DELIVERY_LIMIT_MS = 15_000
export const ANSWER_BYTES_MAX = 65_536
/** Attempts under way at one endpoint that takes what it is sent; one that does not is tried one at a time. */
export const PLACES_MAX = 16
const PLACES_FIRST = 4
/** Attempts in hand over all endpoints. */
const HELD_MAX = 1_024
/** Repeats over all endpoints. */
export const REPEATS_PER_SECOND_MAX = 200
const REPEATS_AT_ONCE = 20
/** Longer than an attempt with all that waits before it at its endpoint may take. */
const LEASE_MS = 60_000
/**
 * How often it looks whether anything was told: a look is one probe of an index. Being notified of each commit would make
 * commits wait for one another, those that give numbers too.
 */
const TOLD_POLL_MS = 100
/** How often it looks for what has become due. */
const DUE_POLL_MS = 1_000
const BACKOFF_MS = 500
/** A secret that ran out, and an address that was changed, are out of use after this. */
const ADDRESS_FRESH_MS = 30_000

export type HeraldDeps = {
  deliveries: Deliveries
  egress: Egress
  /** The platform's clock: what is due when. */
  now: () => Date
  /** The receivers' clock: what is signed. */
  wall?: () => Date
  random?: () => number
  /** The mail to the owner that follows from an attempt: the last of a delivery, or the end of an endpoint. */
  noticeOf(delivery: Delivery, address: Address, ended: Ended): Notice | null
  log: Log
  onAttempt?(state: Ended['state']): void
}

export type Herald = {
  /** Something may have been told. */
  wake(): void
  /** Something was queued for this endpoint. */
  queued(endpoint: string): void
  /** Takes nothing more, waits for what is under way and records it. */
  stop(): Promise<void>
}

/** One endpoint: what waits for it in memory, and how much it is trusted with at once. */
type Post = {
  queue: Delivery[]
  underWay: number
  places: number
  address: (Address & { sign: Signer; freshUntilMs: number }) | null
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

/** Starts at once. */
export const startHerald = (deps: HeraldDeps): Herald => {
  const { deliveries, egress, log, wall = () => new Date(), random = Math.random } = deps
  const posts = new Map<string, Post>()
  /** Endpoints that may have first attempts, or repeats, waiting in the ledger. */
  const firsts = new Set<string>()
  const agains = new Set<string>()
  const bucket = makeBucket(REPEATS_PER_SECOND_MAX, REPEATS_AT_ONCE, () => performance.now())
  let ended: Ended[] = []
  let held = 0
  let isTold = true
  let stopping = false
  let rouse = () => {}
  let isAsleep = false

  const postOf = (endpoint: string): Post => {
    const known = posts.get(endpoint)
    if (known) return known
    const post: Post = { queue: [], underWay: 0, places: PLACES_FIRST, address: null }
    posts.set(endpoint, post)
    return post
  }

  const addressOf = async (post: Post, { endpoint, version }: Delivery): Promise<Post['address']> => {
    const known = post.address
    if (known && known.version >= version && known.freshUntilMs > performance.now()) return known
    const found = await deliveries.address(endpoint)
    if (found && !known && found.isFailing) post.places = 1
    const freshUntilMs = performance.now() + ADDRESS_FRESH_MS
    post.address = found && { ...found, sign: makeSigner(found.secrets), freshUntilMs }
    return post.address
  }

  /** One attempt; null when there is nobody to send to any more. */
  const attempt = async (post: Post, delivery: Delivery): Promise<Ended | null> => {
    const address = await addressOf(post, delivery)
    if (!address) return null
    const { event } = delivery
    const body = bodyOf(event)
    const headers = { 'content-type': 'application/json', ...address.sign({ id: event.id, body, at: wall() }) }
    const limits = { limitMs: DELIVERY_LIMIT_MS, bytesMax: ANSWER_BYTES_MAX }
    const answer = await egress.exchange({ method: 'POST', url: address.url, headers, body, ...limits })
    const outcome = outcomeOf(answer, delivery, { now: deps.now(), random: random() })
    const result: Ended = { id: delivery.id, begun: delivery.begun, ...outcome }
    const mail = deps.noticeOf(delivery, address, result)
    return mail ? { ...result, mail } : result
  }

  const learn = (post: Post, { state }: Ended): void => {
    post.places = state === 'delivered' ? Math.min(post.places * 2, PLACES_MAX) : 1
    deps.onAttempt?.(state)
  }

  const run = async (post: Post, delivery: Delivery): Promise<void> => {
    try {
      const result = await attempt(post, delivery)
      if (result) {
        learn(post, result)
        ended.push(result)
      }
    } catch (error) {
      // its lease runs out, and it is taken again
      log.warn({ err: error, endpoint: delivery.endpoint, event: delivery.event.id }, 'a delivery was not attempted')
    } finally {
      held -= 1
      post.underWay -= 1
      start(post)
      wake()
    }
  }

  const start = (post: Post): void => {
    while (post.underWay < post.places) {
      const delivery = post.queue.shift()
      if (!delivery) return
      post.underWay += 1
      void run(post, delivery)
    }
  }

  /** Twice what it may be sent at once, so that it never waits for the ledger. */
  const roomOf = (endpoint: string): number => {
    const { places, underWay, queue } = postOf(endpoint)
    return places === 1 ? 1 - underWay - queue.length : 2 * places - underWay - queue.length
  }

  const wanted = () => {
    let left = HELD_MAX - held
    const rooms = new Map<string, number>()
    for (const endpoint of firsts) {
      const room = Math.min(roomOf(endpoint), left)
      if (room <= 0) continue
      rooms.set(endpoint, room)
      left -= room
    }
    const few = Math.min(bucket.level(), left)
    const repeats = [...agains].filter((endpoint) => roomOf(endpoint) - (rooms.get(endpoint) ?? 0) > 0).slice(0, few)
    return { rooms, repeats }
  }

  /** Who was asked for and gave less than there was room for has no more. */
  const takeIn = (rows: readonly Delivery[], rooms: ReadonlyMap<string, number>, repeats: readonly string[]): void => {
    const came = new Map<string, number>()
    const cameAgain = new Set<string>()
    for (const delivery of rows) {
      const { endpoint, attempt: nth } = delivery
      if (nth > 1) cameAgain.add(endpoint)
      else came.set(endpoint, (came.get(endpoint) ?? 0) + 1)
      held += 1
      postOf(endpoint).queue.push(delivery)
    }
    for (const [endpoint, room] of rooms) if ((came.get(endpoint) ?? 0) < room) firsts.delete(endpoint)
    for (const endpoint of repeats) {
      // to the end of the line, or out of it
      agains.delete(endpoint)
      if (cameAgain.has(endpoint)) agains.add(endpoint)
    }
    for (const endpoint of new Set(rows.map((row) => row.endpoint))) start(postOf(endpoint))
  }

  const spread = async (): Promise<void> => {
    isTold = false
    const { spread: count, endpoints } = await deliveries.spread()
    for (const endpoint of endpoints) firsts.add(endpoint)
    if (count >= SPREAD_MAX) isTold = true
  }

  /** @returns whether something was done */
  const turn = async (): Promise<boolean> => {
    if (isTold && !stopping) await spread()
    const { rooms, repeats } = stopping ? { rooms: new Map<string, number>(), repeats: [] } : wanted()
    if (rooms.size === 0 && repeats.length === 0 && ended.length === 0) return false
    const results = ended
    ended = []
    try {
      const rows = await deliveries.turn(results, { firsts: rooms, agains: repeats, leaseMs: LEASE_MS })
      bucket.take(rows.filter(({ attempt: nth }) => nth > 1).length)
      takeIn(rows, rooms, repeats)
    } catch (error) {
      ended = [...results, ...ended]
      throw error
    }
    return true
  }

  const look = async (): Promise<void> => {
    for (const { endpoint, again } of await deliveries.due()) (again ? agains : firsts).add(endpoint)
    for (const [endpoint, post] of posts) if (post.underWay === 0 && post.queue.length === 0) posts.delete(endpoint)
  }

  const wake = (): void => {
    isAsleep = false
    rouse()
  }
  const sleep = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      rouse = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  let lookedMs = Number.NEGATIVE_INFINITY
  /** @returns how long to wait for the next; 0 while there is something to do */
  const round = async (): Promise<number> => {
    try {
      if (!stopping && performance.now() - lookedMs >= DUE_POLL_MS) {
        await look()
        lookedMs = performance.now()
      }
      return (await turn()) ? 0 : TOLD_POLL_MS
    } catch (error) {
      log.warn({ err: error }, 'the herald cannot reach the ledger')
      if (stopping && held === 0) ended = []
      return BACKOFF_MS
    }
  }

  const loop = async (): Promise<void> => {
    while (!stopping || held > 0 || ended.length > 0) {
      isAsleep = true
      const waitMs = await round()
      if (waitMs === 0) continue
      // unless something came in while the ledger was asked
      if (isAsleep) await sleep(waitMs)
      isTold = true
    }
  }
  const looping = loop()
  return {
    wake: () => {
      isTold = true
      wake()
    },
    queued: (endpoint) => {
      firsts.add(endpoint)
      wake()
    },
    stop: async () => {
      stopping = true
      for (const post of posts.values()) held -= post.queue.splice(0).length
      wake()
      await looping
    },
  }
}
