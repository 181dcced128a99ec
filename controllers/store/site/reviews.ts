/** Sites in review over all accounts, as their views say it (sql/schema/036_reviews.sql). */
import { SITE } from '../../../crds/site/kind.ts'
import type { SiteView } from '../../../crds/site/view.ts'
import { MIRROR_COLUMNS, type MirrorRow, typedBy } from '../mirror.ts'
import type { Page } from '../pg/page.ts'
import type { Pg } from '../pg/pg.ts'

export const REVIEW_LISTS = ['open', 'decided'] as const
/** Who waits for a decision, longest first; and what was decided, newest first. */
export type ReviewList = (typeof REVIEW_LISTS)[number]

export type ReviewQueue = {
  /** @param account one account's alone; null for all */
  list(of: ReviewList, account: string | null, page: Page): Promise<{ rows: MirrorRow<SiteView>[]; total: number }>
}

const WHERE: Record<ReviewList, string> = {
  open: 'm.submitted_at is not null and m.decided_at is null',
  decided: 'm.decided_at is not null',
}
const ORDER: Record<ReviewList, string> = {
  open: 'm.submitted_at, m.place',
  decided: 'm.decided_at desc, m.place desc',
}

const listOf = (of: ReviewList): string => {
  const from = `from mirror m where ${WHERE[of]} and not m.archived and ($1::text is null or m.account = $1)`
  return `
select
  (select count(*) ${from}) as total,
  (
    select coalesce(json_agg(page), '[]')
    from (select ${MIRROR_COLUMNS} ${from} order by ${ORDER[of]} limit $2 offset $3) page
  ) as rows`
}

export const makeReviewQueue = ({ pg }: { pg: Pg }): ReviewQueue => ({
  async list(of, account, { limit, offset }) {
    const values = [account, limit, offset]
    const { rows } = await pg.query<{ rows: MirrorRow[]; total: number }>(`reviews_${of}`, listOf(of), values)
    const { rows: found, total } = rows[0] ?? { rows: [], total: 0 }
    return { rows: found.map((row) => typedBy(SITE, row)), total }
  },
})

/** `stage` is that of the last notice (crds/site/reviewing/notices.ts); -1 when nobody was told. */
export type WaitingReview = { site: string; since: string; stage: number }

const WAITING = `
select m.name as site, m.submitted_at as since,
  coalesce((
    select max((f.body ->> 'stage')::integer) from facts f
    where f.resource = m.name and f.kind = 'notice' and f.at >= m.submitted_at::timestamptz
  ), -1) as stage
from mirror m
where m.submitted_at is not null and m.decided_at is null and not m.archived`

export const makeWaitingReviews = ({ pg }: { pg: Pg }) => ({
  waiting: async (): Promise<WaitingReview[]> => (await pg.query<WaitingReview>('reviews_waiting', WAITING)).rows,
})
