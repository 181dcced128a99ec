/**
 * How fast and how much at once: a rate per token with headers that say what is left, a rate per address on pages that
 * need no token, and caps on what is under way. All in this process and without a look outside, so that a request costs
 * microseconds; with n replicas a token may do n times as much (rules/platform.md#rate-limits).
 * Headers: draft-ietf-httpapi-ratelimit-headers-10, structured fields (RFC 9651).
 */

import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import type { Exchange, Stage } from '../exchange.ts'
import { secondsOf, tooMany, unavailable } from '../problem.ts'
import { type ByteSettings, makeByteBudget } from '../reading/budget.ts'
import { makeGate } from '../reading/gate.ts'
import { type CounterStanding, makeLocalCounter } from './counters.ts'

export type LimitSettings = ByteSettings & {
  /** Requests of one token or session in a second, and how many more in a minute for a burst. */
  ratePerSecond: number
  rateSpare: number
  /** Requests of one address in a minute: to client pages, and to sign-in. */
  pagesPerMinute: number
  signinsPerMinute: number
  /** Wrong credentials of one address in a minute (wrong.ts). */
  wrongPerMinute: number
  /** Requests under way at once: in this process once their body has arrived, of one token, and of one address. */
  concurrency: number
  concurrencyPerToken: number
  concurrencyPerAddress: number
  /** How many proxies of ours stand in front and append to X-Forwarded-For. */
  proxies: number
  /** In lower case: the header in which what stands in front tells the address, replacing what the client sent of it. */
  clientAddressHeader: string | undefined
}

export const LIMIT_DEFAULTS: LimitSettings = {
  ratePerSecond: 50,
  rateSpare: 150,
  pagesPerMinute: 300,
  signinsPerMinute: 60,
  wrongPerMinute: 120,
  concurrency: 2000,
  concurrencyPerToken: 200,
  concurrencyPerAddress: 500,
  heldMegabytes: 160,
  heldMegabytesPerParty: 112,
  proxies: 0,
  clientAddressHeader: undefined,
}

const SPARE_WINDOW_SECONDS = 60
const MINUTE_SECONDS = 60
/** Long enough for some of what is under way to end. */
const BUSY_RETRY_SECONDS = 1

export type Burst = { limit: number; spare: number; used: number; resets_at: string | null }

export type RequestLimits = {
  /** First of all stages: counts what is under way, and requests of an address to pages without a token. */
  limitByIp: Stage
  /** After the caller is known. */
  limitByToken: Stage
  /** Before the body is read, and until the answer has left: what is held for the caller, or for the address of nobody. */
  limitByBytes: Stage
  /** How a token's or session's burst stands. @param id of the token or session */
  burst(id: string): Promise<Burst>
  /** Requests under way in this process. */
  underWay(): number
  /** Bytes held for bodies and answers. */
  heldBytes(): number
}

type Front = Pick<LimitSettings, 'proxies' | 'clientAddressHeader'>

/**
 * The address of the client: as our own front tells it in its header, or as the outermost of our own proxies saw it; what
 * stands left of that in X-Forwarded-For anyone can write. The peer's where neither says one.
 */
