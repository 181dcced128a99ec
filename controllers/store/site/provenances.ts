/** What drafted sites rest on, kept beside them: too long for a resource, and of no use to a pass (rules/site.md#provenance). */
import type { KeptProvenance } from '../../../crds/site/content/drafting/provenance.ts'
import type { Pg } from '../pg/pg.ts'

export type Provenances = {
  /** The last one counts, until the site is made. */
  put(site: string, account: string, provenance: KeptProvenance): Promise<void>
  /** Null for a site that was not drafted here. */
  get(site: string): Promise<KeptProvenance | null>
  remove(site: string): Promise<void>
}

const PUT = `
insert into site_provenances (site, account, provenance) values ($1, $2, $3)
on conflict (site) do update set account = excluded.account, provenance = excluded.provenance, kept_at = now()`
const GET = 'select provenance from site_provenances where site = $1'
const REMOVE = 'delete from site_provenances where site = $1'

export const makeProvenances = ({ pg }: { pg: Pg }): Provenances => ({
  async put(site, account, provenance) {
    await pg.query('put_site_provenance', PUT, [site, account, JSON.stringify(provenance)])
  },
  async get(site) {
    const { rows } = await pg.query<{ provenance: KeptProvenance }>('site_provenance', GET, [site])
    return rows[0]?.provenance ?? null
  },
  async remove(site) {
    await pg.query('remove_site_provenance', REMOVE, [site])
  },
})
