import { runEnding } from '../../../../crds/app/runs/ending.ts'
import type { AppRun, NewRun } from '../../../../crds/app/runs/run.ts'
import type { RunStep } from '../../../../crds/app/runs/steps.ts'
import type { AppWorld, JobState } from '../../../../crds/app/world.ts'

/** A model of what the ledger and the host make of each step of a run, beside that of the app (app.ts). */

const AT = '2026-11-22T10:00:00.000Z'

export const aRun = (change: Partial<AppRun> = {}): AppRun => ({
  id: 'op-run',
  app: 'app-1',
  account: 'demo',
  cause: 'asked',
  service: 'web',
  command: ['migrate', '--all'],
  timeoutSeconds: 60,
  repeatable: false,
  envKeys: [],
  operation: null,
  attempt: 1,
  schedule: null,
  dueAt: null,
  release: null,
  state: 'queued',
  exitCode: null,
  code: null,
  message: null,
  taken: 0,
  lost: 0,
  outputFirst: 0,
  outputNext: 0,
  tail: null,
  createdAt: AT,
  startedAt: null,
  endedAt: null,
  cancelAt: null,
  fetchedAt: null,
  droppedAt: null,
  ...change,
})

/** A job whose command ended with this code. */
export const ranWith = (code: number): JobState => ({
  state: 'exited',
  code: 0,
  log: `bottega: code ${code} false\n`,
  cancelled: false,
})

const entered = ({ skipped, command, ...run }: NewRun): AppRun => ({
  ...aRun(run),
  command: [...command],
  ...(skipped && { ...skipped, state: 'skipped' as const, endedAt: AT, droppedAt: AT }),
})

const withRuns = (world: AppWorld, change: Partial<AppWorld['runs']>): AppWorld => ({
  ...world,
  runs: { ...world.runs, ...change },
})

const withRun = (world: AppWorld, id: string, change: Partial<AppRun>): AppWorld =>
  withRuns(world, { runs: world.runs.runs.map((run) => (run.id === id ? { ...run, ...change } : run)) })

const withJob = (world: AppWorld, id: string, job: JobState): AppWorld =>
  withRuns(world, { jobs: { ...world.runs.jobs, [id]: job } })

/** @param fate how the job of a run ends, as soon as it has begun */
export const runStepped = (
  world: AppWorld,
  step: RunStep,
  fate: (run: AppRun) => JobState = () => ranWith(0),
): AppWorld => {
  switch (step.do) {
    case 'askRun': {
      const { run } = step
      if (world.runs.runs.some(({ id }) => id === run.id)) return world
      const marks = world.runs.marks.map((mark) => (mark.name === run.schedule ? { ...mark, lastAt: run.dueAt } : mark))
      return withRuns(world, { runs: [...world.runs.runs, entered(run)], marks })
    }
    case 'beginRun': {
      const { run, release } = step
      const begun = withRun(world, run.id, { state: 'running', release, startedAt: AT })
      return withJob(begun, run.id, { state: 'absent' })
    }
    case 'startRun':
      return withJob(world, step.run.id, fate(step.run))
    case 'followRun': {
      const { run, job } = step
      // Whoever has just looked does not look again.
      if (job.state === 'running') return withRun(world, run.id, { fetchedAt: '2027-01-01T00:00:00.000Z' })
      return withRun(world, run.id, { ...runEnding(run, job, 'the last line\n'), endedAt: AT })
    }
    case 'endRun': {
      const { run, state, code, message } = step
      return withRun(world, run.id, { state, code, message, endedAt: AT, droppedAt: AT })
    }
    case 'cancelRun':
      return withJob(world, step.run.id, { state: 'exited', code: 137, log: '', cancelled: true })
    case 'dropRun':
      return withRun(world, step.run.id, { droppedAt: AT })
    case 'markSchedules':
      return withRuns(world, { marks: step.marks })
    case 'wakeAt':
      return withRuns(world, { wakesAt: step.dueAt })
    default:
      return step satisfies never
  }
}