export const clientAddress = (peer: string, headers: IncomingHttpHeaders, front: Front): string => {
  const { proxies, clientAddressHeader } = front
  if (clientAddressHeader !== undefined) {
    const told = String(headers[clientAddressHeader] ?? '').trim()
    return isIP(told) === 0 ? peer : told
  }
  if (proxies === 0) return peer
  const hops = String(headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((hop) => hop.trim())
    .filter((hop) => hop !== '')
  return hops.at(-proxies) ?? hops[0] ?? peer
}

/** What counts as one address: an IPv4 address, or the /64 that one customer of IPv6 holds. */
export const addressKey = (address: string): string => {
  const v4 = /^(?:::ffff:)?(\d{1,3}(?:\.\d{1,3}){3})$/i.exec(address)?.[1]
  if (v4) return v4
  if (!address.includes(':')) return address.slice(0, 64)
  const [head = '', tail] = address.toLowerCase().split('%', 1)[0]?.split('::', 2) ?? []
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length)
  const groups = [...left, ...Array.from({ length: zeros }, () => '0'), ...right]
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(.)/, '$1'))
    .join(':')}::/64`
}

const item = (name: string, left: number, ms: number): string => `"${name}";r=${Math.max(0, left)};t=${secondsOf(ms)}`

const UNUSED: CounterStanding = { count: 0, leftMs: 0 }

const makeRate = ({ ratePerSecond, rateSpare }: LimitSettings) => {
  const second = makeLocalCounter({ max: ratePerSecond, seconds: 1 })
  const spare = makeLocalCounter({ max: rateSpare, seconds: SPARE_WINDOW_SECONDS })
  const policy = `"second";q=${ratePerSecond};w=1, "spare";q=${rateSpare};w=${SPARE_WINDOW_SECONDS}`
  /** Tokens that have used of their spare, and until when that counts: for all others there is nothing to look up. */
  const spentUntilMs = new Map<string, number>()
  const standOfSpare = async (id: string, over: boolean): Promise<CounterStanding> => {
    if (over) {
      const stand = await spare.take(id)
      spentUntilMs.set(id, performance.now() + stand.leftMs)
      return stand
    }
    const untilMs = spentUntilMs.get(id)
    if (untilMs === undefined) return UNUSED
    if (untilMs > performance.now()) return spare.look(id)
    spentUntilMs.delete(id)
    return UNUSED
  }
  const spend = async (id: string, headers: Record<string, string>): Promise<void> => {
    const now = await second.take(id)
    const more = await standOfSpare(id, now.count > ratePerSecond)
    const spareMs = more.count === 0 ? SPARE_WINDOW_SECONDS * 1000 : more.leftMs
    // The draft's own fields, and the plain ones of its earlier versions, which more clients read.
    const left = Math.max(0, ratePerSecond - now.count) + Math.max(0, rateSpare - more.count)
    headers['ratelimit-limit'] = String(ratePerSecond)
    headers['ratelimit-remaining'] = String(left)
    headers['ratelimit-reset'] = String(secondsOf(now.leftMs))
    headers['ratelimit-policy'] = policy
    headers.ratelimit = `${item('second', ratePerSecond - now.count, now.leftMs)}, ${item('spare', rateSpare - more.count, spareMs)}`
    if (now.count > ratePerSecond && more.count > rateSpare) {
      throw tooMany(`More than ${ratePerSecond} requests in a second, and the spare ${rateSpare} are used.`, now.leftMs)
    }
  }

  const burst = async (id: string): Promise<Burst> => {
    const { count, leftMs } = await spare.look(id)
    const resets_at = count === 0 ? null : new Date(Date.now() + leftMs).toISOString()
    return { limit: ratePerSecond, spare: rateSpare, used: Math.min(rateSpare, count), resets_at }
  }
  return { spend, burst }
}

/** Which pages without a token are counted by address: every request to a client page or a site's form, every post to sign-in. */
const kindOf = ({ route, method }: Exchange): 'page' | 'signin' | null => {
  if (/^\/[is]\//.test(route.path)) return 'page'
  return route.path.startsWith('/signin') && method === 'POST' ? 'signin' : null
}

const isRead = ({ method }: Exchange): boolean => method === 'GET' || method === 'HEAD'

/**
 * A request takes its place in the process when its body has arrived: whoever sends slowly, or nothing at all, holds a place
 * of his own address and none of anybody else's.
 */
const whenArrived = async <R>(exchange: Exchange, enter: () => () => void, run: () => Promise<R>): Promise<R> => {
  let leave: (() => void) | undefined
  const arrive = () => {
    leave ??= enter()
  }
  if (isRead(exchange)) arrive()
  else exchange.onArrival = arrive
  try {
    return await run()
  } finally {
    leave?.()
  }
}

/** What a client reads from the buffers of the kernel costs us nothing. */
const ANSWER_FREE_BYTES = 65_536

/** What was done is never refused for the size of its answer: only a look is. */
const isHeld = (exchange: Exchange, length: number): boolean => isRead(exchange) && length > ANSWER_FREE_BYTES

const partyOf = ({ caller, ip }: Exchange): string =>
  caller ? `account ${caller.account}` : `address ${addressKey(ip)}`

const makeBytesStage =
  (budget: ReturnType<typeof makeByteBudget>): Stage =>
  async (exchange, next) => {
    const held = budget.open(partyOf(exchange))
    exchange.meter = held.take
    try {
      const answer = await next()
      held.end()
      const length = answer.bytes?.length ?? 0
      if (!isHeld(exchange, length)) return answer
      held.take(length)
      return { ...answer, onSent: held.end }
    } catch (error) {
      held.end()
      throw error
    }
  }

/** @returns the stages and what GET /api/account shows of them */
export const makeLimits = (settings: LimitSettings): RequestLimits => {
  const rate = makeRate(settings)
  const byAddress = {
    page: makeLocalCounter({ max: settings.pagesPerMinute, seconds: MINUTE_SECONDS }),
    signin: makeLocalCounter({ max: settings.signinsPerMinute, seconds: MINUTE_SECONDS }),
  }
  const everything = makeGate(settings.concurrency, () =>
    unavailable('The service is busy', { retryAfterSeconds: BUSY_RETRY_SECONDS }),
  )
  const ofAddress = makeGate(settings.concurrencyPerAddress, () =>
    tooMany(`More than ${settings.concurrencyPerAddress} requests of this address at once.`, BUSY_RETRY_SECONDS * 1000),
  )
  const budget = makeByteBudget(settings)
  const ofToken = makeGate(settings.concurrencyPerToken, () =>
    tooMany(`More than ${settings.concurrencyPerToken} requests of this token at once.`, BUSY_RETRY_SECONDS * 1000),
  )

  return {
    burst: rate.burst,
    underWay: () => everything.running(''),
    heldBytes: budget.held,
    limitByIp: (exchange, next) => {
      exchange.ip = clientAddress(exchange.ip, exchange.headers, settings)
      const address = addressKey(exchange.ip)
      const arrived = () =>
        whenArrived(
          exchange,
          () => everything.enter(''),
          async () => {
            const kind = kindOf(exchange)
            const stands = kind && (await byAddress[kind].take(address))
            if (kind && stands && stands.count > byAddress[kind].max)
              throw tooMany('Too many requests from this address.', stands.leftMs)
            return next()
          },
        )
      return ofAddress.through(address, arrived)
    },
    limitByBytes: makeBytesStage(budget),
    limitByToken: async (exchange, next) => {
      if (!exchange.caller) return next()
      const { id } = exchange.caller.by
      await rate.spend(id, exchange.answerHeaders)
      return ofToken.through(id, next)
    },
  }
}
