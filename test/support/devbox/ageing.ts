/** Dev instances of a platform that runs, made older in its database: what a clock that is moved would do to all parts of it but those with one of their own. */
import { query } from '../../../hack/platform/postgres.ts'

/** As if all that was said of it had been said so many days earlier: facts are written once, so the guard is put away. */
export const backdate = async (databaseUrl: string, id: string, days: number): Promise<void> => {
  await query(databaseUrl, 'alter table facts disable trigger user')
  await query(databaseUrl, 'update facts set at = at - make_interval(days => $2) where resource = $1', [id, days])
  await query(databaseUrl, 'alter table facts enable trigger user')
}

/** As if it had begun, and reported for the last time, six minutes earlier: told with its next look. */
export const silence = async (databaseUrl: string, id: string): Promise<void> => {
  const report = `update devbox_report_heads set received_at = received_at - interval '6 minutes' where resource = $1`
  await query(databaseUrl, report, [id])
  const began = `to_jsonb(iso_ms((box->>'startedAt')::timestamptz - interval '6 minutes'))`
  await query(databaseUrl, `update devboxes set box = jsonb_set(box, '{startedAt}', ${began}) where resource = $1`, [
    id,
  ])
}
