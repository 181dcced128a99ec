/**
 * How fast and how much at once: a rate per token with headers that say what is left, one per account, a rate per address on
 * every route that needs no credential, and caps on what is under way. All in this process and without a look outside, so that
 * a request costs microseconds; with n replicas a token may do n times as much (rules/platform.md#rate-limits).
 */

import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import type { Caller } from '../caller.ts'
import type { Exchange, Stage } from '../exchange.ts'
import { tooMany, unavailable } from '../problem.ts'
import { type ByteSettings, makeByteBudget } from '../reading/budget.ts'
import { makeGate } from '../reading/gate.ts'
import type { AddressLimit } from '../route.ts'
import { type Counter, makeLocalCounter } from './counters.ts'
import { type Burst, makeRate } from './rate.ts'

export type LimitSettings = ByteSettings & {
  /** Requests of one token or session in a second, and how many more in a minute for a burst. */
  ratePerSecond: number
  rateSpare: number
  /** The same of one account, with whatever it asks: never less than one token of it may. */
  ratePerSecondPerAccount: number
  rateSparePerAccount: number
  /** Requests of one address in a minute to what needs no credential, each sort apart (route.ts, AddressLimit). */
  pagesPerMinute: number
  signinsPerMinute: number
  filesPerMinute: number
  cardEventsPerMinute: number
  gatePerMinute: number
  /** Wrong credentials of one address in a minute (wrong.ts). */
  wrongPerMinute: number
  /** Requests under way at once: in this process once their body has arrived, of one token, one account, and one address. */
  concurrency: number
  concurrencyPerToken: number
  concurrencyPerAccount: number
  concurrencyPerAddress: number
  /** How many proxies of ours stand in front and append to X-Forwarded-For. */
  proxies: number
  /** In lower case: the header in which what stands in front tells the address, replacing what the client sent of it. */
  clientAddressHeader: string | undefined
}

export const LIMIT_DEFAULTS: LimitSettings = {
  ratePerSecond: 50,
  rateSpare: 150,
  ratePerSecondPerAccount: 200,
  rateSparePerAccount: 600,
  pagesPerMinute: 300,
  signinsPerMinute: 60,
  filesPerMinute: 3_000,
  cardEventsPerMinute: 6_000,
  gatePerMinute: 60_000,
  wrongPerMinute: 120,
  concurrency: 2000,
  concurrencyPerToken: 200,
  concurrencyPerAccount: 400,
  concurrencyPerAddress: 500,
  heldMegabytes: 160,
  heldMegabytesPerParty: 112,
  proxies: 0,
  clientAddressHeader: undefined,
}

const MINUTE_SECONDS = 60
/** Long enough for some of what is under way to end. */
const BUSY_RETRY_SECONDS = 1

export type RequestLimits = {
  /** First of all stages: counts what is under way, and requests of an address to what needs no credential. */
  limitByIp: Stage
  /** After the caller is known: his token, and his account. */
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

/** Whoever owns many tokens shares one account's part. What its machines report is no request of its owner's, and counted apart. */
const ownerOf = ({ account, by }: Caller): string => `${by.kind === 'report' ? 'machines of' : 'account'} ${account}`

const makeAddressCounters = (settings: LimitSettings) => {
  const perMinute = (max: number) => makeLocalCounter({ max, seconds: MINUTE_SECONDS })
  const counters: Record<AddressLimit, Counter> = {
    page: perMinute(settings.pagesPerMinute),
    signin: perMinute(settings.signinsPerMinute),
    file: perMinute(settings.filesPerMinute),
    cardEvent: perMinute(settings.cardEventsPerMinute),
    gate: perMinute(settings.gatePerMinute),
  }
  /** Counts a request to what needs no credential; whoever brings one is counted by it. @throws Problem */
  return async ({ route: { scope } }: Exchange, address: string): Promise<void> => {
    if (scope.kind !== 'public') return
    const counter = counters[scope.limit ?? 'page']
    const { count, leftMs } = await counter.take(address)
    if (count > counter.max) throw tooMany('Too many requests from this address.', leftMs)
  }
}

const busy = (max: number, whose: string) =>
  tooMany(`More than ${max} requests of this ${whose} at once.`, BUSY_RETRY_SECONDS * 1000)

const makeGates = (settings: LimitSettings) => {
  const { concurrency, concurrencyPerAddress, concurrencyPerToken } = settings
  const concurrencyPerAccount = Math.max(settings.concurrencyPerAccount, concurrencyPerToken)
  return {
    everything: makeGate(concurrency, () =>
      unavailable('The service is busy', { retryAfterSeconds: BUSY_RETRY_SECONDS }),
    ),
    ofAddress: makeGate(concurrencyPerAddress, () => busy(concurrencyPerAddress, 'address')),
    ofToken: makeGate(concurrencyPerToken, () => busy(concurrencyPerToken, 'token')),
    ofAccount: makeGate(concurrencyPerAccount, () => busy(concurrencyPerAccount, 'account')),
  }
}

/** @returns the stages and what GET /api/account shows of them */
export const makeLimits = (settings: LimitSettings): RequestLimits => {
  const rate = makeRate(settings)
  const countAddress = makeAddressCounters(settings)
  const { everything, ofAddress, ofToken, ofAccount } = makeGates(settings)
  const budget = makeByteBudget(settings)

  return {
    burst: rate.burst,
    underWay: () => everything.running(''),
    heldBytes: budget.held,
    limitByIp: (exchange, next) => {
      exchange.ip = clientAddress(exchange.ip, exchange.headers, settings)
      const address = addressKey(exchange.ip)
      const run = async () => {
        await countAddress(exchange, address)
        return next()
      }
      return ofAddress.through(address, () => whenArrived(exchange, () => everything.enter(''), run))
    },
    limitByBytes: makeBytesStage(budget),
    limitByToken: async (exchange, next) => {
      const { caller } = exchange
      if (!caller) return next()
      const [token, owner] = [caller.by.id, ownerOf(caller)]
      await rate.spend({ token, owner }, exchange.answerHeaders)
      return ofToken.through(token, () => ofAccount.through(owner, next))
    },
  }
}
