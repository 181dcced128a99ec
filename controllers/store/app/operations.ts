/** The rows of an app: what a pass reads of them in one round trip, and every change that controllers make, each fenced. */

import type { Budget, ServiceLimits } from '../../../crds/app/compose/project.ts'
import type { LetInNote } from '../../../crds/app/lifecycle/publishing/letin.ts'
import type { AppWorld, Operation, Release } from '../../../crds/app/world.ts'
import { LEASE } from '../pg/fence.ts'
import type { Pg } from '../pg/pg.ts'
import { type AppOutcomes, makeAppOutcomes } from './outcomes.ts'
import { makeAppRooms } from './rooms.ts'

/** How far back a pass looks: as far as one can roll back. */
const PAST_MAX = 50

export type AppRows = Pick<
  AppWorld,
  'slugHolder' | 'room' | 'operations' | 'releases' | 'env' | 'passwordVersion' | 'route' | 'logs' | 'hasRows'
>

export type AppLedger = AppOutcomes & {
  observe(of: { app: string; host: string; slug: string; now: string }): Promise<AppRows>
  /** The visitors are sent to `address`, where `release` listens. */
  setRoute(of: { app: string; release: number; digest: string; address: string }): Promise<void>
  removeRoute(app: string): Promise<void>
  /** What is open at the app was ended for who is let in now. */
  noteLetIn(app: string, letIn: LetInNote): Promise<void>
  /** What runs of a release was given these limits, out of this budget. */
  applyBudget(of: AppliedBudget): Promise<void>
  forget(app: string, keepsVolumes: boolean): Promise<void>
  /** The next lines for who reads a log. `since`: where to go on; `ended`: there is no more. */
  addLog(of: { id: string; content: string; since: string | null; ended: boolean; at: string }): Promise<void>
}

export type AppliedBudget = { app: string; release: number; budget: Budget; limits: Record<string, ServiceLimits> }

type Observed = {
  slug_holder: string | null
  operations: Operation[]
  releases: Release[]
  env: AppWorld['env']
  password_version: number | null
  route: AppWorld['route']
  logs: AppWorld['logs']
  has_rows: boolean
}

const OBSERVE = `
select slug_holder, operations, releases, env, password_version, route, logs, has_rows from observe_app($1, $2, $3, $4, $5)`
const ADD_LOG = `
with wish as (
  update app_log_requests l set since = coalesce($3, l.since), ended = $4, fetched_at = $5 where l.id = $1 returning l.id
)
insert into app_log_chunks (request, n, content)
select w.id, coalesce((select max(c.n) from app_log_chunks c where c.request = w.id), 0) + 1, $2
from wish w where $2 <> ''`

const withoutOwn = (used: Budget, held: Budget | null): Budget => ({
  cpuMillis: used.cpuMillis - (held?.cpuMillis ?? 0),
  memoryMib: used.memoryMib - (held?.memoryMib ?? 0),
  diskGib: used.diskGib - (held?.diskGib ?? 0),
})

export const makeAppLedger = ({ pg, epoch }: { pg: Pg; epoch: () => number }): AppLedger => {
  const { rooms } = makeAppRooms({ pg })
  const effect = async (name: string, values: readonly unknown[]): Promise<void> => {
    const places = ['$1', '$2', ...values.map((_, index) => `$${index + 3}`)].join(', ')
    await pg.query(name, `select ${name}(${places})`, [LEASE, epoch(), ...values])
  }
  return {
    ...makeAppOutcomes({ pg, epoch }),
    async observe({ app, host, slug, now }) {
      const [{ rows }, { used, held }] = await Promise.all([
        pg.query<Observed>('observe_app', OBSERVE, [app, host, slug, now, PAST_MAX]),
        rooms(host, app),
      ])
      const row = rows[0]
      if (!row) throw new Error('observe_app gave no row')
      const { slug_holder, password_version, has_rows, ...rest } = row
      const room = { held, others: withoutOwn(used, held) }
      return { ...rest, slugHolder: slug_holder, passwordVersion: password_version, hasRows: has_rows, room }
    },
    setRoute: ({ app, release, digest, address }) => effect('set_app_route', [app, release, digest, address]),
    applyBudget: ({ app, release, budget, limits }) =>
      effect('apply_app_budget', [app, release, JSON.stringify(budget), JSON.stringify(limits)]),
    removeRoute: (app) => effect('remove_app_route', [app]),
    noteLetIn: (app, letIn) => effect('note_app_let_in', [app, JSON.stringify(letIn)]),
    forget: (app, keepsVolumes) => effect('forget_app', [app, keepsVolumes]),
    async addLog({ id, content, since, ended, at }) {
      await pg.query('add_app_log', ADD_LOG, [id, content.replaceAll('\0', ''), since, ended, at])
    },
  }
}
