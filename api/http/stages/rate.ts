/**
 * How fast a token and its account may ask, and the headers that say what is left of the token's.
 * Headers: draft-ietf-httpapi-ratelimit-headers-10, structured fields (RFC 9651).
 */
import { type Problem, secondsOf, tooMany } from '../problem.ts'
import { type CounterStanding, makeLocalCounter } from './counters.ts'

export type RateSettings = {
  ratePerSecond: number
  rateSpare: number
  ratePerSecondPerAccount: number
  rateSparePerAccount: number
}

export type Burst = { limit: number; spare: number; used: number; resets_at: string | null }

const SPARE_WINDOW_SECONDS = 60
const UNUSED: CounterStanding = { count: 0, leftMs: 0 }

const item = (name: string, left: number, ms: number): string => `"${name}";r=${Math.max(0, left)};t=${secondsOf(ms)}`

type Most = { perSecond: number; spare: number }
type Standing = { now: CounterStanding; more: CounterStanding; isOver: boolean }

/** So many in a second, and of what is more than that so many in a minute. */
const makeBucket = ({ perSecond, spare: spareMost }: Most) => {
  const second = makeLocalCounter({ max: perSecond, seconds: 1 })
  const spare = makeLocalCounter({ max: spareMost, seconds: SPARE_WINDOW_SECONDS })
  /** Keys that have used of their spare, and until when that counts: for all others there is nothing to look up. */
  const spentUntilMs = new Map<string, number>()
  const standOfSpare = async (key: string, over: boolean): Promise<CounterStanding> => {
    if (over) {
      const stand = await spare.take(key)
      spentUntilMs.set(key, performance.now() + stand.leftMs)
      return stand
    }
    const untilMs = spentUntilMs.get(key)
    if (untilMs === undefined) return UNUSED
    if (untilMs > performance.now()) return spare.look(key)
    spentUntilMs.delete(key)
    return UNUSED
  }
  const take = async (key: string): Promise<Standing> => {
    const now = await second.take(key)
    const more = await standOfSpare(key, now.count > perSecond)
    return { now, more, isOver: now.count > perSecond && more.count > spareMost }
  }
  return { take, look: spare.look }
}

const refusal = (whose: string, { perSecond, spare }: Most, leftMs: number): Problem =>
  tooMany(`More than ${perSecond} requests of this ${whose} in a second, and the spare ${spare} are used.`, leftMs)

/** What was counted of: `owner` is the account, or its machines. */
export type Counted = { token: string; owner: string }

export const makeRate = (settings: RateSettings) => {
  const { ratePerSecond, rateSpare } = settings
  const ofToken = { perSecond: ratePerSecond, spare: rateSpare }
  const ofAccount = {
    perSecond: Math.max(ratePerSecond, settings.ratePerSecondPerAccount),
    spare: Math.max(rateSpare, settings.rateSparePerAccount),
  }
  const [tokens, accounts] = [makeBucket(ofToken), makeBucket(ofAccount)]
  const policy = `"second";q=${ratePerSecond};w=1, "spare";q=${rateSpare};w=${SPARE_WINDOW_SECONDS}`

  const tell = ({ now, more }: Standing, headers: Record<string, string>): void => {
    const spareMs = more.count === 0 ? SPARE_WINDOW_SECONDS * 1000 : more.leftMs
    // The draft's own fields, and the plain ones of its earlier versions, which more clients read.
    const left = Math.max(0, ratePerSecond - now.count) + Math.max(0, rateSpare - more.count)
    headers['ratelimit-limit'] = String(ratePerSecond)
    headers['ratelimit-remaining'] = String(left)
    headers['ratelimit-reset'] = String(secondsOf(now.leftMs))
    headers['ratelimit-policy'] = policy
    headers.ratelimit = `${item('second', ratePerSecond - now.count, now.leftMs)}, ${item('spare', rateSpare - more.count, spareMs)}`
  }

  /** What a token was refused is not counted of its account: one that runs wild leaves the others their part. @throws Problem */
  const spend = async ({ token, owner }: Counted, headers: Record<string, string>): Promise<void> => {
    const own = await tokens.take(token)
    tell(own, headers)
    if (own.isOver) throw refusal('token', ofToken, own.now.leftMs)
    const { isOver, now } = await accounts.take(owner)
    if (!isOver) return
    headers['ratelimit-remaining'] = '0'
    throw refusal('account', ofAccount, now.leftMs)
  }

  const burst = async (token: string): Promise<Burst> => {
    const { count, leftMs } = await tokens.look(token)
    const resets_at = count === 0 ? null : new Date(Date.now() + leftMs).toISOString()
    return { limit: ratePerSecond, spare: rateSpare, used: Math.min(rateSpare, count), resets_at }
  }
  return { spend, burst }
}
