/** Waiting between attempts: exponential, capped, with jitter, so that many who failed together do not return together. */

export type Backoff = { minMs: number; maxMs: number }

/** setTimeout fires at once above this (nodejs/node#4541). */
export const TIMER_MAX_MS = 2 ** 31 - 1

/**
 * @param attempt 0 for the first wait
 * @param random in [0, 1): the wait lies between half and all of `minMs · 2^attempt`, at most `maxMs`
 */
export const backoffMs = ({ minMs, maxMs }: Backoff, attempt: number, random: () => number): number => {
  const full = Math.min(maxMs, minMs * 2 ** Math.min(attempt, 40))
  return full * (0.5 + random() / 2)
}

/** Resolves after `ms`, or at once (without error) when the signal aborts. Long waits are made of legal timers. */
export const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted || ms <= 0) return resolve()
    const end = performance.now() + ms
    let timer: NodeJS.Timeout
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const arm = () => {
      const left = end - performance.now()
      if (left <= 0) return done()
      timer = setTimeout(arm, Math.min(left, TIMER_MAX_MS))
    }
    signal.addEventListener('abort', done, { once: true })
    arm()
  })
