/** The way of a deleted app off its host: its operation ends, its route goes, then all that runs, then its rows. */
import { type Plan, ready, type Verdict, waiting } from '../../kernel/plan.ts'
import { leaveRuns } from '../runs/plan.ts'
import type { AppFacts, AppResource } from '../schema.ts'
import { type AppStep, jobIdOf } from '../steps.ts'
import type { AppWorld } from '../world.ts'
import { leaveBackups } from './keeping/backups/plan.ts'
import { CARRY_JOBS, carries, carryJobOf } from './keeping/moving/carry.ts'
import { leavePlaces } from './keeping/moving/leave.ts'
import { leavePreviews } from './publishing/preview.ts'
import { isOpen } from './transitions.ts'

const POLL_MS = 500
const RETRY_MS = 30_000

export const leaveSteps = (
  object: AppResource,
  world: AppWorld,
  now: Date,
): Omit<Plan<AppStep, AppFacts>, 'status'> => {
  const leaving = waiting('Leaving', 'is taken off its host', POLL_MS)
  const open = world.operations.filter(isOpen)
  if (open.length > 0) {
    const steps = open.flatMap((operation): AppStep[] => [
      ...(operation.state === 'running' && world.host ? cancels(operation) : []),
      { do: 'end', operation, state: 'cancelled', code: null, message: 'the app was deleted', log: null },
    ])
    return { steps, verdict: leaving }
  }
  const runs = leaveRuns(world)
  if (runs.length > 0) return { steps: runs, verdict: leaving }
  const backups = leaveBackups(world)
  if (backups !== null) return { steps: backups, verdict: leaving }
  const previews = world.previews.open.length > 0 ? leavePreviews(object, world, now) : null
  if (previews !== null) {
    return { steps: previews.steps, verdict: waiting('Leaving', 'its previews go first', previews.retryMs) }
  }
  const left = leavePlaces(world)
  if (left !== null) return { steps: left, verdict: leaving }
  const plan = leaveHost(object, world, leaving)
  // on record as ended once nothing of it is left, and before that is forgotten
  const isLast =
    plan.steps.every((step) => step.do === 'forget') && (plan.steps.length > 0 || plan.verdict.state === 'ready')
  const ending = isLast ? leavePreviews(object, world, now) : null
  return ending === null ? plan : { steps: ending.steps, verdict: leaving }
}

const leaveHost = (object: AppResource, world: AppWorld, leaving: Verdict): Omit<Plan<AppStep, AppFacts>, 'status'> => {
  const isHeld = world.slugHolder === object.metadata.name || world.releases.length > 0
  // One that never got its name has nothing on a host.
  if (!isHeld && world.hasRows) return { steps: [{ do: 'forget' }], verdict: leaving }
  if (!isHeld) return { steps: [], verdict: ready('Gone', 'nothing of it is left') }
  // A host that is no more has nothing of it.
  if (!world.host) return { steps: [{ do: 'forget' }], verdict: leaving }
  if (world.unreachable !== null) {
    return { steps: [], verdict: waiting('HostUnreachable', world.unreachable, RETRY_MS) }
  }
  if (world.releases.length === 0) return { steps: [{ do: 'forget' }], verdict: leaving }
  if (world.route) return { steps: [{ do: 'removeRoute' }], verdict: leaving }
  if (world.job === null || world.job.state === 'absent') return { steps: [{ do: 'clear' }], verdict: leaving }
  if (world.job.state === 'running') return { steps: [], verdict: leaving }
  if (world.job.code !== 0) return { steps: [{ do: 'clear' }], verdict: leaving }
  return { steps: [{ do: 'forget' }], verdict: leaving }
}

/** What starts again what was stopped goes first: nobody is to. */
const cancels = (operation: AppWorld['operations'][number]): AppStep[] => [
  ...(['images', 'start'] as const).map(
    (step): AppStep => ({ do: 'cancelJob', operation, job: jobIdOf(operation, step) }),
  ),
  ...(carries(operation) ? CARRY_JOBS : []).map(
    (job): AppStep => ({
      ...{ do: 'cancelJob', operation, job: carryJobOf(operation, job) },
      ...(job !== 'place' && { isHome: true }),
    }),
  ),
]
