/**
 * The logs of releases that are kept: what builds and starts said, and the last lines of a release that is gone, as they may be shown
 * (rules/app.md#kept-logs). Lines are counted over all steps of a release from 1.
 */
import type { LogFold } from '../../../crds/app/lifecycle/logs/reading.ts'
import { LEASE } from '../pg/fence.ts'
import type { Pg } from '../pg/pg.ts'

/** `run`: what it said while it ran, kept when it went. */
export const KEPT_STEPS = ['build', 'start', 'run'] as const
export type KeptStep = (typeof KEPT_STEPS)[number]

/** Which log of which release. */
export type KeptLog = { app: string; release: number; step: KeptStep }

export type KeptAppend = KeptLog & {
  /** Bytes of the host's log: from where on this was read, and how far. */
  from: number
  to: number
  fold: LogFold
  lines: readonly string[]
  /** Whose running step is said to be as far as `note`; null: nothing new is said. */
  operation: string
  note: string | null
  at: string
}

export type KeptLogs = {
  /** How far the host's log was read, and what the lines to come go on from. */
  state(log: KeptLog): Promise<{ taken: number; fold: LogFold | null }>
  /** @returns false, and nothing is kept, when somebody else has read on from there @throws StaleEpoch */
  append(append: KeptAppend): Promise<boolean>
  /** Says how far the running step of an operation is. @throws StaleEpoch */
  note(operation: string, note: string): Promise<void>
  sweep(now: Date): Promise<void>
}

/** PostgreSQL holds no NUL and no half of a pair. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (_key, part) => (typeof part === 'string' ? part.toWellFormed().replaceAll('\0', '') : part))

const STATE = `select taken::float8 as taken, fold from app_kept_logs where app = $1 and release = $2 and step = $3`
const APPEND = 'select keep_app_log($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) as kept'

export const makeKeptLogs = ({ pg, epoch }: { pg: Pg; epoch: () => number }): KeptLogs => ({
  async state({ app, release, step }) {
    const { rows } = await pg.query<{ taken: number; fold: LogFold | null }>('app_kept_log', STATE, [
      app,
      release,
      step,
    ])
    return rows[0] ?? { taken: 0, fold: null }
  },
  async append({ app, release, step, from, to, fold, lines, operation, note, at }) {
    const rows = [app, release, step, from, to, textOf(fold), textOf(lines), operation, note, at]
    const answer = await pg.query<{ kept: boolean }>('keep_app_log', APPEND, [LEASE, epoch(), ...rows])
    return answer.rows[0]?.kept ?? false
  },
  async note(operation, note) {
    await pg.query('note_app_step', 'select note_app_step($1, $2, $3, $4)', [LEASE, epoch(), operation, note])
  },
  async sweep(now) {
    await pg.query('sweep_app_logs', 'select sweep_app_logs($1, $2, $3)', [LEASE, epoch(), now.toISOString()])
  },
})

/** Lines `n` and following, in their order. */
export type KeptPart = { n: number; step: KeptStep; lines: string[] }

export type KeptLogReader = {
  /** Lines of a release behind the `after`th, a bounded number of them. */
  keptLines(app: string, release: number, after: number): Promise<KeptPart[]>
}

/** Parts that one look takes: each is what was read of the host at once. */
const PARTS_MAX = 50
const LINES = `select n, step, content from app_kept_lines
where app = $1 and release = $2 and n + count - 1 > $3 order by n limit ${PARTS_MAX}`

/** For the API. */
export const makeKeptLogReader = (pg: Pg): KeptLogReader => ({
  async keptLines(app, release, after) {
    const values = [app, release, after]
    const { rows } = await pg.query<{ n: number; step: KeptStep; content: string }>('app_kept_lines', LINES, values)
    return rows.map(({ n, step, content }) => {
      const skipped = Math.max(0, after + 1 - n)
      return { n: n + skipped, step, lines: content.split('\n').slice(skipped) }
    })
  },
})
