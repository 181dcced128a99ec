/**
 * How far the running step of an operation is. What its job says on the host is read as it comes, kept as it may be shown, and told in one
 * sentence: in the operation every other second, in the resource's status less often (rules/app.md#progress).
 */
import { FOLD_START, foldLog } from '../../../../crds/app/lifecycle/logs/fold.ts'
import type { LogFold } from '../../../../crds/app/lifecycle/logs/reading.ts'
import type { JobStep } from '../../../../crds/app/steps.ts'
import type { JobOutput, JobState, Operation, Release } from '../../../../crds/app/world.ts'
import type { KeptLog, KeptLogs, KeptStep } from '../../../store/app/logs.ts'

/** Rows are written at most so often for an operation. */
const NOTE_EVERY_MS = 2_000
/** Each is a write to etcd. */
const SAY_EVERY_MS = 15_000
/** What is over by then is not worth a word. */
const SAY_FROM_MS = 5_000

export type Following = { operation: Pick<Operation, 'id' | 'app'>; release: Pick<Release, 'number'>; step: JobStep }

export type StepProgress = {
  /** From which byte on the log of the job is wanted. */
  wantedFrom(following: Following): Promise<number>
  /** The job as it is to be planned by: with what it has said where that is to be kept now, which is at its end and every other second. */
  due(following: Following, job: JobState): JobState
  /** Keeps what was read. @param redact takes the secrets out of a text */
  keep(following: Following, output: JobOutput, redact: (text: string) => string): Promise<void>
  /** One sentence, for those steps that say by themselves how far they are. */
  note(operation: Pick<Operation, 'id' | 'app'>, sentence: string): Promise<void>
  /** How far it is, for the status of the resource; null while it is not worth a write. */
  said(operation: Pick<Operation, 'id' | 'app' | 'startedAt'>): string | null
  forget(app: string): void
}

type Known = {
  key: string
  taken: number
  fold: LogFold
  notedMs: number
}
type Saying = { operation: string; newest: string; said: string | null; saidMs: number }

const KEPT: Record<JobStep, KeptStep> = { images: 'build', start: 'start' }

/** The log of a job and where it is kept. */
const logOf = ({ operation, release, step }: Following): KeptLog => ({
  app: operation.app,
  release: release.number,
  step: KEPT[step],
})

const bytesText = new Intl.NumberFormat('en-US')

export const makeProgress = (deps: { logs: KeptLogs; now: () => Date; nowMs?: () => number }): StepProgress => {
  const { logs, now, nowMs = () => performance.now() } = deps
  /** Of the one that runs, by app. */
  const known = new Map<string, Known>()
  const sayings = new Map<string, Saying>()

  const stateOf = async (following: Following): Promise<Known> => {
    const log = logOf(following)
    const key = `${log.release}/${log.step}`
    const held = known.get(log.app)
    if (held?.key === key) return held
    const { taken, fold } = await logs.state(log)
    const read: Known = { key, taken, fold: fold ?? FOLD_START, notedMs: Number.NEGATIVE_INFINITY }
    known.set(log.app, read)
    return read
  }

  const hear = ({ id, app }: Pick<Operation, 'id' | 'app'>, newest: string): void => {
    const before = sayings.get(app)
    const kept = before?.operation === id ? before : { said: null, saidMs: Number.NEGATIVE_INFINITY }
    sayings.set(app, { operation: id, newest, said: kept.said, saidMs: kept.saidMs })
  }

  return {
    async wantedFrom(following) {
      return (await stateOf(following)).taken
    },
    due({ operation: { app } }, job) {
      const isEarly = nowMs() - (known.get(app)?.notedMs ?? Number.NEGATIVE_INFINITY) < NOTE_EVERY_MS
      return job.state === 'running' && isEarly ? { state: 'running' } : job
    },
    async keep(following, output, redact) {
      const log = logOf(following)
      const { operation, step } = following
      const state = await stateOf(following)
      const missed = output.from - state.taken
      const before = missed > 0 ? { ...state.fold, skips: true } : state.fold
      const { fold, lines, note } = foldLog(before, step, redact(output.text))
      const told =
        missed > 0 ? [`… ${bytesText.format(missed)} bytes came too fast and were not kept`, ...lines] : lines
      const appended = { from: state.taken, to: output.to, fold, lines: told.map(redact), operation: operation.id }
      const said = note === null ? null : redact(note)
      const isKept = await logs.append({ ...log, ...appended, note: said, at: now().toISOString() })
      // Somebody else has read on: what is known is not what stands there.
      if (!isKept) known.delete(log.app)
      else known.set(log.app, { ...state, taken: output.to, fold, notedMs: nowMs() })
      if (said !== null) hear(operation, said)
    },
    async note(operation, sentence) {
      hear(operation, sentence)
      await logs.note(operation.id, sentence)
    },
    said({ id, app, startedAt }) {
      const saying = sayings.get(app)
      if (saying?.operation !== id || startedAt === null) return null
      const isEarly = now().getTime() - Date.parse(startedAt) < SAY_FROM_MS
      if (!isEarly && nowMs() - saying.saidMs >= SAY_EVERY_MS) {
        saying.said = saying.newest
        saying.saidMs = nowMs()
      }
      return saying.said
    },
    forget(app) {
      known.delete(app)
      sayings.delete(app)
    },
  }
}
