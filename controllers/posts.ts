/**
 * What the herald holds of each endpoint: what waits for it in memory, and how much it is trusted with at once. No endpoint
 * takes a place of another's (spec/1 Events; CONTRACT section 10, Webhooks).
 */
import type { Signer } from '../crds/webhook/signature.ts'
import type { Address, Delivery, Ended, Released } from './runtime/deliveries.ts'

/** Attempts under way at one endpoint that takes what it is sent; one that does not is tried one at a time. */
export const PLACES_MAX = 16
const PLACES_FIRST = 4
/** For each place so many are in memory, under way or next, so that a place never waits for the ledger. */
const HELD_PER_PLACE = 2
/** The same for one that answers within SWIFT_MS. */
const HELD_PER_SWIFT_PLACE = 8
const SWIFT_MS = 200
/** In memory over all endpoints. */
const HELD_MAX = 4_096

export type Post = {
  queue: (Delivery & { untilMs: number })[]
  underWay: number
  places: number
  isSwift: boolean
  /** Whether the last that it was given was a repeat. */
  wasRepeat: boolean
  address: (Address & { sign: Signer; freshUntilMs: number }) | null
  lookUp: Promise<void> | null
}

const newPost = (): Post => ({
  ...{ queue: [], underWay: 0, places: PLACES_FIRST },
  ...{ isSwift: false, wasRepeat: false, address: null, lookUp: null },
})

const mayHold = ({ places, isSwift }: Post): number =>
  places === 1 ? 1 : places * (isSwift ? HELD_PER_SWIFT_PLACE : HELD_PER_PLACE)

const roomOf = (post: Post): number => mayHold(post) - post.underWay - post.queue.length

/** What is asked of the ledger: of whom how many first attempts, and of whom one repeat. */
export type Wanted = { firsts: ReadonlyMap<string, number>; agains: readonly string[] }

export type Posts = {
  of(endpoint: string): Post
  /** What is in memory, over all endpoints. */
  held(): number
  /** It may have first attempts, or repeats, waiting in the ledger. */
  awaits(endpoint: string, again: boolean): void
  awaitsRepeats(): boolean
  /** @param repeats over all endpoints, at most */
  wanted(repeats: number): Wanted
  /** What the ledger gave for it: who gave less than there was room for has no more. @param untilMs of their lease */
  takeIn(rows: readonly Delivery[], wanted: Wanted, untilMs: number): void
  /** The next that may be begun at this endpoint now; it is under way from here on. */
  next(post: Post, nowMs: number): Delivery | undefined
  /** One that was under way has ended. */
  over(post: Post): void
  /** What its last attempt says of an endpoint. @returns what was to follow, when it is not trusted with that any more */
  learn(post: Post, ended: Ended): Released[]
  /** Soon it would wait for the ledger. One that is tried one at a time is in no hurry. */
  isHungry(post: Post): boolean
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

export const makePosts = (): Posts => {
  const posts = new Map<string, Post>()
  const firsts = new Set<string>()
  const agains = new Set<string>()
  /** Who was told of since the ledger was last asked: its answer may be from before that. */
  const news = new Set<string>()
  let held = 0

  const of = (endpoint: string): Post => {
    const known = posts.get(endpoint)
    if (known) return known
    const post = newPost()
    posts.set(endpoint, post)
    return post
  }
  const drop = (post: Post): Delivery[] => {
    held -= post.queue.length
    return post.queue.splice(0)
  }
  /** Where there is one place for both, they take turns: repeats of one that fails would never come to an end else. */
  const isRepeatsTurn = (endpoint: string): boolean => {
    const post = of(endpoint)
    return roomOf(post) > 1 || (roomOf(post) === 1 && !(post.wasRepeat && firsts.has(endpoint)))
  }
  const chosenRepeats = (most: number): string[] => {
    const chosen: string[] = []
    for (const endpoint of agains) {
      if (chosen.length >= most) break
      if (isRepeatsTurn(endpoint)) chosen.push(endpoint)
    }
    return chosen
  }

  const put = (delivery: Post['queue'][number]): void => {
    const post = of(delivery.endpoint)
    if (delivery.isFailing && post.address === null) post.places = 1
    post.wasRepeat = delivery.attempt > 1
    post.queue.push(delivery)
    held += 1
  }

  return {
    of,
    held: () => held,
    awaits: (endpoint, again) => {
      const line = again ? agains : firsts
      line.add(endpoint)
      news.add(endpoint)
    },
    awaitsRepeats: () => agains.size > 0,
    wanted: (repeats) => {
      news.clear()
      const chosen = chosenRepeats(Math.min(repeats, HELD_MAX - held))
      const taken = new Set(chosen)
      let left = HELD_MAX - held - chosen.length
      const rooms = new Map<string, number>()
      for (const endpoint of firsts) {
        const room = Math.min(roomOf(of(endpoint)) - (taken.has(endpoint) ? 1 : 0), left)
        if (room <= 0) continue
        rooms.set(endpoint, room)
        left -= room
      }
      return { firsts: rooms, agains: chosen }
    },
    takeIn: (rows, wanted, untilMs) => {
      const came = new Map<string, number>()
      const cameAgain = new Set<string>()
      for (const delivery of rows) {
        const { endpoint, attempt } = delivery
        if (attempt > 1) cameAgain.add(endpoint)
        else came.set(endpoint, (came.get(endpoint) ?? 0) + 1)
        put({ ...delivery, untilMs })
      }
      for (const [endpoint, room] of wanted.firsts) {
        requeue(firsts, endpoint, came.get(endpoint) === room || news.has(endpoint))
      }
      for (const endpoint of wanted.agains) {
        requeue(agains, endpoint, cameAgain.has(endpoint) || news.has(endpoint))
      }
    },
    next: (post, nowMs) => {
      while (post.underWay < post.places) {
        const delivery = post.queue.shift()
        if (!delivery) return undefined
        post.underWay += 1
        if (delivery.untilMs > nowMs) return delivery
        // somebody else may have it by now
        post.underWay -= 1
        held -= 1
        firsts.add(delivery.endpoint)
        agains.add(delivery.endpoint)
      }
      return undefined
    },
    over: (post) => {
      post.underWay -= 1
      held -= 1
    },
    learn: (post, { state, gone, latencyMs }) => {
      post.isSwift = latencyMs <= SWIFT_MS
      post.places = state === 'delivered' ? Math.min(post.places * 2, PLACES_MAX) : 1
      if (post.places > 1) return []
      const dropped = drop(post)
      if (gone !== undefined) return []
      for (const { endpoint, attempt } of dropped) (attempt > 1 ? agains : firsts).add(endpoint)
      return dropped.map(({ id, begun }) => ({ id, begun }))
    },
    isHungry: (post) => post.places > 1 && post.queue.length < mayHold(post) / 4,
    tidy: () => {
      for (const [endpoint, { underWay, queue }] of posts) {
        const isIdle = underWay === 0 && queue.length === 0 && !firsts.has(endpoint) && !agains.has(endpoint)
        if (isIdle) posts.delete(endpoint)
      }
    },
    clear: () => {
      for (const post of posts.values()) drop(post)
      firsts.clear()
      agains.clear()
    },
  }
}
