/** Which namespace each resource lives in, where there are several: one name, one place (hack/decisions/057). */
import type { Unserved } from '../../../crds/account/tenants.ts'
import { DatabaseRefused, type Pg } from '../pg/pg.ts'

export type PlaceClaim = { name: string; account: string; uid: string }

export type PlaceStore = {
  /** Whether any resource was ever given a place: else there is, and was, one namespace. */
  isUsed(): Promise<boolean>
  /** Reserves names; `uid` '' before there is a resource. @returns by name which namespace has it */
  claim(kind: string, namespace: string, claims: readonly PlaceClaim[]): Promise<Map<string, string>>
  /** Whoever had it is not there. @returns false where somebody was faster, or nobody can look there */
  move(kind: string, from: string, to: string, claim: PlaceClaim): Promise<boolean>
  /** @returns where a name lives; null: nowhere yet */
  find(kind: string, name: string): Promise<string | null>
  /** This very resource went. */
  leave(kind: string, namespace: string, of: { name: string; uid: string }): Promise<void>
  /** These are served, and no other one is. */
  serve(namespaces: readonly string[]): Promise<void>
  /** This one can be looked into, or cannot. */
  reach(namespace: string, isReached: boolean): Promise<void>
  /** What stands where nobody looks, by account and namespace. */
  unserved(): Promise<Unserved[]>
}

const UNDEFINED_TABLE = '42P01'
const UNSERVED = `
select p.account, p.namespace, count(*)::int as count
from places p join place_namespaces n on n.namespace = p.namespace and not n.served
where p.uid <> ''
group by 1, 2 order by 1, 2`

export const makePlaces = ({ pg }: { pg: Pg }): PlaceStore => ({
  async isUsed() {
    try {
      const text = 'select exists (select from places) as used'
      const { rows } = await pg.query<{ used: boolean }>('observe_places_used', text, [])
      return rows[0]?.used ?? false
    } catch (error) {
      // a database of before, whose tables somebody else is about to change (ops/standings.ts tells of it)
      if (error instanceof DatabaseRefused && error.state === UNDEFINED_TABLE) return false
      throw error
    }
  },
  async claim(kind, namespace, claims) {
    const text = 'select name, namespace from claim_places($1, $2, $3)'
    const values = [kind, namespace, JSON.stringify(claims)]
    const { rows } = await pg.query<{ name: string; namespace: string }>('claim_places', text, values)
    return new Map(rows.map((row) => [row.name, row.namespace]))
  },
  async move(kind, from, to, { name, account, uid }) {
    const text = 'select move_place($1, $2, $3, $4, $5, $6) as moved'
    const { rows } = await pg.query<{ moved: boolean }>('move_place', text, [kind, name, from, to, account, uid])
    return rows[0]?.moved ?? false
  },
  async find(kind, name) {
    const text = 'select namespace from places where kind = $1 and name = $2'
    const { rows } = await pg.query<{ namespace: string }>('observe_place', text, [kind, name])
    return rows[0]?.namespace ?? null
  },
  async leave(kind, namespace, { name, uid }) {
    await pg.query('leave_place', 'select leave_place($1, $2, $3, $4)', [kind, name, namespace, uid])
  },
  async serve(namespaces) {
    await pg.query('serve_namespaces', 'select serve_namespaces($1, true, true)', [namespaces])
  },
  async reach(namespace, isReached) {
    await pg.query('reach_namespace', 'select serve_namespaces($1, $2, false)', [[namespace], isReached])
  },
  async unserved() {
    const { rows } = await pg.query<Unserved>('observe_unserved', UNSERVED, [])
    return rows
  },
})
