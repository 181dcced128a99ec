/** When something of an app was not as it is to be, and what was tried: rows, each written once (rules/app.md#health). */
import type { PastEpisode } from '../../../crds/app/lifecycle/health/history.ts'
import type { Episode } from '../../../crds/app/lifecycle/health/seen.ts'
import type { NewEvent } from '../../../crds/kernel/event.ts'
import { LEASE } from '../pg/fence.ts'
import type { Page } from '../pg/page.ts'
import type { Pg } from '../pg/pg.ts'

export type NewEpisode = Pick<Episode, 'release' | 'code' | 'service' | 'exitCode' | 'detail' | 'log'> & {
  /** The number of a milder one that ends with it, untold; null for none. */
  instead: number | null
}

export type AppEpisodes = {
  /** The one that lasts; null while all is well. */
  open(app: string): Promise<Episode | null>
  /** Notes and tells it, unless one lasts already. @param at ISO */
  begin(app: string, episode: NewEpisode, told: NewEvent, at: string): Promise<void>
  /** Counts the next try. @returns whether it is the caller's to make: somebody may have been faster */
  attempt(app: string, episode: Pick<Episode, 'n' | 'attempts'>, at: string): Promise<boolean>
  end(app: string, n: number, told: NewEvent, at: string): Promise<void>
}

const COLUMNS = `e.n, e.release, e.code, e.service, e.exit_code as "exitCode", e.detail, e.log, iso_ms(e.began_at) as "beganAt",
  e.attempts, iso_ms(e.attempted_at) as "attemptedAt"`
const OPEN = `select ${COLUMNS} from app_episodes e where e.app = $1 and e.ended_at is null`

export type AppEpisodeReader = {
  /** Newest first; the last hundred are kept. */
  episodes(app: string, page: Page): Promise<{ episodes: PastEpisode[]; total: number }>
}

const PAST = `
select
  (select count(*)::int from app_episodes e where e.app = $1) as total,
  (
    select coalesce(json_agg(p order by p.n desc), '[]')
    from (
      select ${COLUMNS}, iso_ms(e.ended_at) as "endedAt"
      from app_episodes e where e.app = $1 order by e.n desc limit $2 offset $3
    ) p
  ) as episodes`

/** For the API. */
export const makeAppEpisodeReader = ({ pg }: { pg: Pg }): AppEpisodeReader => ({
  async episodes(app, { limit, offset }) {
    const values = [app, limit, offset]
    const { rows } = await pg.query<{ episodes: PastEpisode[]; total: number }>('app_episodes', PAST, values)
    return rows[0] ?? { episodes: [], total: 0 }
  },
})

/** PostgreSQL holds no NUL and no half of a pair; a log that was cut may have either. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (_key, part) => (typeof part === 'string' ? part.toWellFormed().replaceAll('\0', '') : part))

export const makeAppEpisodes = ({ pg, epoch }: { pg: Pg; epoch: () => number }): AppEpisodes => ({
  open: async (app) => (await pg.query<Episode>('observe_app_episode', OPEN, [app])).rows[0] ?? null,
  async begin(app, episode, told, at) {
    const values = [LEASE, epoch(), app, textOf(episode), textOf(told), at]
    await pg.query('begin_app_episode', 'select begin_app_episode($1, $2, $3, $4, $5, $6)', values)
  },
  async attempt(app, { n, attempts }, at) {
    const values = [LEASE, epoch(), app, n, attempts + 1, at]
    const text = 'select try_app_mend($1, $2, $3, $4, $5, $6) as done'
    const { rows } = await pg.query<{ done: boolean }>('try_app_mend', text, values)
    return rows[0]?.done ?? false
  },
  async end(app, n, told, at) {
    await pg.query('end_app_episode', 'select end_app_episode($1, $2, $3, $4, $5, $6)', [
      ...[LEASE, epoch(), app, n, textOf(told), at],
    ])
  },
})
