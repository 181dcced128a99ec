/**
 * What applies of domains and of access share: the plan that was looked at, held against what is there, and the operation that
 * carries it out (rules/app.md#plans-of-publishing).
 */
import type { MirrorRow } from '../../../controllers/store/mirror.ts'
import { APP } from '../../../crds/app/kind.ts'
import { outcomeNow, viewApplied } from '../../../crds/app/lifecycle/publishing/applied.ts'
import {
  isPlanOver,
  matches,
  type PlanSort,
  type PublishingPlan,
} from '../../../crds/app/lifecycle/publishing/plans.ts'
import type { AppSpec } from '../../../crds/app/schema.ts'
import type { AppView } from '../../../crds/app/view.ts'
import { type Command, type GenerationGoal, generationGoal, judgeGeneration } from '../../command/command.ts'
import { editSpec } from '../../command/edit.ts'
import { nameFor } from '../../command/name.ts'
import { sameOwner } from '../../command/own.ts'
import { settle } from '../../command/settle.ts'
import { layingReady } from '../../command/written.ts'
import { Problem } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import type { Deps } from '../../wiring/deps.ts'
import type { AppNeeds } from '../needs.ts'
import { apps, operationPath } from '../read.ts'

type ApplyGoal = GenerationGoal & { plan: string; operation: string }

export type AnsweringApply = Pick<Deps, 'publishing' | 'now'>

export const applyCommand: Command<ApplyGoal, AppView, AnsweringApply> = {
  name: 'app.apply',
  kind: APP,
  judge: judgeGeneration,
  // a CA answers long after the row has taken it in
  isPatient: true,
  async answer({ publishing, now }, _asking, { plan: id, operation }, row) {
    const plan = await publishing.plan(id)
    if (row === undefined || plan === null) return null
    const at = now().toISOString()
    const outcome = plan.outcome ?? outcomeNow(plan, row.view, at)
    if (outcome === null) return null
    const shown = viewApplied({ ...plan, outcome }, row.view, at)
    return { status: 200, body: { operation_id: operation, operation: shown, app: row.view } }
  },
  /** How it ended stays so, whatever becomes of its names later. */
  async finish({ publishing, now }, { goal: { plan: id }, row }) {
    const plan = await publishing.plan(id)
    if (row === undefined || plan === null || plan.outcome !== null) return
    const outcome = outcomeNow(plan, row.view, now().toISOString())
    if (outcome !== null) await publishing.planEnded(id, outcome)
  },
}

/** @returns the plan that is to be applied, in the order of the checks that the contract gives @throws Problem */
const judged = async (
  deps: AppNeeds,
  request: ApiRequest,
  asked: { row: MirrorRow<AppView>; sort: PlanSort; etag: string; planId: string | undefined },
): Promise<PublishingPlan> => {
  const { row, sort, etag, planId } = asked
  const found = planId === undefined ? null : await deps.publishing.plan(planId)
  const plan = found !== null && found.app === row.name && found.sort === sort ? found : null
  // a repeat of the request that applied it, whose answer was lost: what is there is its own work
  if (plan !== null && request.idempotencyKey !== undefined && plan.operation === nameFor('op', request)) return plan
  const ifMatch = request.headers['if-match']
  if (ifMatch === undefined) throw new Problem('PRECONDITION_REQUIRED', 'An apply needs If-Match.')
  if (!matches(ifMatch, etag)) {
    throw new Problem('PRECONDITION_FAILED', `If-Match is ${ifMatch}, and what is there is ${etag}.`)
  }
  if (request.idempotencyKey === undefined) {
    throw new Problem('IDEMPOTENCY_KEY_REQUIRED', 'An apply needs an Idempotency-Key.')
  }
  if (plan !== null && (plan.etag !== etag || plan.operation !== null)) throw stale(plan)
  if (plan !== null && isPlanOver(plan, deps.now())) throw stale(plan, 'was made more than seven days ago')
  if (plan === null) throw new Problem('UNKNOWN_PLAN', `There is no plan ${planId ?? ''} of ${row.name}.`)
  return plan
}

const stale = ({ id }: PublishingPlan, why = 'was made before another change was applied'): Problem =>
  new Problem('PLAN_STALE', `Plan ${id} ${why}.`)

export const staleFor = (plan: PublishingPlan, why: string): Problem => stale(plan, why)

export type Applying = {
  row: MirrorRow<AppView>
  sort: PlanSort
  /** Of what the row shows, and of what the spec says. */
  etag: string
  etagOf(spec: AppSpec): string
  planId: string | undefined
  /** What refuses the plan though it is the right one. @throws Problem */
  judge(plan: PublishingPlan): Promise<void>
  /** The merge patch of the spec. */
  desire(plan: PublishingPlan): Promise<Record<string, unknown>>
  isApplied(spec: AppSpec, plan: PublishingPlan): boolean
}

/** Writes what was planned, unless something else was written since, and answers how it ended. @throws Problem */
export const apply = async (deps: AppNeeds, request: ApiRequest, applying: Applying): Promise<Answer> => {
  const { row } = applying
  const plan = await judged(deps, request, applying)
  if (plan.operation === null) await applying.judge(plan)
  const operation = nameFor('op', request)
  const write = async () => {
    const desire = await applying.desire(plan)
    const object = await editSpec<AppSpec>(deps, { kind: APP, name: row.name, whose: sameOwner(row) }, (spec) => {
      if (applying.isApplied(spec, plan)) return null
      if (applying.etagOf(spec) !== plan.etag) throw stale(plan)
      return desire
    })
    const { generation } = object.metadata
    await deps.publishing.planApplied(plan.id, { generation, at: deps.now().toISOString() })
    return { ...generationGoal(object.metadata), plan: plan.id, operation }
  }
  return settle(deps, request, applyCommand, {
    ...apps.commandOn(row),
    act: () =>
      layingReady({
        lay: async () => {
          if (!(await deps.publishing.takePlan(plan.id, operation, deps.now().toISOString())))
            throw stale(plan, 'is being applied already')
        },
        use: write,
        giveBack: () => deps.publishing.giveBackPlan(plan.id, operation),
      }),
    async pending() {
      const now = (await deps.publishing.plan(plan.id)) ?? plan
      return { operation_id: operation, operation: viewApplied(now, row.view, deps.now().toISOString()) }
    },
    operation: () => ({ id: operation, path: operationPath(operation) }),
  })
}
