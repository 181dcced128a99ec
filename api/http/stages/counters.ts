/** The one door to rate-limiter-flexible: counters per key that begin anew after a window, here or over all replicas. */
import { RateLimiterMemory, RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible'
import type { Pg } from '../../../controllers/store/pg/pg.ts'

/** How a key stands: what was counted in its window, and milliseconds until the window ends. */
export type CounterStanding = { count: number; leftMs: number }

export type Counter = {
  max: number
  /** Counts one. Above `max` the key is over its limit. */
  take(key: string): Promise<CounterStanding>
  /** How it stands; nothing counted gives 0. */
  look(key: string): Promise<CounterStanding>
  /** Counts one less. */
  reward(key: string): Promise<void>
  forget(key: string): Promise<void>
}

type Window = { max: number; seconds: number }

const standOf = ({ consumedPoints, msBeforeNext }: RateLimiterRes): CounterStanding => ({
  count: consumedPoints,
  leftMs: Math.max(0, msBeforeNext),
})

const counterOf = (limiter: RateLimiterMemory | RateLimiterPostgres, max: number): Counter => ({
  max,
  async take(key) {
    try {
      return standOf(await limiter.consume(key))
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error
      // Over the limit. One that is refused from memory comes without a count.
      const stand = standOf(error)
      return { ...stand, count: Math.max(stand.count, max + 1) }
    }
  },
  async look(key) {
    const found = await limiter.get(key)
    return found && found.msBeforeNext > 0 ? standOf(found) : { count: 0, leftMs: 0 }
  },
  async reward(key) {
    await limiter.reward(key)
  },
  async forget(key) {
    await limiter.delete(key)
  },
})

/** Counts in this process. */
export const makeLocalCounter = ({ max, seconds }: Window): Counter =>
  counterOf(new RateLimiterMemory({ points: max, duration: seconds }), max)

type Statement = { name: string; text: string; values: unknown[] }

/** Counts in the table `attempts`, for all replicas. What is over its limit is refused here without asking again. */
export const makeSharedCounter = (pg: Pg, keyPrefix: string, { max, seconds }: Window): Counter => {
  const storeClient = { query: ({ name, text, values }: Statement) => pg.query(name, text, values) }
  const table = { storeClient, storeType: 'client', tableName: 'attempts', tableCreated: true, keyPrefix }
  const limits = { points: max, duration: seconds, inMemoryBlockOnConsumed: max + 1 }
  return counterOf(new RateLimiterPostgres({ ...table, ...limits }), max)
}
