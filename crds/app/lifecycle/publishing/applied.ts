/** How an apply of domains or of access goes on: a view of its plan and of the app, until its end is kept with the plan. */
import type { AppView, OperationView } from '../../view.ts'
import type { AppliedOutcome, AppliedStep, DomainPlan, PublishingPlan } from './plans.ts'

/** How long a CA may take before the apply is said to have failed; the route stands all the same. */
export const CERTIFICATE_LIMIT_MS = 10 * 60_000
/** A request that took a plan has written it by then, or was lost on the way. */
export const APPLY_LOST_MS = 2 * 60_000

/** What the view has to say of it. */
export type ShownApp = Pick<
  AppView,
  'domains' | 'readiness' | 'stalled' | 'release' | 'domain_plan' | 'access_plan' | 'access' | 'version'
>

const step = (name: AppliedStep['name'], state: AppliedStep['state'], message: string | null): AppliedStep => ({
  name,
  state,
  message,
})

const routeStepOf = (plan: PublishingPlan, app: ShownApp): AppliedStep => {
  if (app.release === null) return step('route', 'skipped', 'nothing is live yet; its first deploy brings the route')
  if (plan.sort === 'publication-policy') return step('route', 'succeeded', `access is ${app.access}`)
  const { hostnames } = plan.body as DomainPlan
  const waiting = app.domains.filter(({ hostname, served }) => hostnames.includes(hostname) && !served)
  const [first] = waiting
  if (first === undefined)
    return step('route', 'succeeded', hostnames.join(', ') || 'its own name below the host alone')
  if (first.code === null) return step('route', 'running', `${first.hostname} is on its way`)
  return step('route', 'failed', first.reason)
}

const certificateStepOf = (plan: PublishingPlan, app: ShownApp, isLate: boolean): AppliedStep => {
  if (plan.sort === 'publication-policy' || app.release === null) return step('certificate', 'skipped', null)
  const { hostnames } = plan.body as DomainPlan
  const lacking = app.domains.filter(
    ({ hostname, certificate }) =>
      hostnames.includes(hostname) && certificate?.state !== 'valid' && certificate?.state !== 'expiring',
  )
  if (lacking.length === 0) return step('certificate', 'succeeded', null)
  const names = lacking.map(({ hostname }) => hostname).join(', ')
  return step('certificate', isLate ? 'failed' : 'running', `none was seen yet for ${names}`)
}

const readinessStepOf = ({ readiness }: ShownApp): AppliedStep => {
  const failing = readiness.checks.find(({ ok }) => ok === false)
  if (readiness.state === 'ready') return step('readiness', 'succeeded', null)
  if (readiness.state === 'unknown') return step('readiness', 'skipped', 'it is not known')
  return step('readiness', 'failed', failing?.detail ?? null)
}

/** What the app says of an applied plan by now; null while it goes on. @param now ISO */
export const outcomeNow = (plan: PublishingPlan, app: ShownApp, now: string): AppliedOutcome | null => {
  const steps = stepsNow(plan, app, now)
  const failed = steps.find(({ name, state }) => name !== 'readiness' && state === 'failed')
  if (failed) {
    const code = failed.name === 'certificate' ? 'CERTIFICATE_MISSING' : (app.stalled?.code ?? 'DOMAIN_UNPROVEN')
    return { state: 'failed', code, message: failed.message, steps, at: now }
  }
  if (steps.some(({ state }) => state === 'running')) return null
  return { state: 'succeeded', code: null, message: null, steps, at: now }
}

const stepsNow = (plan: PublishingPlan, app: ShownApp, now: string): AppliedStep[] => {
  const since = Date.parse(plan.appliedAt ?? plan.takenAt ?? now)
  const isLate = Date.parse(now) - since > CERTIFICATE_LIMIT_MS
  return [routeStepOf(plan, app), certificateStepOf(plan, app, isLate), readinessStepOf(app)]
}

const isPresent = ({ id, sort }: PublishingPlan, app: ShownApp): boolean =>
  id === (sort === 'domain-config' ? app.domain_plan : app.access_plan)

type Standing = Pick<AppliedOutcome, 'steps' | 'code' | 'message'> & {
  state: OperationView['state']
  endedAt: string | null
}

const GOING: Standing = { state: 'running', steps: [], code: null, message: null, endedAt: null }

const LOST = 'what was to apply it was cut off: it was not applied, or another change came before its end was seen'

const isLost = ({ generation, takenAt }: PublishingPlan, now: string): boolean =>
  generation === null && takenAt !== null && Date.parse(now) - Date.parse(takenAt) > APPLY_LOST_MS

/** How it ended, where that is to be seen and was not kept yet. @param now ISO */
export const outcomeSeen = (plan: PublishingPlan, app: ShownApp, now: string): AppliedOutcome | null =>
  plan.outcome === null && isPresent(plan, app) ? outcomeNow(plan, app, now) : null

const standingOf = (plan: PublishingPlan, app: ShownApp | null, now: string): Standing => {
  const isHere = app !== null && isPresent(plan, app)
  const outcome = plan.outcome ?? (isHere ? outcomeNow(plan, app, now) : null)
  if (outcome !== null) return { ...outcome, endedAt: outcome.at }
  if (isHere) return { ...GOING, steps: stepsNow(plan, app, now) }
  const isOvertaken = app !== null && plan.generation !== null && app.version > plan.generation
  if (isOvertaken) return { ...GOING, state: 'unknown', message: 'another change came before its end was seen' }
  return app !== null && isLost(plan, now) ? { ...GOING, state: 'unknown', message: LOST } : GOING
}

/** The operation that applies a plan, as others of the app are shown. @param app null where there is none any more */
export const viewApplied = (plan: PublishingPlan, app: ShownApp | null, now: string): OperationView => {
  const { state, steps, code, message, endedAt } = standingOf(plan, app, now)
  const at = plan.appliedAt ?? plan.takenAt ?? plan.createdAt
  return {
    id: plan.operation ?? '',
    app: plan.app,
    kind: plan.sort,
    run: null,
    backup: null,
    runs: [],
    state,
    steps: steps.map(({ name, state, message }) => ({ name, state, started_at: at, ended_at: endedAt, message })),
    result: state === 'running' ? null : { release: null, code, detail: message, exit_code: null },
    cancel_requested: false,
    created_at: at,
    started_at: at,
    ended_at: endedAt,
  }
}
