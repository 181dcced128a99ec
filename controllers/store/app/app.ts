/**
 * What the API writes of apps beside their resources: reserved names, uploads, versions of env and password, operations
 * that were asked for, and who reads a log. Nothing here does work on a host (rules/platform.md#reservations, #facts).
 */

import type { OperationDecision } from '../../../crds/app/lifecycle/events.ts'
import type { LogRequest, Operation, Release } from '../../../crds/app/world.ts'
import type { Sealer } from '../../base/seal.ts'
import type { Page } from '../pg/page.ts'
import type { Pg } from '../pg/pg.ts'
import { type KeptLogReader, makeKeptLogReader } from './logs.ts'
import { type AppOutcomes, makeAppOutcomes } from './outcomes.ts'
import { type AppRooms, makeAppRooms } from './rooms.ts'
import { type AppStorage, makeAppStorage } from './storage.ts'

/** `sha256` names the blob with the files, `indexSha256` the one with what the policy reads of them (SourceIndex). */
export type SourceRow = {
  account: string
  digest: string
  sha256: string
  indexSha256: string
  bytes: number
  files: number
}
export type EnvVersion = { version: number; env: Record<string, string> }
export type PasswordHash = { version: number; salt: Buffer; hash: Buffer }

export type AppStore = KeptLogReader &
  AppRooms &
  AppStorage & {
    /** 'held': it is this app's already. */
    takeSlug(request: {
      app: string
      account: string
      host: string
      slug: string
    }): Promise<'taken' | 'held' | 'refused'>
    giveBackSlug(app: string): Promise<void>
    putSource(source: SourceRow): Promise<void>
    source(account: string, digest: string): Promise<SourceRow | null>
    /** The newest version, or the one that is named; null when there is none. Opens the seal. */
    env(app: string, version?: number): Promise<EnvVersion | null>
    /**
     * Stores a new version made from the newest one; asked again when somebody stored in between.
     * @returns the newest version as it stands, which is an old one when nothing changed
     */
    putEnv(
      app: string,
      make: (env: Record<string, string>) => Record<string, string>,
    ): Promise<EnvVersion & { isNew: boolean }>
    /** Of a version that nobody was asked to run, for certain; one that is not the newest stays. */
    takeBackEnv(app: string, version: number): Promise<void>
    envKeys(app: string): Promise<{ version: number | null; keys: string[] }>
    putPassword(app: string, given: { salt: Buffer; hash: Buffer }): Promise<number>
    /** The n-th password of the app. */
    password(app: string, version: number): Promise<PasswordHash | null>
    /** Enters an operation, or finds it under its id; or says why not: QUEUE_FULL, IDEMPOTENCY_MISMATCH. */
    ask: AppOutcomes['ask']
    /** Of one that no spec asks for, for certain. @throws Error where another request has brought it along */
    takeBack(operation: Operation): Promise<void>
    operation(id: string): Promise<Operation | null>
    /** Those that wait or run, in the order of asking. */
    open(app: string): Promise<Operation[]>
    /** Asks it to stop, or says why that is TOO_LATE. */
    cancel(operation: Operation, at: string): Promise<OperationDecision>
    release(app: string, number: number): Promise<Release | null>
    /** The one that visitors get, by the rows: the view is a pass behind them. */
    live(app: string): Promise<Release | null>
    /** Of the release with this id; null when the app has none. */
    releaseNumber(app: string, id: string): Promise<number | null>
    releases(app: string, page: Page): Promise<{ releases: Release[]; total: number }>
    /** Somebody wants to read; wanted until then, unless asked again. */
    wantLogs(request: Omit<LogRequest, 'fetchedAt'> & { app: string; until: string }): Promise<void>
    /** How many read the log of an app now. */
    logReaders(app: string, at: string): Promise<number>
    stopLogs(id: string): Promise<void>
    /** What has come since the n-th chunk, and whether that is all. */
    logChunks(id: string, after: number): Promise<{ chunks: { n: number; content: string }[]; ended: boolean }>
  }

/** Somebody else stored a version in between, this often. */
const TRIES_MAX = 8

/** What a sealed env belongs to. */
export const aboutAppEnv = (app: string, version: number): string => JSON.stringify(['app env', app, version])

export const openEnv = (sealer: Sealer, app: string, version: number, sealed: Buffer): Record<string, string> =>
  JSON.parse(sealer.open(sealed, aboutAppEnv(app, version)).toString('utf8')) as Record<string, string>

