/** Why a job of a release did not end well, with the line of its log that tells it (rules/app.md#the-failing-line). */
import type { ProblemCode } from '../../../kernel/problem.ts'
import { EXIT, reasonOf } from '../../start.ts'
import type { JobStep } from '../../steps.ts'
import type { JobState } from '../../world.ts'
import { failingLine } from './failing.ts'
import { linesIn } from './fold.ts'

type Ended = Extract<JobState, { state: 'exited' }>

/** Of these nothing more is known than the code says. */
const SAID: readonly number[] = [
  EXIT.filesDiffer,
  EXIT.imageMissing,
  EXIT.wrongProcessor,
  EXIT.notGuarded,
  EXIT.diskExceeded,
]
/** A service that goes on running says much, and seldom why nobody hears it: only what names a fault is told. */
const RUNNING: readonly number[] = [EXIT.noAnswer, EXIT.tooLate, EXIT.unhealthy]

/** Services as their author calls them, without the mark of their release. */
const withoutMark = (text: string, release: number): string =>
  `${text} `.replaceAll(`-r${release} `, ' ').replaceAll(`-r${release}:`, ':').trimEnd()

/** `the build failed: npm ERR! missing script: build`. The exit code of a build tells nothing beside the line. */
export const toldReason = (step: JobStep, job: Ended, release: number): { code: ProblemCode; detail: string } => {
  const { code, detail: said } = reasonOf(step, job)
  const detail = withoutMark(said, release)
  if (SAID.includes(job.code) || job.cancelled) return { code, detail }
  const line = failingLine(linesIn(step, job.log))
  if (line === null || (RUNNING.includes(job.code) && !line.isNamed)) return { code, detail }
  const plain = job.code === EXIT.buildFailed ? detail.replace(/: exit code \d{1,3}$/, '') : detail
  return { code, detail: `${plain}: ${line.text}` }
}
