/** The accounts as they were mirrored: for administrators, for teams, and for sign-in, which knows nothing but an address. */

import type { AccountView } from '../../../crds/account/view.ts'
import type { Page } from '../pg/page.ts'
import type { Pg } from '../pg/pg.ts'

export type Accounts = {
  /** Newest first, and how many there are in all. */
  list(page: Page): Promise<{ accounts: AccountView[]; total: number }>
  /** The holder of this address; case does not count. The oldest, should there be several. */
  byEmail(email: string): Promise<AccountView | undefined>
  /** Whom a resource belongs to, by its account; undefined while it was never mirrored. */
  byKey(account: string): Promise<AccountView | undefined>
  /** Everybody who is a member of one of these teams, by id; at most MEMBERS_MAX. */
  inTeams(teams: string[]): Promise<AccountView[]>
}

/**
 * SQL that joins the view of its account to each row of `table`, as `m.profile`; null while the account was never mirrored.
 * Whoever selects it has a ProfileRow: who asks is found out in one read with what the credential names.
 */
export const joinProfile = (table: string): string =>
  `left join lateral (select view as profile from mirror where kind = 'Account' and account = ${table}.account limit 1) m on true`
export type ProfileRow = { profile: AccountView | null }

export const MEMBERS_MAX = 1000

const LIST = `
select
  (
    select coalesce(json_agg(p.view), '[]') from (
      select m.view from mirror m where m.kind = 'Account'
      order by m.created_at desc, m.place desc limit $1 offset $2
    ) p
  ) as accounts,
  (select count(*) from mirror m where m.kind = 'Account') as total`
const BY_EMAIL = `
select m.view from mirror m where m.kind = 'Account' and lower(m.view ->> 'email') = lower($1)
order by m.created_at, m.place limit 1`
const BY_KEY = "select m.view from mirror m where m.kind = 'Account' and m.account = $1 limit 1"
const IN_TEAMS = `
select m.view from mirror m
where m.kind = 'Account' and (m.view -> 'teams')::jsonb ?| $1::text[]
order by m.name limit ${MEMBERS_MAX}`

export const makeAccounts = ({ pg }: { pg: Pg }): Accounts => ({
  async list({ limit, offset }) {
    const { rows } = await pg.query<{ accounts: AccountView[]; total: number }>('accounts_list', LIST, [limit, offset])
    return rows[0] ?? { accounts: [], total: 0 }
  },
  async byEmail(email) {
    const { rows } = await pg.query<{ view: AccountView }>('account_by_email', BY_EMAIL, [email])
    return rows[0]?.view
  },
  async byKey(account) {
    const { rows } = await pg.query<{ view: AccountView }>('account_by_key', BY_KEY, [account])
    return rows[0]?.view
  },
  async inTeams(teams) {
    if (teams.length === 0) return []
    const { rows } = await pg.query<{ view: AccountView }>('accounts_in_teams', IN_TEAMS, [teams])
    return rows.map((row) => row.view)
  },
})