const sameEnv = (a: Record<string, string>, b: Record<string, string>): boolean => {
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && a[key] === b[key])
}

/** @param deps.sealer for the purpose `app-env` */
export const makeAppEnv = ({ pg, sealer }: { pg: Pg; sealer: Sealer }) => {
  const env: AppStore['env'] = async (app, version) => {
    const { rows } = await pg.query<{ version: number; sealed: Buffer }>(
      'app_env',
      `select version, sealed from app_env where app = $1 and version = coalesce($2, version)
order by version desc limit 1`,
      [app, version ?? null],
    )
    const row = rows[0]
    return row ? { version: row.version, env: openEnv(sealer, app, row.version, row.sealed) } : null
  }
  const store = async (app: string, version: number, values: Record<string, string>): Promise<boolean> => {
    const sealed = sealer.seal(Buffer.from(JSON.stringify(values), 'utf8'), aboutAppEnv(app, version))
    const { rows } = await pg.query(
      'put_app_env',
      `insert into app_env (app, version, sealed, keys) values ($1, $2, $3, $4)
on conflict do nothing returning version`,
      [app, version, sealed, Object.keys(values).sort()],
    )
    return rows.length > 0
  }
  const putEnv: AppStore['putEnv'] = async (app, make) => {
    for (let left = TRIES_MAX; left > 0; left--) {
      const known = await env(app)
      const values = make(known?.env ?? {})
      if (known && sameEnv(known.env, values)) return { ...known, isNew: false }
      const version = (known?.version ?? 0) + 1
      if (await store(app, version, values)) return { version, env: values, isNew: true }
    }
    throw new Error(`the env of ${app} was stored by others ${TRIES_MAX} times in between`)
  }
  const takeBackEnv: AppStore['takeBackEnv'] = async (app, version) => {
    await pg.query('take_back_app_env', 'select take_back_app_env($1, $2)', [app, version])
  }
  return { env, putEnv, takeBackEnv }
}

const OPERATION = 'select app_operation_row(o) as operation from app_operations o where o.id = $1'
const OPEN =
  'select app_operation_row(o) as operation from app_operations o where o.app = $1 and o.ended_at is null order by o.n'
const RELEASES = `
select
  (select count(*) from app_releases r where r.app = $1) as total,
  (
    select coalesce(json_agg(app_release_row(p) order by p.number desc), '[]')
    from (select r.* from app_releases r where r.app = $1 order by r.number desc limit $2 offset $3) p
  ) as releases`

export const makeTakeSlug =
  (pg: Pg): AppStore['takeSlug'] =>
  async ({ app, account, host, slug }) => {
    const text = 'select outcome from take_app_slug($1, $2, $3, $4)'
    const { rows } = await pg.query<{ outcome: 'taken' | 'held' | 'refused' }>('take_app_slug', text, [
      app,
      account,
      host,
      slug,
    ])
    return rows[0]?.outcome ?? 'refused'
  }

export const makeSourceOf =
  (pg: Pg): AppStore['source'] =>
  async (account, digest) => {
    const text = `select account, digest, sha256, index_sha256 as "indexSha256", bytes, files
from app_sources where account = $1 and digest = $2`
    return (await pg.query<SourceRow>('app_source', text, [account, digest])).rows[0] ?? null
  }

const makeAsking = (pg: Pg): Pick<AppStore, 'ask' | 'cancel' | 'takeBack'> => {
  const { ask, change } = makeAppOutcomes({ pg, epoch: null })
  return {
    ask,
    cancel: (operation, at) => change({ operation, event: { on: 'cancel' }, at }),
    async takeBack({ id }) {
      const text = 'select take_back_app_operation($1) as done'
      const { rows } = await pg.query<{ done: boolean }>('take_back_app_operation', text, [id])
      if (!rows[0]?.done) throw new Error(`${id} is under way`)
    },
  }
}

