/** Runs of apps in PostgreSQL: what somebody asks for, what controllers make of it, and what it printed (rules/app.md#commands). */
import {
  type AppRun,
  type NewRun,
  OUTPUT_KEPT_BYTES,
  RUNS_KEPT,
  RUNS_OPEN_MAX,
  type RunEnd,
  type RunsWorld,
  type ScheduleMark,
} from '../../../crds/app/runs/run.ts'
import type { NewEvent } from '../../../crds/kernel/event.ts'
import type { Sealer } from '../../base/seal.ts'
import { LEASE } from '../pg/fence.ts'
import type { Pg } from '../pg/pg.ts'

/** `full`: as many of the app wait or run as may. `mismatch`: the id is another app's. */
export type RunAsked = { outcome: 'asked' | 'held'; run: AppRun } | { outcome: 'full' | 'mismatch'; run: null }

export type RunOutput = { chunks: { start: number; content: string }[]; run: AppRun | null }

export type RunStore = {
  /** Enters what somebody asks for, or finds it under its id. */
  ask(run: NewRun, env: Readonly<Record<string, string>>, at: string): Promise<RunAsked>
  run(id: string): Promise<AppRun | null>
  cancel(id: string, at: string): Promise<AppRun | null>
  /** What was printed from a byte on, as far as it is kept; at most so many pieces. */
  output(id: string, from: number): Promise<RunOutput>
  /** Of one app, newest first: those of each schedule. */
  scheduled(app: string): Promise<AppRun[]>
}

export type RunLedger = {
  observe(app: string): Promise<RunsWorld>
  /** Enters what a release needs, or what fell due; null when another app has the id. */
  ask(run: NewRun, at: string): Promise<AppRun | null>
  /** Null when it was not waiting any more. */
  begin(of: { id: string; release: number; at: string }): Promise<AppRun | null>
  end(of: { id: string; ending: RunEnding; told: NewEvent | null; at: string }): Promise<AppRun | null>
  /** Null when those bytes were taken in before, or the run has ended. */
  addOutput(of: {
    id: string
    from: number
    to: number
    lost: number
    content: string
    at: string
  }): Promise<AppRun | null>
  drop(id: string, at: string): Promise<void>
  mark(app: string, marks: readonly ScheduleMark[]): Promise<void>
  /** What was given with it. */
  env(id: string): Promise<Record<string, string>>
}

type RunEnding = { state: RunEnd; exitCode: number | null; code: string | null; message: string }

/** Of those that have ended, as many are in a pass's world: whoever waits for one finds it in the view. */
const ENDED_SEEN = 20
/** Pieces of output in one answer. */
const PIECES_MAX = 64

/** What the env of a run belongs to. */
export const aboutRunEnv = (id: string): string => JSON.stringify(['app run', id])

/** PostgreSQL holds no NUL and no half of a pair. */
const clean = (text: string): string => text.toWellFormed().replaceAll('\0', '')
const textOf = (value: unknown): string =>
  JSON.stringify(value, (_key, part) => (typeof part === 'string' ? clean(part) : part))

const ASK = 'select outcome, run from ask_app_run($1, $2, $3, $4, $5, $6, $7)'
const OUTPUT = `
select
  (select app_run_row(r) from app_runs r where r.id = $1) as run,
  (
    select coalesce(json_agg(json_build_object('start', p.start, 'content', p.content) order by p.start), '[]')
    from (
      select o.start, o.content from app_run_output o
      where o.run = $1 and o.start + octet_length(o.content) > $2 order by o.start limit $3
    ) p
  ) as chunks`
const SCHEDULED = `
select app_run_row(r) as run from app_runs r
where r.app = $1 and r.schedule is not null order by r.due_at desc, r.id`

type Row = { run: AppRun | null }

export const makeRunStore = ({ pg, sealer }: { pg: Pg; sealer: Sealer }): RunStore => ({
  async ask(run, env, at) {
    const sealed = run.envKeys.length === 0 ? null : sealer.seal(Buffer.from(JSON.stringify(env)), aboutRunEnv(run.id))
    const values = [LEASE, null, textOf(run), sealed, RUNS_OPEN_MAX, RUNS_KEPT, at]
    const { rows } = await pg.query<RunAsked>('ask_app_run', ASK, values)
    if (!rows[0]) throw new Error('ask_app_run gave no row')
    return rows[0]
  },
  async run(id) {
    const text = 'select app_run_row(r) as run from app_runs r where r.id = $1'
    return (await pg.query<Row>('app_run', text, [id])).rows[0]?.run ?? null
  },
  async cancel(id, at) {
    return (
      (await pg.query<Row>('cancel_app_run', 'select cancel_app_run($1, $2) as run', [id, at])).rows[0]?.run ?? null
    )
  },
  async output(id, from) {
    const { rows } = await pg.query<RunOutput>('app_run_output', OUTPUT, [id, from, PIECES_MAX])
    return rows[0] ?? { chunks: [], run: null }
  },
  async scheduled(app) {
    const { rows } = await pg.query<{ run: AppRun }>('app_runs_scheduled', SCHEDULED, [app])
    return rows.map(({ run }) => run)
  },
})

/** @param deps.sealer for the purpose `app-env` */
export const makeRunLedger = (deps: { pg: Pg; epoch: () => number; sealer: Sealer }): RunLedger => {
  const { pg, epoch, sealer } = deps
  const first = async (name: string, text: string, values: readonly unknown[]): Promise<AppRun | null> =>
    (await pg.query<Row>(name, text, [LEASE, epoch(), ...values])).rows[0]?.run ?? null
  return {
    async observe(app) {
      const text = 'select runs, marks, wakes_at as "wakesAt" from observe_app_runs($1, $2)'
      const { rows } = await pg.query<RunsWorld>('observe_app_runs', text, [app, ENDED_SEEN])
      if (!rows[0]) throw new Error('observe_app_runs gave no row')
      return rows[0]
    },
    ask: (run, at) => first('ask_app_run', ASK, [textOf(run), null, RUNS_OPEN_MAX, RUNS_KEPT, at]),
    begin: ({ id, release, at }) =>
      first('begin_app_run', 'select run from begin_app_run($1, $2, $3, $4, $5)', [id, release, at]),
    end: ({ id, ending, told, at }) =>
      first('end_app_run', 'select run from end_app_run($1, $2, $3, $4, $5, $6)', [
        id,
        textOf(ending),
        told && textOf(told),
        at,
      ]),
    addOutput: ({ id, from, to, lost, content, at }) =>
      first('add_app_run_output', 'select run from add_app_run_output($1, $2, $3, $4, $5, $6, $7, $8, $9)', [
        ...[id, from, to, lost, clean(content), OUTPUT_KEPT_BYTES, at],
      ]),
    async drop(id, at) {
      await pg.query('drop_app_run', 'select drop_app_run($1, $2, $3, $4)', [LEASE, epoch(), id, at])
    },
    async mark(app, marks) {
      const values = [LEASE, epoch(), app, textOf(marks)]
      await pg.query('mark_app_schedules', 'select mark_app_schedules($1, $2, $3, $4)', values)
    },
    async env(id) {
      const text = 'select sealed from app_runs where id = $1'
      const { rows } = await pg.query<{ sealed: Buffer | null }>('app_run_env', text, [id])
      const sealed = rows[0]?.sealed
      if (!sealed) return {}
      return JSON.parse(sealer.open(sealed, aboutRunEnv(id)).toString('utf8')) as Record<string, string>
    },
  }
}
