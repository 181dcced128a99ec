/** What apps were asked and what they used, by the minute, for seven days (rules/app.md#usage). */
import type { AppMinute } from '../../../crds/app/lifecycle/usage/points.ts'
import { LEASE } from '../pg/fence.ts'
import type { Pg } from '../pg/pg.ts'

export type UsageStore = {
  /** Adds to the minutes in which it was seen. @throws StaleEpoch */
  count(seen: readonly (AppMinute & { app: string })[]): Promise<void>
}

export const makeUsageStore = ({ pg, epoch }: { pg: Pg; epoch: () => number }): UsageStore => ({
  async count(seen) {
    if (seen.length === 0) return
    await pg.query('count_app_minutes', 'select count_app_minutes($1, $2, $3)', [LEASE, epoch(), JSON.stringify(seen)])
  },
})

export type UsageReader = {
  /** Minutes of a span, in their order. ISO; `to` is not within. */
  minutes(app: string, span: { from: string; to: string }): Promise<AppMinute[]>
}

const MINUTES = `
select iso_ms(m.at) as at, m.requests, m.errors, m.took, m.cpu_ms as "cpuMs", m.looked, m.memory_mib as "memoryMib",
  m.disk_mib as "diskMib", m.restarts
from app_minutes m where m.app = $1 and m.at >= $2 and m.at < $3 order by m.at`

/** For the API. */
export const makeUsageReader = ({ pg }: { pg: Pg }): UsageReader => ({
  minutes: async (app, { from, to }) => (await pg.query<AppMinute>('app_minutes', MINUTES, [app, from, to])).rows,
})
