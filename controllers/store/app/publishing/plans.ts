/** Plans of domains and of access, and how what applied them ended. */
import type { AppliedOutcome, PublishingPlan } from '../../../../crds/app/lifecycle/publishing/plans.ts'
import type { Pg } from '../../pg/pg.ts'

export type AppPlans = {
  put(plan: Omit<PublishingPlan, 'operation' | 'takenAt' | 'generation' | 'appliedAt' | 'outcome'>): Promise<void>
  plan(id: string): Promise<PublishingPlan | null>
  planOf(operation: string): Promise<PublishingPlan | null>
  /** Keeps a plan for one operation. @returns false where another has it */
  takePlan(id: string, operation: string, at: string): Promise<boolean>
  /** Of one that was not applied, for certain. */
  giveBackPlan(id: string, operation: string): Promise<void>
  /** @param of.generation of the spec that says so */
  planApplied(id: string, of: { generation: number; at: string }): Promise<void>
  /** The first that is said counts. */
  planEnded(id: string, outcome: AppliedOutcome): Promise<void>
}

const COLUMNS = `
id, app, account, sort, etag, body, iso_ms(created_at) as "createdAt", operation,
iso_ms(taken_at) as "takenAt", generation, iso_ms(applied_at) as "appliedAt",
case when ended_at is not null then json_build_object(
  'state', case when code is null then 'succeeded' else 'failed' end, 'code', code, 'message', message, 'steps', steps,
  'at', iso_ms(ended_at)
) end as outcome`
/** What nobody applied, or what was long ago. */
const PURGE = `delete from app_plans where app = $1 and created_at < $2::timestamptz - interval '90 days'`

export const makeAppPlans = ({ pg }: { pg: Pg }): AppPlans => {
  const one = async (name: string, where: string, value: string): Promise<PublishingPlan | null> => {
    const { rows } = await pg.query<PublishingPlan>(name, `select ${COLUMNS} from app_plans where ${where} = $1`, [
      value,
    ])
    return rows[0] ?? null
  }
  return {
    async put({ id, app, account, sort, etag, body, createdAt }) {
      await pg.query('purge_app_plans', PURGE, [app, createdAt])
      const text = `insert into app_plans (id, app, account, sort, etag, body, created_at) values ($1, $2, $3, $4, $5, $6, $7)
on conflict (id) do nothing`
      await pg.query('put_app_plan', text, [id, app, account, sort, etag, JSON.stringify(body), createdAt])
    },
    plan: (id) => one('app_plan', 'id', id),
    planOf: (operation) => one('app_plan_of', 'operation', operation),
    async takePlan(id, operation, at) {
      const text = `update app_plans set operation = $2, taken_at = coalesce(taken_at, $3) where id = $1 and (operation is null or operation = $2) returning id`
      return (await pg.query('take_app_plan', text, [id, operation, at])).rows.length > 0
    },
    async giveBackPlan(id, operation) {
      const text =
        'update app_plans set operation = null, taken_at = null where id = $1 and operation = $2 and generation is null'
      await pg.query('give_back_app_plan', text, [id, operation])
    },
    async planApplied(id, { generation, at }) {
      const text =
        'update app_plans set generation = coalesce(generation, $2), applied_at = coalesce(applied_at, $3) where id = $1'
      await pg.query('app_plan_applied', text, [id, generation, at])
    },
    async planEnded(id, { code, message, steps, at }) {
      const text =
        'update app_plans set code = $2, message = $3, steps = $4, ended_at = $5 where id = $1 and ended_at is null'
      await pg.query('app_plan_ended', text, [id, code, message, JSON.stringify(steps), at])
    },
  }
}
