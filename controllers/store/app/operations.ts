/** The rows of an app: what a pass reads of them in one round trip, and every change that controllers make, each fenced. */

import type { AppWorld, Operation, OperationState, Release, ReleaseRecord } from '../../../crds/app/world.ts'
import type { NewEvent } from '../../../crds/kernel/event.ts'
import { LEASE } from '../pg/fence.ts'
import type { Pg } from '../pg/pg.ts'

/** How far back a pass looks: as far as one can roll back. */
const PAST_MAX = 50

export type AppRows = Pick<
  AppWorld,
  'slugHolder' | 'operations' | 'releases' | 'env' | 'passwordVersion' | 'route' | 'logs'
>

/** What was learned of a release by a step of its operation. */
export type KnownRelease = {
  record?: ReleaseRecord
  digest?: string
  address?: string
  state?: 'starting'
}

export type AppLedger = {
  observe(of: { app: string; host: string; slug: string; now: string }): Promise<AppRows>
  /** @returns the number of its release */
  begin(of: {
    operation: Operation
    source: string
    envVersion: number | null
    restoredFrom: number | null
    at: string
  }): Promise<number | null>
  /** The present step is done. @returns false when it was not the present one */
  pass(of: {
    operation: Operation
    step: string
    known: KnownRelease
    sealed: Buffer | null
    message: string | null
    at: string
  }): Promise<boolean>
  /** @returns false when somebody cancelled before */
  claimSwitch(operation: Operation, at: string): Promise<boolean>
  goLive(operation: Operation, event: NewEvent, at: string): Promise<boolean>
  end(of: {
    operation: Operation
    state: Exclude<OperationState, 'queued' | 'running'>
    code: string | null
    message: string
    log: string | null
    event: NewEvent | null
    at: string
  }): Promise<boolean>
  retire(app: string, release: number, at: string): Promise<void>
  /** The visitors are sent to `address`, where `release` listens. */
  setRoute(of: { app: string; release: number; digest: string; address: string }): Promise<void>
  removeRoute(app: string): Promise<void>
  forget(app: string, keepsVolumes: boolean): Promise<void>
  /** The next lines for who reads a log. `since`: where to go on; `ended`: there is no more. */
  addLog(of: { id: string; content: string; since: string | null; ended: boolean; at: string }): Promise<void>
}

type Observed = {
  slug_holder: string | null
  operations: Operation[]
  releases: Release[]
  env: AppWorld['env']
  password_version: number | null
  route: AppWorld['route']
  logs: AppWorld['logs']
}

const OBSERVE = `
select slug_holder, operations, releases, env, password_version, route, logs from observe_app($1, $2, $3, $4, $5)`
const ADD_LOG = `
with wish as (
  update app_log_requests l set since = coalesce($3, l.since), ended = $4, fetched_at = $5 where l.id = $1 returning l.id
)
insert into app_log_chunks (request, n, content)
select w.id, coalesce((select max(c.n) from app_log_chunks c where c.request = w.id), 0) + 1, $2
from wish w where $2 <> ''`

export const makeAppLedger = ({ pg, epoch }: { pg: Pg; epoch: () => number }): AppLedger => {
  /** The one value that a fenced function gives. */
  const effect = async <T>(name: string, values: readonly unknown[]): Promise<T | undefined> => {
    const places = ['$1', '$2', ...values.map((_, index) => `$${index + 3}`)].join(', ')
    const { rows } = await pg.query<{ given: T }>(name, `select ${name}(${places}) as given`, [
      LEASE,
      epoch(),
      ...values,
    ])
    return rows[0]?.given
  }
  return {
    async observe({ app, host, slug, now }) {
      const { rows } = await pg.query<Observed>('observe_app', OBSERVE, [app, host, slug, now, PAST_MAX])
      const row = rows[0]
      if (!row) throw new Error('observe_app gave no row')
      const { slug_holder, password_version, ...rest } = row
      return { ...rest, slugHolder: slug_holder, passwordVersion: password_version }
    },
    begin: async ({ operation, source, envVersion, restoredFrom, at }) => {
      const id = operation.id.replace(/^op-/, 'rel-')
      const values = [operation.id, id, source, envVersion, restoredFrom, at]
      return (await effect<number>('begin_app_operation', values)) ?? null
    },
    pass: async ({ operation, step, known, sealed, message, at }) => {
      const values = [operation.id, step, JSON.stringify(known), sealed, message, at]
      return (await effect<boolean>('pass_app_step', values)) ?? false
    },
    claimSwitch: async (operation, at) => (await effect<boolean>('claim_app_switch', [operation.id, at])) ?? false,
    goLive: async (operation, event, at) =>
      (await effect<boolean>('app_goes_live', [operation.id, at, JSON.stringify(event)])) ?? false,
    end: async ({ operation, state, code, message, log, event, at }) => {
      const told = event && JSON.stringify(event)
      return (await effect<boolean>('end_app_operation', [operation.id, state, code, message, log, at, told])) ?? false
    },
    retire: async (app, release, at) => void (await effect('retire_app_release', [app, release, at])),
    setRoute: async ({ app, release, digest, address }) =>
      void (await effect('set_app_route', [app, release, digest, address])),
    removeRoute: async (app) => void (await effect('remove_app_route', [app])),
    forget: async (app, keepsVolumes) => void (await effect('forget_app', [app, keepsVolumes])),
    async addLog({ id, content, since, ended, at }) {
      await pg.query('add_app_log', ADD_LOG, [id, content.replaceAll('\0', ''), since, ended, at])
    },
  }
}
