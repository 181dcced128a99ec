/** Base domains of accounts, as the api claims, shows and gives them back (sql/functions/claim_base_domain.sql and its neighbours). */

import { PLATFORM } from '../../../crds/kernel/fields.ts'
import type { BaseRow } from '../../../crds/site/names/baseview.ts'
import type { Pg } from '../pg/pg.ts'

export type BaseStore = {
  /** `refused`: another account has proven it, what it lies below, or a part of it. `full`: the account has as many as it may. */
  claim(domain: string, account: string): Promise<'taken' | 'held' | 'refused' | 'full'>
  /** `live`: a site is served below it. */
  release(domain: string, account: string): Promise<'given' | 'live' | 'none'>
  /** The newest claim first. */
  list(account: string): Promise<BaseRow[]>
  /** Has the newest be looked at soon. @returns ISO: a look of then or later is the answer; null where there is none */
  askLook(account: string): Promise<string | null>
  /** The address of the host that names below a base domain lead to: the first that takes sites, by its name; null for none. */
  address(): Promise<string | null>
}

const LIST = `
select domain, state, looked_at as "lookedAt", due_at as "dueAt", seen_at as "seenAt", missing_since as "missingSince", until,
  reason, checks, names from base_domains($1)`
const ADDRESS = `
select coalesce(view ->> 'public_address', view ->> 'address') as address from mirror
where kind = 'Host' and account = '${PLATFORM}' and (view ->> 'takes_sites')::boolean and view ->> 'base_domain' is not null
  and view ->> 'site_root' is not null and not archived
order by name limit 1`

export const makeBaseStore = ({ pg }: { pg: Pg }): BaseStore => {
  const outcome = async <Outcome>(name: string, values: string[]): Promise<Outcome> => {
    const text = `select ${name}(${values.map((_, place) => `$${place + 1}`).join()}) as outcome`
    const { rows } = await pg.query<{ outcome: Outcome }>(name, text, values)
    const row = rows[0]
    if (!row) throw new Error(`${name} gave no outcome`)
    return row.outcome
  }
  return {
    claim: (domain, account) => outcome('claim_base_domain', [domain, account]),
    release: (domain, account) => outcome('release_base_domain', [domain, account]),
    list: async (account) => (await pg.query<BaseRow>('base_domains', LIST, [account])).rows,
    async askLook(account) {
      const text = 'select iso_ms(ask_base_look($1)) as at'
      return (await pg.query<{ at: string | null }>('ask_base_look', text, [account])).rows[0]?.at ?? null
    },
    async address() {
      return (await pg.query<{ address: string }>('site_address', ADDRESS)).rows[0]?.address ?? null
    },
  }
}
