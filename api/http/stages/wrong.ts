/**
 * Wrong credentials of one address. Nobody guesses a token of 160 bits, but each guess is a look into the database: who
 * sends many is refused before the look. A token that was good a moment ago goes on, whoever else guesses behind its address.
 */
import type { CallerCredentials } from '../caller.ts'
import type { Exchange, Stage } from '../exchange.ts'
import { Problem, tooMany } from '../problem.ts'
import { makeLocalCounter } from './counters.ts'
import { addressKey } from './limits.ts'

const MINUTE_SECONDS = 60
/** From so many on, those whose time is over are looked for. */
const OVER_MAX = 1_000

export type WrongDeps = {
  /** Wrong credentials of one address in a minute. */
  wrongPerMinute: number
  /** Whether it was found good a moment ago, so that nothing has to be looked up. */
  isRemembered(credentials: CallerCredentials): boolean
}

/** Between the stage that knows the address and the one that looks at credentials. */
export const makeWrongStage = ({ wrongPerMinute, isRemembered }: WrongDeps): Stage => {
  const wrong = makeLocalCounter({ max: wrongPerMinute, seconds: MINUTE_SECONDS })
  /** Addresses that are over, and until when: for all others there is nothing to look up. */
  const overUntilMs = new Map<string, number>()

  const refuseIfOver = ({ headers }: Exchange, address: string): void => {
    const untilMs = overUntilMs.get(address)
    if (untilMs === undefined) return
    const leftMs = untilMs - performance.now()
    if (leftMs <= 0) overUntilMs.delete(address)
    else if (!isRemembered(headers)) throw tooMany('Too many wrong credentials from this address.', leftMs)
  }

  const setOver = (address: string, leftMs: number): void => {
    const nowMs = performance.now()
    if (overUntilMs.size >= OVER_MAX)
      for (const [one, untilMs] of overUntilMs) if (untilMs <= nowMs) overUntilMs.delete(one)
    overUntilMs.set(address, nowMs + leftMs)
  }

  return async (exchange, next) => {
    if (exchange.headers.authorization === undefined) return next()
    const address = addressKey(exchange.ip)
    refuseIfOver(exchange, address)
    try {
      return await next()
    } catch (error) {
      if (error instanceof Problem && error.code === 'UNAUTHENTICATED') {
        const { count, leftMs } = await wrong.take(address)
        if (count >= wrongPerMinute) setOver(address, leftMs)
      }
      throw error
    }
  }
}
