/**
 * Judges compose files in a thread of its own: what a caller wrote may be slow to read, and the loop of either process serves
 * health, lease and everybody. Accounts take turns; a file that needs more than a judge may take is refused as any other.
 */
import type { ComposeVerdict } from '../../../crds/app/compose/judge.ts'
import type { DeployTarget } from '../../../crds/app/compose/project.ts'
import type { SourceIndex } from '../../../crds/app/sources/source.ts'
import { Waiting } from '../errors.ts'
import { type Asker, makeThreads, type ThreadLimits, TooDear } from '../threads/pool.ts'

/** The slowest file that the caps of characters and tokens let through takes a tenth of a second of CPU. */
export const JUDGE_LIMITS: ThreadLimits = {
  threads: 1,
  queueMax: 64,
  accountUnitsMax: 4,
  waitMaxMs: 10_000,
  cpuMaxMs: 2_000,
  wallMaxMs: 20_000,
  heapMaxMib: 128,
}

/** What a thread is given. */
export type JudgeJob = { ask: 'verdict' | 'named files'; source: SourceIndex; deployTarget: DeployTarget }
export type JudgeAnswer = { verdict: ComposeVerdict } | { namedFiles: string[] }

export type ComposeJudge = {
  /** As judgeCompose. @throws what `busy` makes when too much waits */
  judge(source: SourceIndex, deployTarget: DeployTarget, asker: Asker): Promise<ComposeVerdict>
  /** As envFilesOf and recipesOf; none of a file that is too much work, which the judge then says. */
  namedFiles(source: SourceIndex, deployTarget: DeployTarget, asker: Asker): Promise<string[]>
  close(): Promise<void>
}

const BUSY_RETRY_MS = 5_000

const ENTRY = new URL('./judgethread.ts', import.meta.url)

const tooDear = ({ composePath }: SourceIndex, { needs }: TooDear): ComposeVerdict => ({
  ok: false,
  findings: [
    {
      rule: 'size',
      level: 'refuse',
      pointer: '',
      file: composePath,
      line: 1,
      detail: `To judge the file needs ${needs}.`,
      next: 'Keep only what the project needs.',
    },
  ],
})

/** For whoever does it again by itself. */
export const judgeBusy = (): Waiting =>
  new Waiting(
    'UNAVAILABLE',
    'UNAVAILABLE: compose files wait to be judged; this one is when it is its turn',
    BUSY_RETRY_MS,
  )

/** @param busy what is thrown when too much waits: a reason to come again */
export const makeComposeJudge = (busy: () => Error, limits: ThreadLimits = JUDGE_LIMITS): ComposeJudge => {
  const threads = makeThreads<JudgeJob, JudgeAnswer>({ entry: ENTRY, what: 'The compose file', limits, busy })
  /** What is too much work is an answer. */
  const run = (job: JudgeJob, asker: Asker): Promise<JudgeAnswer | TooDear> =>
    threads.run(job, asker).catch((error: unknown) => {
      if (error instanceof TooDear) return error
      throw error
    })
  return {
    judge: async (source, deployTarget, asker) => {
      const judged = await run({ ask: 'verdict', source, deployTarget }, asker)
      if (judged instanceof TooDear) return tooDear(source, judged)
      if ('verdict' in judged) return judged.verdict
      throw new Error('the judge answered something else')
    },
    namedFiles: async (source, deployTarget, asker) => {
      const judged = await run({ ask: 'named files', source, deployTarget }, asker)
      return 'namedFiles' in judged ? judged.namedFiles : []
    },
    close: threads.close,
  }
}
