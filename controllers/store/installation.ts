import type { Pg } from './pg/pg.ts'

/** Why nobody leads. `token` is what a person says to accept exactly this (BOTTEGA_ACCEPT_CLUSTER). */
export type Disagreement = { token: string; detail: string }
export type Lost = { kind: string; name: string; uid: string }
export type Bound = { clusterUid: string; disagreement: Disagreement | null }

export type Installation = {
  /** Null before the first leader. */
  read(): Promise<Bound | null>
  /** The first cluster to come is the one; later calls change nothing. @returns whose the database is */
  bind(clusterUid: string): Promise<Bound>
  /** From now on it is this one. */
  rebind(clusterUid: string): Promise<void>
  /** Written for the cluster that the database belongs to, and for no other. */
  disagree(clusterUid: string, disagreement: Disagreement | null): Promise<void>
  /** These are lost, a person said: their views stay, and nobody asks for them again. */
  lose(absent: readonly { kind: string; name: string }[]): Promise<void>
  /** Those of the lost ones that are there again are lost no more. */
  find(isThere: (lost: Lost) => boolean): Promise<void>
}

const READ = 'select cluster_uid as "clusterUid", disagreement from installation'
const BIND = 'insert into installation (cluster_uid) values ($1) on conflict (one) do nothing'
const REBIND = 'update installation set cluster_uid = $1, bound_at = now(), disagreement = null'
const DISAGREE = `
update installation set disagreement = $2
where cluster_uid = $1 and disagreement is distinct from $2::jsonb`
const LOSE = `
insert into mirror_lost (kind, name, uid)
select a.kind, a.name, coalesce(m.uid, d.uid)
from unnest($1::text[], $2::text[]) as a(kind, name)
left join mirror m on m.kind = a.kind and m.name = a.name
left join desires d on d.kind = a.kind and d.name = a.name
where coalesce(m.uid, d.uid) is not null
on conflict (kind, name) do update set uid = excluded.uid, said_at = now()`

export const makeInstallation = ({ pg }: { pg: Pg }): Installation => {
  const read = async () => (await pg.query<Bound>('installation', READ, [])).rows[0] ?? null
  return {
    read,
    async bind(clusterUid) {
      await pg.query('bind_installation', BIND, [clusterUid])
      return (await read()) ?? { clusterUid, disagreement: null }
    },
    async rebind(clusterUid) {
      await pg.query('rebind_installation', REBIND, [clusterUid])
    },
    async disagree(clusterUid, disagreement) {
      await pg.query('installation_disagrees', DISAGREE, [clusterUid, disagreement && JSON.stringify(disagreement)])
    },
    async lose(absent) {
      await pg.query('lose_resources', LOSE, [absent.map(({ kind }) => kind), absent.map(({ name }) => name)])
    },
    async find(isThere) {
      const { rows } = await pg.query<Lost>('mirror_lost', 'select kind, name, uid from mirror_lost', [])
      const found = rows.filter(isThere).map(({ uid }) => uid)
      if (found.length === 0) return
      await pg.query('find_resources', 'delete from mirror_lost where uid = any($1::text[])', [found])
    },
  }
}

export const otherCluster = (bound: string, here: string): string =>
  `the database belongs to cluster ${bound}, and this is cluster ${here}`
