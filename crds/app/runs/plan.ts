/**
 * What is done about the runs of an app, beside its operations: they have a lane of their own, so that a release neither waits
 * for them nor keeps them waiting. Each goes one way: entered, begun, started, followed, ended, cleaned away.
 */
import { isRestoring } from '../lifecycle/keeping/backups/backup.ts'
import type { AppResource } from '../schema.ts'
import type { AppWorld, JobState } from '../world.ts'
import { dueSteps } from './due.ts'
import { postReleaseSteps } from './release.ts'
import { type AppRun, isRunOpen, RUN_LOOK_MS, RUNS_AT_ONCE } from './run.ts'
import type { RunStep } from './steps.ts'

const isOfRelease = ({ cause }: AppRun): boolean => cause === 'pre_release' || cause === 'post_release'

/** Whether a running one is to be looked at: it costs a command on the host. */
export const isRunDue = ({ state, fetchedAt }: AppRun, now: Date): boolean =>
  state === 'running' && (fetchedAt === null || now.getTime() - Date.parse(fetchedAt) >= RUN_LOOK_MS)

const liveNumber = ({ releases }: AppWorld): number | null =>
  releases.find(({ state }) => state === 'live')?.number ?? null

/** In their order, as many as may run at once. */
const beginning = (world: AppWorld): RunStep[] => {
  const { runs } = world.runs
  const running = runs.filter((run) => run.state === 'running' && !isOfRelease(run)).length
  const live = liveNumber(world)
  const waiting = runs.filter((run) => run.state === 'queued' && !isToStop(run, world))
  const own = waiting.filter(isOfRelease)
  const others = live === null ? [] : waiting.filter((run) => !isOfRelease(run))
  return [...own, ...others.slice(0, Math.max(0, RUNS_AT_ONCE - running))].map((run) => ({
    do: 'beginRun',
    run,
    release: run.release ?? (live as number),
  }))
}

/** Somebody asked it to stop, or the release that it comes before is no more. */
const isToStop = (run: AppRun, { operations }: AppWorld): boolean =>
  run.cancelAt !== null ||
  (run.cause === 'pre_release' && operations.some(({ id, endedAt }) => id === run.operation && endedAt !== null))

const going = (run: AppRun, world: AppWorld, now: Date): RunStep[] => {
  const job: JobState | undefined = world.runs.jobs[run.id]
  if (job === undefined) return []
  // One that nobody has started never will be.
  if (job.state !== 'exited' && isToStop(run, world)) return [{ do: 'cancelRun', run }]
  if (job.state === 'absent') return [{ do: 'startRun', run }]
  return job.state === 'exited' || isRunDue(run, now) ? [{ do: 'followRun', run, job }] : []
}

const ending = (run: AppRun, world: AppWorld): RunStep[] => {
  const message = 'stopped before it began'
  return !isToStop(run, world) ? [] : [{ do: 'endRun', run, state: 'cancelled', code: null, message }]
}

/** Of one that has ended: what is left of it on the host. What was never begun has left nothing. */
const leaving = (run: AppRun, world: AppWorld): RunStep[] =>
  run.droppedAt === null && (run.startedAt === null || world.unreachable === null) ? [{ do: 'dropRun', run }] : []

const stepsOf = (run: AppRun, world: AppWorld, now: Date): RunStep[] => {
  if (run.state === 'queued') return ending(run, world)
  if (run.state === 'running') return going(run, world, now)
  return leaving(run, world)
}

/** @param now the platform's clock */
export const runSteps = (object: AppResource, world: AppWorld, now: Date): RunStep[] => {
  const { runs } = world.runs
  const steps = runs.flatMap((run) => stepsOf(run, world, now))
  const begun = world.unreachable === null && !isRestoring(world) ? beginning(world) : []
  return [...dueSteps(object, world, now), ...postReleaseSteps(world), ...begun, ...steps]
}

/** Why nothing is done for the app is why nothing is run in it. */
export const refusedRuns = (
  { runs: { runs } }: AppWorld,
  { code, message }: { code: string; message: string },
): RunStep[] =>
  runs.filter(({ state }) => state === 'queued').map((run) => ({ do: 'endRun', run, state: 'failed', code, message }))

/** Of an app that is deleted: all of them leave its host. */
export const leaveRuns = (world: AppWorld): RunStep[] => {
  if (!world.host || world.unreachable !== null) return []
  return world.runs.runs.filter(({ droppedAt }) => droppedAt === null).map((run) => ({ do: 'dropRun', run }))
}

/** While something of a release still runs in a command, the release stays. */
export const isInUse = ({ runs: { runs } }: AppWorld, release: number): boolean =>
  runs.some((run) => run.release === release && run.state === 'running')

/** Something is on its way: look again soon. */
export const hasRuns = ({ runs: { runs } }: AppWorld): boolean =>
  runs.some((run) => isRunOpen(run) || run.droppedAt === null)
