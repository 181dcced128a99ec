/**
 * What an attempt comes to: only a whole 2xx answer is success, and the schedule decides what follows
 * (rules/webhook.md#outcome).
 */
import { nextAfterMs, retryAfterMs } from './schedule.ts'

/** What of an answer is kept in the log. */
export const RESPONSE_MAX = 1_024
const GONE = 410
/** A fault of the service: nothing was sent. */
export const NOT_ATTEMPTED = 'NOT_ATTEMPTED'
/** Of the service too: how it ended could not be recorded as it was. */
export const NOT_RECORDED = 'NOT_RECORDED'
const REFUSED = ['EGRESS_REFUSED', 'BAD_URL']

/** As the egress gives it (controllers/net/egress.ts). */
export type Answered =
  | { ok: true; status: number; headers: Record<string, string>; body: Uint8Array; latencyMs: number }
  | { ok: false; fault: string; detail: string; status: number | null; body: Uint8Array; latencyMs: number }

/** `gone`: why the endpoint is told nothing more. */
export type DeliveryOutcome = {
  state: 'delivered' | 'failed' | 'refused' | 'dead'
  status: number | null
  latencyMs: number
  /** Why it was no success, in a word and then in words. */
  fault: string | null
  response: string | null
  /** ISO: when the next one is due; null when none is. */
  nextAt: string | null
  /** Whether the next is the last. */
  isLast: boolean
  gone?: string
}

type Tried = { attempt: number; isLast: boolean }

const DECODER = new TextDecoder()

/** The beginning of an answer, as text that a database can hold. */
const shownOf = (body: Uint8Array): string | null =>
  body.length === 0 ? null : DECODER.decode(body.subarray(0, RESPONSE_MAX)).replaceAll('\0', '\u{fffd}')

/**
 * @param answer of the attempt @param tried which one of its schedule it was, and whether none follows it
 * @param at the platform's time, and a random number in [0, 1) for the jitter
 */
export const outcomeOf = (
  answer: Answered,
  { attempt, isLast }: Tried,
  { now, random }: { now: Date; random: number },
): DeliveryOutcome => {
  const { status, latencyMs } = answer
  const seen = { status, latencyMs: Math.round(latencyMs), response: shownOf(answer.body) }
  const over = { nextAt: null, isLast: true }
  if (answer.ok && answer.status >= 200 && answer.status < 300)
    return { ...seen, ...over, state: 'delivered', fault: null }
  if (answer.ok && answer.status === GONE) {
    return { ...seen, ...over, state: 'dead', fault: 'HTTP_410', gone: 'it answered 410 Gone' }
  }
  const fault = answer.ok ? `HTTP_${answer.status}` : `${answer.fault}: ${answer.detail}`
  const state = !answer.ok && REFUSED.includes(answer.fault) ? 'refused' : 'failed'
  // a ping is repeated by whoever asked for it
  if (isLast && attempt === 1) return { ...seen, ...over, state, fault }
  const askedMs = answer.ok ? retryAfterMs(answer.headers['retry-after'], now) : 0
  const afterMs = isLast ? null : nextAfterMs(attempt, random, askedMs)
  if (afterMs === null) return { ...seen, ...over, state: 'dead', fault }
  const nextAt = new Date(now.getTime() + afterMs).toISOString()
  return { ...seen, state, fault, nextAt, isLast: nextAfterMs(attempt + 1, 0) === null }
}
