/**
 * An account's quota of sends a day, reserved before the resource is written (rules/invoice.md#cap-of-sends).
 * The API takes one for a send that comes by REST; the controllers for one that came by kubectl, and find
 * the API's for all others. Kept in PostgreSQL, so the cap holds over replicas and processes.
 */
import { makeBatch } from '../../base/batch.ts'
import { isItemFault, type Pg } from '../pg/pg.ts'

/** The n-th send (from 1) of a resource. `day` is YYYY-MM-DD in UTC, `limit` the most sends of the account on it. */
export type SendQuotaRequest = { resource: string; n: number; account: string; day: string; limit: number }

/** `held`: this send has its place from before, today or not. */
export type SendQuotaOutcome = 'taken' | 'held' | 'refused'

export type SendQuota = {
  /** Takes a place unless the send has one. Safe to repeat. Many callers share one commit. */
  take(request: SendQuotaRequest): Promise<SendQuotaOutcome>
  /** The send was refused or not asked for. Gives whether a place was freed; one that was sent keeps its own. */
  giveBack(send: { resource: string; n: number }): Promise<boolean>
  /** How much quota is taken. @param day YYYY-MM-DD in UTC */
  used(account: string, day: string): Promise<number>
}

const TAKE = 'select outcome from take_send_slots($1, $2, $3, $4, $5)'
const GIVE_BACK = 'select given from give_back_send_slot($1, $2)'
const USED = 'select used from send_days where account = $1 and day = $2'

const takeAll = async (pg: Pg, requests: SendQuotaRequest[]): Promise<SendQuotaOutcome[]> => {
  const { rows } = await pg.query<{ outcome: SendQuotaOutcome }>('take_send_slots', TAKE, [
    requests.map((request) => request.resource),
    requests.map((request) => request.n),
    requests.map((request) => request.account),
    requests.map((request) => request.day),
    requests.map((request) => request.limit),
  ])
  return rows.map((row) => row.outcome)
}

/** @param deps.gatherMs how long a place may wait for others (batch.ts) */
export const makeSendQuota = ({ pg, gatherMs }: { pg: Pg; gatherMs?: () => number }): SendQuota => {
  const take = makeBatch<SendQuotaRequest, SendQuotaOutcome>({
    run: (requests) => takeAll(pg, requests),
    isItemFault,
    ...(gatherMs && { gatherMs }),
  })
  return {
    take,
    async giveBack({ resource, n }) {
      const { rows } = await pg.query<{ given: boolean }>('give_back_send_slot', GIVE_BACK, [resource, n])
      return rows[0]?.given ?? false
    },
    async used(account, day) {
      const { rows } = await pg.query<{ used: number }>('send_slots_used', USED, [account, day])
      return rows[0]?.used ?? 0
    },
  }
}
