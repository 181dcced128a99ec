/**
 * Steps of runs: each is a row under a condition, or a job under the run's own id, so that whoever is killed in between neither
 * runs a command twice nor loses how it ended (rules/app.md#commands).
 */
import { APP } from '../../../../crds/app/kind.ts'
import { urlOf } from '../../../../crds/app/lifecycle/publishing/url.ts'
import { makeRedact } from '../../../../crds/app/lifecycle/redact.ts'
import { type RunEnding, runEnding } from '../../../../crds/app/runs/ending.ts'
import { type AppRun, isRunOpen, runJobOf, runNameOf } from '../../../../crds/app/runs/run.ts'
import type { RunStep } from '../../../../crds/app/runs/steps.ts'
import type { AppResource } from '../../../../crds/app/schema.ts'
import { EXIT } from '../../../../crds/app/start.ts'
import type { AppWorld } from '../../../../crds/app/world.ts'
import { keepsApart } from '../../../../crds/host/isolation.ts'
import type { NewEvent } from '../../../../crds/kernel/event.ts'
import type { Events } from '../../../kube/events.ts'
import type { RunLedger } from '../../../store/app/runs.ts'
import type { Schedule } from '../../../store/ledger/schedule.ts'
import { JOB_WAIT_MS } from '../jobs.ts'
import { targetHostOf } from '../observe.ts'
import { fetchOutput, runJob } from '../runjobs.ts'
import { RUN_DROP, RUN_STOP } from '../scripts.ts'
import { type ActContext, type Apply, instantOf } from './context.ts'

export type RunDeps = {
  runs: RunLedger
  schedule: Pick<Schedule, 'put'>
  events?: Events | undefined
  /** Counts one that ended, by why it was run and how it ended. */
  onRunEnded?: ((cause: AppRun['cause'], state: AppRun['state']) => void) | undefined
}

type RunContext = ActContext & RunDeps
type StepOf<Do extends RunStep['do']> = Extract<RunStep, { do: Do }>

const STOP_DEADLINE_MS = 20_000
/** Pieces of one output in one step: what is left comes with the next. */
const PIECES_MAX = 8

const withRuns = (world: AppWorld, change: Partial<AppWorld['runs']>): AppWorld => ({
  ...world,
  runs: { ...world.runs, ...change },
})

/** The row as it was stored; of one that somebody else was faster with the world is not what it was taken for. */
const applyRun = (run: AppRun | null): Apply => {
  if (run === null) return undefined
  return (world) => {
    const { runs } = world.runs
    const isKnown = runs.some(({ id }) => id === run.id)
    return withRuns(world, { runs: isKnown ? runs.map((one) => (one.id === run.id ? run : one)) : [...runs, run] })
  }
}

const askRun = async (context: RunContext, { run }: StepOf<'askRun'>): Promise<Apply> => {
  const apply = applyRun(await context.runs.ask(run, instantOf(context)))
  if (!apply || run.schedule === null) return apply
  return (world) => {
    const { marks } = world.runs
    const after = marks.map((mark) => (mark.name === run.schedule ? { ...mark, lastAt: run.dueAt } : mark))
    return withRuns(apply(world), { marks: after })
  }
}

const beginRun = async (context: RunContext, { run, release }: StepOf<'beginRun'>): Promise<Apply> => {
  const begun = await context.runs.begin({ id: run.id, release, at: instantOf(context) })
  const apply = applyRun(begun)
  return apply && ((world) => withRuns(apply(world), { jobs: { ...world.runs.jobs, [run.id]: { state: 'absent' } } }))
}

const FAILED: readonly AppRun['state'][] = ['failed', 'unknown']

/** What partners are told: of a schedule, or of what comes after a release. What comes before one is told with the release. */
const toldOf = (
  { hosts }: RunContext,
  { metadata, spec }: AppResource,
  run: AppRun,
  ending: RunEnding,
): NewEvent | null => {
  const isOfSchedule = run.cause === 'schedule'
  if (!FAILED.includes(ending.state) || !(isOfSchedule || run.cause === 'post_release')) return null
  return {
    kind: APP.kind,
    account: spec.account,
    type: isOfSchedule ? 'app.schedule_failed' : 'app.command_failed',
    data: {
      app: {
        id: metadata.name,
        slug: spec.slug,
        url: urlOf(spec, targetHostOf(hosts.facts(spec.hostId))),
        release: run.release,
        operation_id: run.id,
        kind: 'run',
        cause: run.cause,
        schedule: run.schedule,
        due_at: run.dueAt,
        state: ending.state,
        exit_code: ending.exitCode,
      },
    },
  }
}

const noteEnd = (context: RunContext, object: AppResource, run: AppRun, ending: RunEnding): void => {
  context.onRunEnded?.(run.cause, ending.state)
  if (!FAILED.includes(ending.state) || run.cause === 'asked') return
  const reason = { schedule: 'ScheduleFailed', pre_release: 'PreReleaseFailed', post_release: 'PostReleaseFailed' }[
    run.cause
  ]
  const message = run.schedule === null ? ending.message : `${run.schedule}: ${ending.message}`
  context.events?.emit({ object, kind: APP, type: 'Warning', reason, action: 'Run', message })
}

const end = async (context: RunContext, object: AppResource, run: AppRun, ending: RunEnding): Promise<Apply> => {
  const told = toldOf(context, object, run, ending)
  const ended = await context.runs.end({ id: run.id, ending, told, at: instantOf(context) })
  if (ended) noteEnd(context, object, ended, ending)
  return applyRun(ended)
}

