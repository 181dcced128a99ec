/** What apps keep in the database: uploads, counted for each account, and purged when nobody can come back to them (rules/app.md#storage). */
import type { Pg } from '../pg/pg.ts'

/** Releases of an app that can be rolled back to with what they were made from. */
export const RELEASES_KEPT = 20
/** An upload that nothing names may still be asked for. */
export const SOURCE_KEPT_MS = 24 * 60 * 60 * 1_000
const BATCH = 200

export type Purged = { releases: number; sources: number; bytes: number }

export type AppStorage = {
  /** Bytes that the uploads and backups of an account take, as they are stored. */
  storedBytes(account: string): Promise<number>
  /** An upload that is there already is wanted again. */
  keepSource(account: string, digest: string): Promise<void>
}

const STORED = `
select (
  coalesce((
    select sum(b.bytes) from blobs b where b.sha256 in (
      select decode(one, 'hex') from app_sources s, lateral (values (s.sha256), (s.index_sha256)) as v(one)
      where s.account = $1
    )
  ), 0) + coalesce((select sum(k.taken) from app_backups k where k.account = $1), 0)
)::double precision as bytes`

export const makeAppStorage = ({ pg }: { pg: Pg }): AppStorage => ({
  async storedBytes(account) {
    return (await pg.query<{ bytes: number }>('app_stored_bytes', STORED, [account])).rows[0]?.bytes ?? 0
  },
  async keepSource(account, digest) {
    const text = 'update app_sources set created_at = now() where account = $1 and digest = $2'
    await pg.query('keep_app_source', text, [account, digest])
  },
})

/** Purges one batch. @param now the clock of the platform */
export const purgeAppStorage = async ({ pg, now }: { pg: Pg; now: () => Date }): Promise<Purged> => {
  const before = new Date(now().getTime() - SOURCE_KEPT_MS).toISOString()
  const text = 'select releases::integer, sources::integer, bytes::double precision from purge_app_storage($1, $2, $3)'
  const { rows } = await pg.query<Purged>('purge_app_storage', text, [before, RELEASES_KEPT, BATCH])
  return rows[0] ?? { releases: 0, sources: 0, bytes: 0 }
}
