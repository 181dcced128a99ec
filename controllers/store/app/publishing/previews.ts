/** Which previews an app has, and which app is one (rules/app.md#previews). */
import type { PreviewEnd, PreviewRow, PreviewsWorld } from '../../../../crds/app/lifecycle/publishing/previewed.ts'
import type { NewEvent } from '../../../../crds/kernel/event.ts'
import { LEASE } from '../../pg/fence.ts'
import type { Page } from '../../pg/page.ts'
import type { Pg } from '../../pg/pg.ts'

export type PreviewRequest = Pick<PreviewRow, 'app' | 'parent' | 'ref' | 'expiresAt'> & {
  account: string
  /** How many the app may have at a time. */
  limit: number
  /** ISO. */
  at: string
}

/** `held`: it is this app's already. `other`: another app is the preview of the branch. */
export type PreviewOutcome = {
  outcome: 'taken' | 'held' | 'other' | 'full' | 'orphan' | 'nested'
  /** Which app is the preview of the branch. */
  held: string | null
}

export type AppPreviews = {
  take(request: PreviewRequest): Promise<PreviewOutcome>
  /** Of an app that never came. */
  giveBack(app: string): Promise<void>
  /** The open one of a branch. */
  ofBranch(parent: string, ref: string): Promise<PreviewRow | null>
  /** Newest first; those that ended a while ago too. */
  list(parent: string, page: Page): Promise<{ previews: PreviewRow[]; total: number }>
  one(parent: string, app: string): Promise<PreviewRow | null>
}

const COLUMNS = `p.app, p.parent, p.ref, iso_ms(p.created_at) as "createdAt", iso_ms(p.expires_at) as "expiresAt",
  iso_ms(p.ended_at) as "endedAt", p.reason`

const LIST = `
select
  (select count(*)::int from app_previews p where p.parent = $1) as total,
  (
    select coalesce(json_agg(r order by r."createdAt" desc, r.app), '[]')
    from (
      select ${COLUMNS} from app_previews p where p.parent = $1 order by p.created_at desc, p.app limit $2 offset $3
    ) r
  ) as previews`

const TAKE = 'select outcome, held from take_app_preview($1, $2, $3, $4, $5, $6, $7)'

export const makeTakePreview =
  ({ pg }: { pg: Pg }): AppPreviews['take'] =>
  async ({ app, parent, account, ref, limit, expiresAt, at }) => {
    const values = [app, parent, account, ref, limit, expiresAt, at]
    const { rows } = await pg.query<PreviewOutcome>('take_app_preview', TAKE, values)
    if (!rows[0]) throw new Error('take_app_preview gave no row')
    return rows[0]
  }

export const makeAppPreviews = ({ pg }: { pg: Pg }): AppPreviews => ({
  take: makeTakePreview({ pg }),
  async giveBack(app) {
    await pg.query('give_back_app_preview', 'select give_back_app_preview($1)', [app])
  },
  async ofBranch(parent, ref) {
    const text = `select ${COLUMNS} from app_previews p where p.parent = $1 and p.ref = $2 and p.ended_at is null`
    return (await pg.query<PreviewRow>('app_preview_of_branch', text, [parent, ref])).rows[0] ?? null
  },
  async list(parent, { limit, offset }) {
    const { rows } = await pg.query<{ previews: PreviewRow[]; total: number }>('app_previews', LIST, [
      ...[parent, limit, offset],
    ])
    return rows[0] ?? { previews: [], total: 0 }
  },
  async one(parent, app) {
    const text = `select ${COLUMNS} from app_previews p where p.parent = $1 and p.app = $2`
    return (await pg.query<PreviewRow>('app_preview', text, [parent, app])).rows[0] ?? null
  },
})

export type PreviewLedger = {
  /** What a pass over the app reads. */
  observe(app: string): Promise<PreviewsWorld>
  take: AppPreviews['take']
  end(app: string, reason: PreviewEnd, told: NewEvent, at: string): Promise<void>
}

const OBSERVE = `
select
  (select row_to_json(o) from (select ${COLUMNS} from app_previews p where p.app = $1) o) as own,
  (
    select coalesce(json_agg(r order by r."createdAt" desc, r.app), '[]')
    from (select ${COLUMNS} from app_previews p where p.parent = $1 and p.ended_at is null) r
  ) as open`

export const makePreviewLedger = ({ pg, epoch }: { pg: Pg; epoch: () => number }): PreviewLedger => ({
  async observe(app) {
    const { rows } = await pg.query<PreviewsWorld>('observe_app_previews', OBSERVE, [app])
    return rows[0] ?? { own: null, open: [] }
  },
  take: makeTakePreview({ pg }),
  async end(app, reason, told, at) {
    const values = [LEASE, epoch(), app, reason, JSON.stringify(told), at]
    await pg.query('end_app_preview', 'select end_app_preview($1, $2, $3, $4, $5, $6)', values)
  },
})