const startRun = async (context: RunContext, object: AppResource, { run }: StepOf<'startRun'>): Promise<Apply> => {
  const { releases, hosts, runs } = context
  const { metadata, spec } = object
  const release = run.release as number
  const sealed = await releases.open(metadata.name, release)
  const isGuarded = keepsApart(hosts.facts(spec.hostId))
  const job = runJob(object, { run, release, sealed, env: await runs.env(run.id), isGuarded })
  if (!job) {
    const message = `release ${release} has no service ${run.service}`
    return end(context, object, run, { state: 'failed', exitCode: null, code: 'COMMAND_FAILED', message })
  }
  const state = await hosts.link(spec.hostId).startJob(job, { waitMs: JOB_WAIT_MS })
  return (world) => withRuns(world, { jobs: { ...world.runs.jobs, [run.id]: state } })
}

/** What a failure of the base was, which has no output of the command. */
const saidBefore = (job: StepOf<'followRun'>['job']): string =>
  job.state === 'exited' && (job.code === EXIT.baseFailed || job.code === EXIT.diskExceeded)
    ? `${job.log.trimEnd()}\n`
    : ''

const followRun = async (
  context: RunContext,
  object: AppResource,
  { run, job }: StepOf<'followRun'>,
): Promise<Apply> => {
  const { runs, logs, hosts } = context
  const link = hosts.link(object.spec.hostId)
  const ofApp = await logs.redactFor(run.app, run.release)
  const ofRun = makeRedact(Object.values(await runs.env(run.id)))
  const redact = (text: string): string => ofApp(ofRun(text))
  const isOver = job.state === 'exited'
  let known = run
  for (let pieces = 0; pieces < PIECES_MAX; pieces += 1) {
    const { to, lost, text, isAll } = await fetchOutput(link, known, isOver)
    const content = redact(`${text}${isAll ? saidBefore(job) : ''}`)
    const at = instantOf(context)
    const taken = await runs.addOutput({ id: run.id, from: known.taken, to, lost, content, at })
    if (taken === null) return undefined
    known = taken
    if (!isAll) continue
    if (!isOver) break
    const ending = runEnding(known, job, known.tail ?? '')
    return end(context, object, known, { ...ending, message: redact(ending.message) })
  }
  return applyRun(known)
}

const cancelRun = async (context: RunContext, { spec }: AppResource, { run }: StepOf<'cancelRun'>): Promise<Apply> => {
  const link = context.hosts.link(spec.hostId)
  const lines = [runNameOf(spec.slug, run)]
  await link.run({ script: RUN_STOP, lines, deadlineMs: STOP_DEADLINE_MS })
  const state = await link.cancelJob(runJobOf(run))
  return (world) => withRuns(world, { jobs: { ...world.runs.jobs, [run.id]: state } })
}

/** Of one that still runs it is the end, too: its app is deleted. */
const dropRun = async (context: RunContext, { spec }: AppResource, { run }: StepOf<'dropRun'>): Promise<Apply> => {
  const at = instantOf(context)
  if (run.startedAt !== null) {
    const link = context.hosts.link(spec.hostId)
    if (isRunOpen(run)) await link.cancelJob(runJobOf(run))
    const { code, stderr } = await link.run({
      script: RUN_DROP,
      lines: [runNameOf(spec.slug, run)],
      deadlineMs: STOP_DEADLINE_MS,
    })
    if (code !== 0) throw new Error(`the container of ${run.id} stays: ${stderr.slice(-300)}`)
    await link.dropJob(runJobOf(run))
  }
  await context.runs.drop(run.id, at)
  return (world) =>
    withRuns(world, {
      runs: world.runs.runs.map((one) => (one.id === run.id ? { ...one, droppedAt: at } : one)),
    })
}

const SCHEDULES = 'app-schedules'

const wakeAt = async (context: RunContext, { metadata }: AppResource, { dueAt }: StepOf<'wakeAt'>): Promise<Apply> => {
  const row = { purpose: SCHEDULES, lapsesAt: null, effect: null, generation: metadata.generation, factSeq: 0 }
  const rows = dueAt === null ? [] : [{ ...row, dueAt }]
  await context.schedule.put({ kind: APP.kind, resource: metadata.name, rows })
  return (world) => withRuns(world, { wakesAt: dueAt })
}

export const makeRunActs = (context: RunContext) => ({
  askRun: (step: StepOf<'askRun'>) => askRun(context, step),
  beginRun: (step: StepOf<'beginRun'>) => beginRun(context, step),
  startRun: (step: StepOf<'startRun'>, object: AppResource) => startRun(context, object, step),
  followRun: (step: StepOf<'followRun'>, object: AppResource) => followRun(context, object, step),
  endRun: ({ run, state, code, message }: StepOf<'endRun'>, object: AppResource) =>
    end(context, object, run, { state, exitCode: null, code: code as RunEnding['code'], message }),
  cancelRun: (step: StepOf<'cancelRun'>, object: AppResource) => cancelRun(context, object, step),
  dropRun: (step: StepOf<'dropRun'>, object: AppResource) => dropRun(context, object, step),
  async markSchedules({ marks }: StepOf<'markSchedules'>, { metadata }: AppResource): Promise<Apply> {
    await context.runs.mark(metadata.name, marks)
    return (world) => withRuns(world, { marks })
  },
  wakeAt: (step: StepOf<'wakeAt'>, object: AppResource) => wakeAt(context, object, step),
})
