/** Names of sites whose records are looked for in the DNS: which are due, and what was seen (sql/functions/keep_site_name.sql). */
import type { LookedName, NameRivals, NameRow, ProofCheck } from '../../../crds/names/life.ts'
import { LEASE } from '../pg/fence.ts'
import type { Pg } from '../pg/pg.ts'

/**
 * An account's claim of a domain, or of a base domain, which has no site. `site` is the site's name, or `App/<name>` for one of an
 * app, whose `host` visitors have to reach by it. `n` rises with every look that is kept.
 */
export type DueName = NameRow &
  NameRivals & { name: string; account: string; site: string; n: number; reason: string | null; host: string | null }

/** `stale`: the claim has changed since it was read. `held`: the name is another account's by now. */
export type KeptLook = 'kept' | 'stale' | 'held'

/** By turns of the accounts, so that one with many names keeps no other waiting. A contest holds for a day. */
const DUE = `
select d.name, d.account, d.site, d.n, d.state, d.proof, iso_ms(d.asked_at) as "askedAt", iso_ms(d.seen_at) as "seenAt",
  iso_ms(d.missing_since) as "missingSince", iso_ms(d.until) as until, d.reason,
  (select m.view ->> 'host_id' from mirror m where m.kind = 'App' and 'App/' || m.name = d.site) as host,
  coalesce(d.contested_at > $1::timestamptz - interval '1 day', false) as "isContested",
  (
    select json_build_object('until', iso_ms(h.until)) from site_names h
    where h.root = d.root and h.account <> d.account and h.state in ('verified', 'missing', 'lapsed', 'quarantined')
      and (h.until is null or h.until > $1) and names_overlap(h.name, d.name)
    order by h.until desc nulls first limit 1
  ) as holder
from (
  select n.*, row_number() over (partition by n.account order by n.due_at) as turn
  from site_names n where n.due_at <= $1
) d
order by d.turn, d.due_at limit $2`

/** Sites of an account that are not archived, by name. */
export const SITES_OF = "select name from mirror where kind = 'Site' and account = $1 and not archived order by name"

const HOLDERS_OF = `
select m.kind, m.name from mirror m
where m.account = $1 and not m.archived and (
  m.kind = 'Site' or m.kind = 'App' and exists (select from site_names n where n.site = 'App/' || m.name)
)`

export type NameLooks = {
  /** @param now by the platform's clock */
  due(now: Date, limit: number): Promise<DueName[]>
  /** @param at ISO @throws StaleEpoch */
  keep(
    of: Pick<DueName, 'name' | 'account' | 'n'>,
    looked: LookedName,
    at: string,
    contests: boolean,
  ): Promise<KeptLook>
  /** Of a name that follows its base domain: what was found of it, which changes nothing in its life. @throws StaleEpoch */
  keepChecks(
    of: Pick<DueName, 'name' | 'account' | 'n'>,
    found: { checks: ProofCheck[] | null; dueAt: string | null },
    at: string,
  ): Promise<void>
  /** Names that are kept no longer are free, and so are claims that nothing came of. */
  sweep(): Promise<void>
  /** Sites of an account, whose names change with its base domain, and its apps that have names. */
  holdersOf(account: string): Promise<{ kind: string; name: string }[]>
}

export const makeNameLooks = ({ pg, epoch }: { pg: Pg; epoch: () => number }): NameLooks => ({
  due: async (now, limit) => (await pg.query<DueName>('due_site_names', DUE, [now, limit])).rows,
  async keep({ name, account, n }, looked, at, contests) {
    const given = JSON.stringify({ name, account, n, ...looked, at, contests })
    const text = 'select keep_site_name($1, $2, $3) as outcome'
    const { rows } = await pg.query<{ outcome: KeptLook }>('keep_site_name', text, [LEASE, epoch(), given])
    const outcome = rows[0]?.outcome
    if (outcome === undefined) throw new Error('keep_site_name gave no outcome')
    return outcome
  },
  async keepChecks({ name, account, n }, { checks, dueAt }, at) {
    const text = 'select keep_name_checks($1, $2, $3, $4, $5, $6, $7, $8)'
    const values = [LEASE, epoch(), name, account, n, checks && JSON.stringify(checks), at, dueAt]
    await pg.query('keep_name_checks', text, values)
  },
  async sweep() {
    await pg.query('sweep_site_names', 'select sweep_site_names($1, $2)', [LEASE, epoch()])
  },
  async holdersOf(account) {
    return (await pg.query<{ kind: string; name: string }>('name_holders_of', HOLDERS_OF, [account])).rows
  },
})
