/**
 * How often a day an account asks a language model, in pools that are counted apart. A place is taken before the question and
 * given back when there was no answer (rules/platform.md#language-models); kept in PostgreSQL, so it holds over processes.
 */
import { randomUUID } from 'node:crypto'
import type { QuotaName } from '../../../crds/account/quotas.ts'
import type { Pg } from '../pg/pg.ts'

export type AiPool = Extract<QuotaName, 'invoice_ai_per_day' | 'website_ai_per_day'>

export type Allowance = {
  /** Takes a place. Undefined when the day's are used up. @param day YYYY-MM-DD in UTC */
  take(of: { account: string; pool: AiPool; day: string; limit: number }): Promise<AllowanceReservation | undefined>
  /** How much quota is taken on a day, by pool. */
  used(account: string, day: string): Promise<Record<AiPool, number>>
}

export type AllowanceReservation = {
  /** There was an answer: the place is used. */
  keep(): Promise<void>
  /** There was none: the place is free again. */
  giveBack(): Promise<void>
}

const TAKE = 'select take_ai_place($1, $2, $3, $4, $5) as taken'
const KEEP = 'update ai_places set answered = true where id = $1'
const GIVE_BACK = 'delete from ai_places where id = $1'
const USED = 'select pool, count(*) as used from ai_places where account = $1 and day = $2 group by pool'

export const makeAllowance = ({ pg }: { pg: Pg }): Allowance => ({
  async take({ account, pool, day, limit }) {
    const id = randomUUID()
    const { rows } = await pg.query<{ taken: boolean }>('take_ai_place', TAKE, [id, account, pool, day, limit])
    if (!rows[0]?.taken) return undefined
    return {
      async keep() {
        await pg.query('keep_ai_place', KEEP, [id])
      },
      async giveBack() {
        await pg.query('give_back_ai_place', GIVE_BACK, [id])
      },
    }
  },
  async used(account, day) {
    const { rows } = await pg.query<{ pool: AiPool; used: number }>('ai_places_used', USED, [account, day])
    const count = (pool: AiPool) => rows.find((row) => row.pool === pool)?.used ?? 0
    return { invoice_ai_per_day: count('invoice_ai_per_day'), website_ai_per_day: count('website_ai_per_day') }
  },
})