const makeLogRequests = (pg: Pg): Pick<AppStore, 'wantLogs' | 'logReaders' | 'stopLogs' | 'logChunks'> => ({
  async wantLogs({ id, app, tail, follow, since, service, until }) {
    const text = `insert into app_log_requests (id, app, tail, follow, since, service, wanted_until) values ($1, $2, $3, $4, $5, $6, $7)
on conflict (id) do update set wanted_until = excluded.wanted_until`
    await pg.query('want_app_logs', text, [id, app, tail, follow, since, service, until])
    // What nobody came back for.
    await pg.query('lapse_app_logs', `select lapse_app_logs($1)`, [app])
  },
  async logReaders(app, at) {
    const text = `select count(*)::int as readers from app_log_requests l where l.app = $1 and not l.ended and l.wanted_until > $2`
    const { rows } = await pg.query<{ readers: number }>('app_log_readers', text, [app, at])
    return rows[0]?.readers ?? 0
  },
  async stopLogs(id) {
    await pg.query('stop_app_logs', 'delete from app_log_requests where id = $1', [id])
    await pg.query('drop_app_logs', 'delete from app_log_chunks where request = $1', [id])
  },
  async logChunks(id, after) {
    const text = `select
  (select coalesce(json_agg(json_build_object('n', c.n, 'content', c.content) order by c.n), '[]')
    from app_log_chunks c where c.request = $1 and c.n > $2) as chunks,
  coalesce((select l.ended from app_log_requests l where l.id = $1), true) as ended`
    const { rows } = await pg.query<{ chunks: { n: number; content: string }[]; ended: boolean }>(
      'app_log_chunks',
      text,
      [id, after],
    )
    return rows[0] ?? { chunks: [], ended: true }
  },
})

export const makeAppStore = ({ pg, sealer }: { pg: Pg; sealer: Sealer }): AppStore => ({
  ...makeAppRooms({ pg }),
  ...makeAppStorage({ pg }),
  ...makeAppEnv({ pg, sealer }),
  ...makeAsking(pg),
  ...makeLogRequests(pg),
  ...makeKeptLogReader(pg),
  takeSlug: makeTakeSlug(pg),
  source: makeSourceOf(pg),
  async giveBackSlug(app) {
    await pg.query('give_back_app_slug', 'select give_back_app_slug($1)', [app])
  },
  async putSource({ account, digest, sha256, indexSha256, bytes, files }) {
    const text = `insert into app_sources (account, digest, sha256, index_sha256, bytes, files)
values ($1, $2, $3, $4, $5, $6) on conflict (account, digest) do nothing`
    await pg.query('put_app_source', text, [account, digest, sha256, indexSha256, bytes, files])
  },
  async envKeys(app) {
    const text = 'select version, keys from app_env where app = $1 order by version desc limit 1'
    const { rows } = await pg.query<{ version: number; keys: string[] }>('app_env_keys', text, [app])
    return rows[0] ?? { version: null, keys: [] }
  },
  async putPassword(app, { salt, hash }) {
    const text = `insert into app_passwords (app, version, salt, hash)
select $1, coalesce(max(p.version), 0) + 1, $2, $3 from app_passwords p where p.app = $1 returning version`
    const { rows } = await pg.query<{ version: number }>('put_app_password', text, [app, salt, hash])
    return rows[0]?.version ?? 0
  },
  async password(app, version) {
    const text = 'select version, salt, hash from app_passwords where app = $1 and version = $2'
    return (await pg.query<PasswordHash>('app_password', text, [app, version])).rows[0] ?? null
  },
  async operation(id) {
    return (await pg.query<{ operation: Operation }>('app_operation', OPERATION, [id])).rows[0]?.operation ?? null
  },
  async open(app) {
    const { rows } = await pg.query<{ operation: Operation }>('app_operations_open', OPEN, [app])
    return rows.map(({ operation }) => operation)
  },
  async release(app, number) {
    const text = 'select app_release_row(r) as release from app_releases r where r.app = $1 and r.number = $2'
    return (await pg.query<{ release: Release }>('app_release', text, [app, number])).rows[0]?.release ?? null
  },
  async live(app) {
    const text = `select app_release_row(r) as release from app_releases r where r.app = $1 and r.state = 'live'`
    return (await pg.query<{ release: Release }>('app_release_live', text, [app])).rows[0]?.release ?? null
  },
  async releaseNumber(app, id) {
    const text = 'select number from app_releases where app = $1 and id = $2'
    return (await pg.query<{ number: number }>('app_release_number', text, [app, id])).rows[0]?.number ?? null
  },
  async releases(app, { limit, offset }) {
    const values = [app, limit, offset]
    const { rows } = await pg.query<{ releases: Release[]; total: number }>('app_releases', RELEASES, values)
    return rows[0] ?? { releases: [], total: 0 }
  },
})
