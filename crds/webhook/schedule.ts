/**
 * When an attempt is repeated: 1 minute, 10 minutes, 1 hour, 6 hours and 24 hours after the one before; then it is given up
 * (rules/webhook.md#retries).
 */
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** The wait after each attempt but the last. */
export const RETRY_AFTER_MS = [MINUTE_MS, 10 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS, 24 * HOUR_MS] as const
export const ATTEMPTS_MAX = RETRY_AFTER_MS.length + 1
/** So many repeats of one instant do not meet again: up to a tenth later, never earlier. */
const JITTER = 0.1
/** A receiver that asks for more than the longest step gets this. */
const POSTPONED_MAX_MS = 24 * HOUR_MS

/**
 * @param attempt the one that failed, from 1
 * @param random in [0, 1)
 * @param askedMs what the receiver asked for by Retry-After; it postpones, and brings nothing forward
 * @returns milliseconds from now; null when it is given up
 */
export const nextAfterMs = (attempt: number, random: number, askedMs = 0): number | null => {
  const stepMs = RETRY_AFTER_MS[attempt - 1]
  if (stepMs === undefined) return null
  return Math.round(Math.max(stepMs * (1 + JITTER * random), Math.min(askedMs, POSTPONED_MAX_MS)))
}

/** RFC 9110 section 10.2.3: seconds, or an instant. @returns milliseconds from now, 0 when it says nothing that can be read */
export const retryAfterMs = (header: string | undefined, now: Date): number => {
  const said = header?.trim() ?? ''
  if (/^\d{1,9}$/.test(said)) return Number(said) * 1000
  const at = Date.parse(said)
  return Number.isNaN(at) ? 0 : Math.max(0, at - now.getTime())
}
