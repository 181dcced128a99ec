/** Uploads: what was sent for an app, when, and which of its releases were made of it (rules/app.md#sources). */
import type { ProjectKind } from '../../../crds/app/recognise/project.ts'
import type { GitOrigin } from '../../../crds/app/sources/source.ts'
import type { Page } from '../pg/page.ts'
import type { Pg } from '../pg/pg.ts'

/** What a project without a compose file was taken for, and why. */
export type KnownProject = { kind: ProjectKind; why: string[] }

export type AppUpload = {
  digest: string
  files: number
  bytes: number
  /** When it was sent last, ISO. */
  uploadedAt: string
  recognised: KnownProject | null
  git: GitOrigin | null
  /** Numbers of the app's releases that were made of it, newest first. */
  releases: number[]
}

/** All that an account has stored; bytes as they were before they were packed. */
export type StoredSources = { sources: number; bytes: number }

export type AppUploads = {
  /** @param upload.at by the platform's clock */
  note(
    upload: Pick<AppUpload, 'digest' | 'recognised' | 'git'> & { app: string; account: string; at: string },
  ): Promise<void>
  list(app: string, page: Page): Promise<{ uploads: AppUpload[]; total: number }>
  one(app: string, digest: string): Promise<AppUpload | null>
  stored(account: string): Promise<StoredSources>
}

const SHOWN = `
select u.digest, s.files, s.bytes, iso_ms(u.uploaded_at) as "uploadedAt", u.recognised, u.git,
  (
    select coalesce(json_agg(r.number order by r.number desc), '[]')
    from app_releases r where r.app = u.app and r.source = u.digest
  ) as releases
from app_uploads u join app_sources s on s.account = u.account and s.digest = u.digest`

const LIST = `
select
  (
    select count(*) from app_uploads u join app_sources s on s.account = u.account and s.digest = u.digest
    where u.app = $1
  ) as total,
  (
    select coalesce(json_agg(p order by p."uploadedAt" desc, p.digest), '[]')
    from (${SHOWN} where u.app = $1 order by u.uploaded_at desc, u.digest limit $2 offset $3) p
  ) as uploads`

/** When an account sent these files last, for whichever app (ISO); null for what it never sent. */
export const makeUploadedAt =
  (pg: Pg) =>
  async (account: string, digest: string): Promise<string | null> => {
    const text = 'select iso_ms(max(u.uploaded_at)) as at from app_uploads u where u.account = $1 and u.digest = $2'
    return (await pg.query<{ at: string | null }>('app_uploaded_at', text, [account, digest])).rows[0]?.at ?? null
  }

export const makeAppUploads = ({ pg }: { pg: Pg }): AppUploads => ({
  async note({ app, account, digest, recognised, git, at }) {
    const text = `insert into app_uploads (app, account, digest, recognised, git, uploaded_at) values ($1, $2, $3, $4, $5, $6)
on conflict (app, digest) do update set uploaded_at = excluded.uploaded_at,
  recognised = coalesce(excluded.recognised, app_uploads.recognised), git = coalesce(excluded.git, app_uploads.git)`
    const known = recognised && JSON.stringify({ kind: recognised.kind, why: recognised.why })
    await pg.query('note_app_upload', text, [app, account, digest, known, git && JSON.stringify(git), at])
  },
  async list(app, { limit, offset }) {
    const values = [app, limit, offset]
    const { rows } = await pg.query<{ uploads: AppUpload[]; total: number }>('app_uploads', LIST, values)
    return rows[0] ?? { uploads: [], total: 0 }
  },
  async one(app, digest) {
    const { rows } = await pg.query<AppUpload>('app_upload', `${SHOWN} where u.app = $1 and u.digest = $2`, [
      app,
      digest,
    ])
    return rows[0] ?? null
  },
  async stored(account) {
    const text = `select count(*) as sources, coalesce(sum(s.bytes), 0)::bigint as bytes from app_sources s where s.account = $1`
    const { rows } = await pg.query<StoredSources>('app_sources_stored', text, [account])
    return rows[0] ?? { sources: 0, bytes: 0 }
  },
})
