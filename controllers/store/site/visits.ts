/** How often sites were visited (sql/schema/033_visits.sql): counted by whoever leads, read by the api. */
import type { DayCounts } from '../../../crds/site/publishing/visits/fold.ts'
import type { VisitDays, VisitNames } from '../../../crds/site/publishing/visits/metrics.ts'
import { LEASE } from '../pg/fence.ts'
import type { Pg } from '../pg/pg.ts'

/** A part of a file, in bytes. */
export type ReadFile = { file: string; from: number; to: number }

export type VisitStore = {
  /** How far each file of a host was counted. */
  places(host: string): Promise<{ file: string; place: number }[]>
  /** @returns false when somebody has read on from there, and nothing is counted  @throws StaleEpoch */
  fold(host: string, files: readonly ReadFile[], days: readonly DayCounts[]): Promise<boolean>
  /** What is kept no longer. @param today YYYY-MM-DD by the platform's clock */
  sweep(today: string): Promise<void>
}

const PLACES = 'select file, place from visit_places where host = $1'
/** So often a file is known to be there still, though nothing was added to it. */
const TOUCHED =
  "select exists (select from visit_places where host = $1 and read_at < now() - interval '1 day') as stale"

export const makeVisitStore = ({ pg, epoch }: { pg: Pg; epoch: () => number }): VisitStore => ({
  places: async (host) => (await pg.query<{ file: string; place: number }>('visit_places', PLACES, [host])).rows,
  async fold(host, files, days) {
    if (days.length === 0 && files.every(({ from, to }) => from === to)) {
      const { rows } = await pg.query<{ stale: boolean }>('visit_places_stale', TOUCHED, [host])
      if (rows[0]?.stale !== true) return true
    }
    const values = [LEASE, epoch(), host, JSON.stringify(files), JSON.stringify(days)]
    const text = 'select fold_visits($1, $2, $3, $4, $5) as kept'
    return (await pg.query<{ kept: boolean }>('fold_visits', text, values)).rows[0]?.kept === true
  },
  async sweep(today) {
    await pg.query('sweep_visits', 'select sweep_visits($1, $2, $3)', [LEASE, epoch(), today])
  },
})

/** Days in UTC, both within. */
export type VisitSpan = { from: string; to: string }

export type VisitReader = {
  days(site: string, span: VisitSpan): Promise<VisitDays>
  /** Those looked at most, at most `limit` of each sort, and beside them '' for all that have no name of their own. */
  names(site: string, span: VisitSpan, limit: number): Promise<VisitNames>
}

const DAYS = `
select to_char(day, 'YYYY-MM-DD') as date, visits, visitors, robots from site_days
where site = $1 and day between $2 and $3 order by day`
const NAMES = `
select sort, shown as name, sum(visits)::bigint as visits
from (
  select sort, visits, case when turn <= $4 then name else '' end as shown
  from (
    select sort, name, sum(visits) as visits,
      row_number() over (partition by sort order by name = '', sum(visits) desc, name) as turn
    from site_day_names where site = $1 and day between $2 and $3 group by sort, name
  ) n
) s
group by sort, shown order by shown = '', sum(visits) desc, shown`

export const makeVisitReader = ({ pg }: { pg: Pg }): VisitReader => ({
  days: async (site, { from, to }) => (await pg.query<VisitDays[number]>('site_days', DAYS, [site, from, to])).rows,
  names: async (site, { from, to }, limit) =>
    (await pg.query<VisitNames[number]>('site_day_names', NAMES, [site, from, to, limit])).rows,
})
