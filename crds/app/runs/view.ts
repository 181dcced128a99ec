/** Runs, commands and schedules as REST and the status show them. Every key is always there. */
import type { OwnCondition } from '../../kernel/plan.ts'
import { toRest } from '../../kernel/rest.ts'
import { type AppSpec, spec as specSchema } from '../schema.ts'
import type { AppWorld, Operation, OperationState, OperationStep } from '../world.ts'
import { nextOf, parseCron } from './cron.ts'
import { failedPostRelease } from './release.ts'
import type { AppRun, RunCause, RunState } from './run.ts'
import type { AppSchedule } from './schema.ts'

export type RunView = {
  id: string
  app: string
  kind: 'run'
  state: OperationState
  steps: []
  result: { release: number | null; code: string | null; detail: string | null; exit_code: number | null } | null
  run: {
    cause: RunCause
    service: string
    command: string[]
    env_keys: readonly string[]
    timeout_seconds: number
    release: number | null
    operation_id: string | null
    schedule: string | null
    due_at: string | null
    output: { first: number; next: number; dropped: number }
  }
  backup: null
  runs: []
  cancel_requested: boolean
  created_at: string
  started_at: string | null
  ended_at: string | null
}

/** A run in the shape of an operation. */
export const viewRun = (run: AppRun): RunView => ({
  id: run.id,
  app: run.app,
  kind: 'run',
  // One that was left out never ran; its code says why.
  state: run.state === 'skipped' ? 'cancelled' : run.state,
  steps: [],
  result:
    run.endedAt === null
      ? null
      : { release: run.release, code: run.code, detail: run.message, exit_code: run.exitCode },
  run: {
    cause: run.cause,
    service: run.service,
    command: run.command,
    env_keys: run.envKeys,
    timeout_seconds: run.timeoutSeconds,
    release: run.release,
    operation_id: run.operation,
    schedule: run.schedule,
    due_at: run.dueAt,
    output: { first: run.outputFirst, next: run.outputNext, dropped: run.outputFirst + run.lost },
  },
  backup: null,
  runs: [],
  cancel_requested: run.cancelAt !== null,
  created_at: run.createdAt,
  started_at: run.startedAt,
  ended_at: run.endedAt,
})

type Last = Operation['runs'][number]

const STEP_STATES: Readonly<Record<RunState, OperationStep['state']>> = {
  queued: 'pending',
  running: 'running',
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'failed',
  unknown: 'failed',
  skipped: 'skipped',
}

const NEVER_LIVE: readonly OperationState[] = ['failed', 'cancelled', 'unknown']

export type ShownStep = Omit<OperationStep, 'name'> & { name: OperationStep['name'] | 'post_release' }

/** The step behind the last one, which the record of an operation does not have: it had ended when this began. */
const stepOf = (last: Last | undefined, { state }: Operation): ShownStep => ({
  name: 'post_release',
  state: last ? STEP_STATES[last.state] : NEVER_LIVE.includes(state) ? 'skipped' : 'pending',
  startedAt: last?.startedAt ?? null,
  endedAt: last?.endedAt ?? null,
  message: last?.message ?? null,
})

/** All of its steps, with what is run once the release is live. */
export const stepsShown = (operation: Operation): ShownStep[] => {
  const { steps, commands, runs } = operation
  if (!commands?.postRelease) return steps
  const last = runs.filter(({ cause }) => cause === 'post_release').at(-1)
  return [...steps, stepOf(last, operation)]
}

/** Its own runs, to read their output by. */
export const runsShown = ({ runs }: Operation): { id: string; step: RunCause; state: RunState }[] =>
  runs.map(({ id, cause, state }) => ({ id, step: cause, state }))

/** What the spec has run beside what serves, in REST names. */
export const viewCommands = ({ commands = {}, schedules = [] }: Pick<AppSpec, 'commands' | 'schedules'>) => {
  const { commands: shown, schedules: listed } = toRest(specSchema, { commands, schedules })
  const none = { pre_release: null, post_release: null }
  return { commands: { ...none, ...(shown as object) }, schedules: listed as ScheduleView[] }
}

/** A schedule in REST names. */
export type ScheduleView = Omit<AppSchedule, 'timeZone' | 'timeoutSeconds' | 'startingDeadlineSeconds'> & {
  time_zone: string
  timeout_seconds: number
  starting_deadline_seconds: number
}

/** With what became of it. @param runs newest first */
export const viewSchedule = (schedule: ScheduleView, runs: readonly AppRun[], now: Date) => {
  const parsed = parseCron(schedule.schedule)
  const isResting = schedule.suspended || 'fault' in parsed
  return {
    ...schedule,
    next_at: isResting ? null : nextOf(parsed.cron, schedule.time_zone, now),
    runs: runs.map((run) => ({
      operation_id: run.id,
      due_at: run.dueAt,
      state: run.state,
      exit_code: run.exitCode,
      code: run.code,
      detail: run.message,
      started_at: run.startedAt,
      ended_at: run.endedAt,
      duration_ms: run.startedAt && run.endedAt ? Date.parse(run.endedAt) - Date.parse(run.startedAt) : null,
      log_tail: run.tail,
    })),
  }
}

/** A command that came after a release and did not end well: visitors are on the release all the same. */
export const runConditions = (world: AppWorld): OwnCondition[] => {
  const failed = failedPostRelease(world)
  if (!failed) return []
  const message = `${failed.message ?? failed.state}; release ${failed.release} serves all the same`
  return [{ type: 'PostReleaseFailed', status: 'True', reason: 'CommandFailed', message }]
}
