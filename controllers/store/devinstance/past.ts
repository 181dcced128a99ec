/**
 * What was: how each fact was decided, the whole history of a dev instance, the rows of those that were deleted
 * (rules/devinstance.md#tombstones), and all that was decided of one (rules/devinstance.md#costs).
 */
import { decidedCallOf, type JudgedBy } from '../../../crds/devinstance/facts.ts'
import type { DecidedCall } from '../../../crds/devinstance/life/rebuilt.ts'
import type { DevInstanceRow } from '../../../crds/devinstance/life/row.ts'
import type { HistoryEntry } from '../../../crds/devinstance/view.ts'
import type { Fault } from '../../../crds/kernel/problem.ts'
import type { Page } from '../pg/page.ts'
import type { Pg } from '../pg/pg.ts'

export type Tombstone = { id: string; owner: string; box: DevInstanceRow }
export type DevInstanceVerdict = {
  seq: number
  state: 'pending' | 'accepted' | 'refused'
  code: string | null
  detail: string | null
  faults: Fault[] | null
}
/** All that was decided of one, in the order of the decisions. */
export type DevInstanceLife = { id: string; calls: DecidedCall[] }
/** `account` null: everybody's. Without those that were deleted before `since` (ISO), and neither seen again nor told of since. */
export type LivesAsked = { account: string | null; since: string; after: string }
/** Each may have hundreds of facts. */
export const LIVES_AT_ONCE = 25
type Rows<Row> = { rows: Row[]; total: number }

export type Past = {
  /** How a fact stands; by its seq, or by its key when it is not known whether there is one. */
  verdict(resource: string, of: { seq: number } | { key: string }): Promise<DevInstanceVerdict | null>
  /** One page of the whole, newest first. */
  historyPage(resource: string, page: Page): Promise<Rows<HistoryEntry>>
  /** What is kept of one that was deleted. */
  tombstone(resource: string): Promise<Tombstone | null>
  /** One page of an account's, or of all of them, the last deleted first. */
  tombstones(of: { account: string; isAdmin: boolean }, page: Page): Promise<Rows<Tombstone>>
  /** The next of them by id, at most LIVES_AT_ONCE. */
  lives(asked: LivesAsked): Promise<DevInstanceLife[]>
}

const VERDICT = `
select seq, state, refused_code as code, refused_detail as detail, outcome -> 'faults' as faults
from facts where resource = $1 and (seq = $2 or key = $3)`
const HISTORY_PAGE = `
select
  (select count(*) from devbox_history where resource = $1) as total,
  (
    select coalesce(json_agg(page), '[]')
    from (
      select kind, iso_ms(at) as at, said_by ->> 'account' as by, version, data
      from devbox_history where resource = $1 order by n desc limit $2 offset $3
    ) page
  ) as rows`
const TOMBSTONE = `
select resource as id, account as owner, box from devboxes
where resource = $1 and deleted_at is not null and box is not null`
const TOMBSTONES = `
with gone as (select * from devboxes where deleted_at is not null and box is not null and ($2 or account = $1))
select
  (select count(*) from gone) as total,
  (
    select coalesce(json_agg(page), '[]')
    from (
      select resource as id, account as owner, box from gone order by deleted_at desc, resource limit $3 offset $4
    ) page
  ) as rows`

const LIVES = `
select d.resource as id, (
  select coalesce(json_agg(json_build_object(
    'kind', f.kind, 'body', f.body, 'at', iso_ms(f.at), 'outcome', f.outcome
  ) order by (f.outcome ->> 'rev')::bigint), '[]')
  from (
    select g.kind, g.body, g.at, coalesce(g.outcome, g.body -> 'outcome') as outcome
    from facts g where g.resource = d.resource and g.kind like 'devbox.%' and g.state <> 'pending'
  ) f
  where f.outcome is not null
) as facts
from devboxes d
where ($1::text is null or d.account = $1) and d.resource > $2 and (
  d.deleted_at is null or d.deleted_at >= $3 or (d.box #>> '{meter,monthlyMicroUsd}')::bigint > 0
  or exists (select from facts f where f.resource = d.resource and f.kind like 'devbox.%' and f.at >= $3)
)
order by d.resource limit ${LIVES_AT_ONCE}`

type DecidedFact = { kind: string; body: Record<string, unknown>; at: string; outcome: JudgedBy }

export const makePast = ({ pg }: { pg: Pg }): Past => {
  const first = async <Row>(name: string, text: string, values: unknown[]): Promise<Row | null> =>
    (await pg.query<Row>(name, text, values)).rows[0] ?? null
  return {
    verdict: (resource, of) =>
      first('devbox_verdict', VERDICT, [resource, 'seq' in of ? of.seq : null, 'key' in of ? of.key : null]),
    async historyPage(resource, { limit, offset }) {
      const values = [resource, limit, offset]
      return (await first<Rows<HistoryEntry>>('devbox_history_page', HISTORY_PAGE, values)) ?? { rows: [], total: 0 }
    },
    tombstone: (resource) => first('devbox_tombstone', TOMBSTONE, [resource]),
    async tombstones({ account, isAdmin }, { limit, offset }) {
      const values = [account, isAdmin, limit, offset]
      return (await first<Rows<Tombstone>>('devbox_tombstones', TOMBSTONES, values)) ?? { rows: [], total: 0 }
    },
    async lives({ account, since, after }) {
      const values = [account, after, since]
      const { rows } = await pg.query<{ id: string; facts: DecidedFact[] }>('devbox_lives', LIVES, values)
      return rows.map(({ id, facts }) => ({ id, calls: facts.map(decidedCallOf) }))
    },
  }
}
