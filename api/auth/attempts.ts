/**
 * Wrong passwords and codes, counted in PostgreSQL so that the limit holds over all replicas. A try is counted before it
 * is looked at, so a thousand at once get no further than a thousand in a row; a right one is given back.
 * The right user is never locked out for longer than a minute: an address that is over its limit is refused until a
 * minute after its first wrong try, and what others try elsewhere against the same link leaves every address one try.
 */
import { createHash } from 'node:crypto'
import type { Pg } from '../../controllers/store/pg/pg.ts'
import { type Counter, makeSharedCounter } from '../http/stages/counters.ts'
import { addressKey } from '../http/stages/limits.ts'

/** Wrong tries in a minute: of one address at one target, of one address in all, of everybody at one target. */
export const WRONG_MAX = 10
export const WRONG_MAX_PER_ADDRESS = 30
export const WRONG_MAX_PER_TARGET = 100
export const WRONG_WINDOW_MS = 60_000

export type Attempt = {
  /** Milliseconds until the next try is free; above 0 the answer must not depend on what was given. */
  waitMs: number
  /** The try was right: it does not count. */
  right(): Promise<void>
}

export type Attempts = {
  /** @param of.target what is guessed at, such as `page:inv-…` or `signin:<mail address>`; it is kept as a hash */
  begin(of: { ip: string; target: string }): Promise<Attempt>
}

const hashOf = (...parts: string[]): string => createHash('sha256').update(parts.join('\n')).digest('base64url')

/** @returns how long to wait; 0 when it was free. @throws DatabaseUnavailable */
const take = async (counter: Counter, key: string): Promise<number> => {
  const { count, leftMs } = await counter.take(key)
  return count <= counter.max ? 0 : Math.max(1, leftMs)
}

export const makeAttempts = ({ pg }: { pg: Pg }): Attempts => {
  const seconds = WRONG_WINDOW_MS / 1000
  const here = makeSharedCounter(pg, 'here', { max: WRONG_MAX, seconds })
  const address = makeSharedCounter(pg, 'address', { max: WRONG_MAX_PER_ADDRESS, seconds })
  const target = makeSharedCounter(pg, 'target', { max: WRONG_MAX_PER_TARGET, seconds })
  return {
    async begin(of) {
      const ip = addressKey(of.ip)
      const keys = { here: hashOf(ip, of.target), address: hashOf(ip), target: hashOf(of.target) }
      const right = async () => {
        await Promise.all([here.forget(keys.here), address.reward(keys.address), target.reward(keys.target)])
      }
      const refuse = (waitMs: number): Attempt => ({ waitMs, right: async () => {} })
      const waitHere = await take(here, keys.here)
      if (waitHere > 0) return refuse(waitHere)
      const waitAddress = await take(address, keys.address)
      if (waitAddress > 0) return refuse(waitAddress)
      const waitTarget = await take(target, keys.target)
      if (waitTarget === 0) return { waitMs: 0, right }
      // Many addresses guess at this one target: each still has its first try, or they would keep the right user out.
      const { count } = await here.look(keys.here)
      return count <= 1 ? { waitMs: 0, right } : refuse(waitTarget)
    },
  }
}
