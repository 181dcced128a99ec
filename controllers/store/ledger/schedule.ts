/**
 * The schedule in PostgreSQL: what is to happen to a resource at which instant (crds/kernel/schedule.ts). Written by passes, swept
 * by the leader, each row claimed once under the fence (sql/functions/turn_schedule.sql).
 */
import type { ResourceSchedule } from '../../../crds/kernel/schedule.ts'
import { makeBatch } from '../../base/batch.ts'
import { LEASE } from '../pg/fence.ts'
import { isItemFault, type Pg } from '../pg/pg.ts'
import type { FactState, FactVerdict } from './facts.ts'
import type { QueuedMail } from './ledger.ts'

/** How long a pass that was asked to look is given before it is asked again. */
const LOOK_AGAIN_MS = 60_000

/** `hasEffect` false: it only has the resource looked at. */
export type DueRow = {
  kind: string
  resource: string
  purpose: string
  generation: number
  factSeq: number
  hasEffect: boolean
  lapsesAt: string | null
}
type RowRef = Pick<DueRow, 'resource' | 'purpose'>
export type ScheduleTurn = {
  claims: readonly Pick<DueRow, 'resource' | 'purpose' | 'generation' | 'factSeq'>[]
  looks: readonly RowRef[]
  gone: readonly string[]
}
export type ClaimedRow = RowRef & { mailed: boolean }

export type Schedule = {
  /** The resource's rows are these and no others. Many callers share one commit. */
  put(plan: ResourceSchedule): Promise<void>
  /** What is due, the longest due first, without what a pass was asked to look at just now. */
  due(limit: number): Promise<DueRow[]>
  /** Claims what still holds, marks what is looked at, forgets what is gone. @returns what was claimed */
  turn(turn: ScheduleTurn): Promise<ClaimedRow[]>
  /** Decides on one fact and queues the mail that follows from it, in one transaction. */
  decide(verdict: FactVerdict, mail: QueuedMail | null): Promise<FactState>
  /** Takes away what a test invoice has left in the ledger. @returns how many documents went */
  purgeTest(resource: string): Promise<number>
}

const PUT = 'select put_schedule($1, $2, $3)'
const DUE = `
select kind, resource, purpose, generation, fact_seq as "factSeq", effect is not null as "hasEffect",
  iso_ms(lapses_at) as "lapsesAt"
from schedule
where due_at <= $1 and (looked_at is null or looked_at <= $2)
order by due_at, resource, purpose limit $3`
const TURN = 'select resource, purpose, mailed from turn_schedule($1, $2, $3, $4, $5, $6)'
const DECIDE = 'select state from decide_with_mail($1, $2, $3, $4)'
const PURGE = 'select documents from purge_test($1, $2, $3)'

type Pending = { plan: ResourceSchedule; epoch: number }

const putAll = async (pg: Pg, pending: Pending[]): Promise<undefined[]> => {
  const values = [LEASE, pending[0]?.epoch, JSON.stringify(pending.map(({ plan }) => plan))]
  await pg.query('put_schedule', PUT, values)
  return pending.map(() => undefined)
}

/** @param deps.now the platform's clock, which what is due goes by */
export const makeSchedule = (deps: { pg: Pg; epoch: () => number; now: () => Date }): Schedule => {
  const { pg, epoch, now } = deps
  const put = makeBatch<Pending, undefined>({
    run: (pending) => putAll(pg, pending),
    mayJoin: (chosen, next) =>
      chosen[0]?.epoch === next.epoch && chosen.every(({ plan }) => plan.resource !== next.plan.resource),
    isItemFault,
  })
  return {
    put: (plan) => put({ plan, epoch: epoch() }),
    async due(limit) {
      const at = now()
      const values = [at.toISOString(), new Date(at.getTime() - LOOK_AGAIN_MS).toISOString(), limit]
      return (await pg.query<DueRow>('schedule_due', DUE, values)).rows
    },
    async turn({ claims, looks, gone }) {
      const given = [JSON.stringify(claims), JSON.stringify(looks), gone]
      const values = [LEASE, epoch(), now().toISOString(), ...given]
      return (await pg.query<ClaimedRow>('turn_schedule', TURN, values)).rows
    },
    async decide(verdict, mail) {
      const values = [LEASE, epoch(), JSON.stringify(verdict), mail && JSON.stringify(mail)]
      const { rows } = await pg.query<{ state: FactState }>('decide_with_mail', DECIDE, values)
      if (!rows[0]) throw new Error('decide_with_mail left a fact undecided')
      return rows[0].state
    },
    async purgeTest(resource) {
      const { rows } = await pg.query<{ documents: number }>('purge_test', PURGE, [LEASE, epoch(), resource])
      return rows[0]?.documents ?? 0
    },
  }
}

const NEXT = 'select iso_ms(min(due_at)) as at from schedule where due_at > $1 and due_at <= $2'

/** The first instant after `after`, and not after `until`, at which something is due; null when nothing is. */
export const nextDue = async (pg: Pg, after: Date, until: Date): Promise<Date | null> => {
  const { rows } = await pg.query<{ at: string | null }>('schedule_next', NEXT, [
    after.toISOString(),
    until.toISOString(),
  ])
  return rows[0]?.at ? new Date(rows[0].at) : null
}
