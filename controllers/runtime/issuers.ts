/** Profiles of issuers in PostgreSQL: written by the API, read by every pass over an invoice. */
import type { Profile } from '../../crds/invoice/profile.ts'
import { makeBatch } from './batch.ts'
import type { Pg } from './pg.ts'

export type Issuers = {
  /** What is stored of one issuer; empty when nothing is. Many callers share one read. */
  profile(account: string, id: string): Promise<Profile>
  /** Changes the fields that are given; null empties one. Gives the profile as it stands then. */
  change(account: string, id: string, change: Record<string, unknown>): Promise<Profile>
}

const GET = `
select i.account, i.id, i.profile
from unnest($1::text[], $2::text[]) as k(account, id) join issuers i on i.account = k.account and i.id = k.id`
const CHANGE = `
insert into issuers as i (account, id, profile) values ($1, $2, jsonb_strip_nulls($3::jsonb))
on conflict (account, id) do update set profile = jsonb_strip_nulls(i.profile || $3::jsonb), updated_at = now()
returning profile`

export const makeIssuers = ({ pg }: { pg: Pg }): Issuers => {
  const read = makeBatch<[account: string, id: string], Profile>({
    inFlight: 2,
    async run(keys) {
      const distinct = [...new Map(keys.map((key) => [key.join('/'), key])).values()]
      const { rows } = await pg.query<{ account: string; id: string; profile: Profile }>('issuer_profiles', GET, [
        distinct.map(([account]) => account),
        distinct.map(([, id]) => id),
      ])
      const found = new Map(rows.map((row) => [`${row.account}/${row.id}`, row.profile]))
      return keys.map((key) => found.get(key.join('/')) ?? {})
    },
  })
  return {
    profile: (account, id) => read([account, id]),
    async change(account, id, change) {
      const { rows } = await pg.query<{ profile: Profile }>('change_issuer', CHANGE, [
        account,
        id,
        JSON.stringify(change),
      ])
      return rows[0]?.profile ?? {}
    },
  }
}
