import type { Here, KeptMarks, TruthCode } from '../../../crds/kernel/desire/absence.ts'
import { refuseDevelopment } from '../../base/env.ts'
import { LEASE } from '../pg/fence.ts'
import type { Pg } from '../pg/pg.ts'

/** Why nobody leads. `token` is what a person says to accept exactly this (BOTTEGA_ACCEPT_CLUSTER), where that is possible. */
export type Disagreement = { code: TruthCode; token: string | null; detail: string }
export type Lost = { kind: string; name: string; uid: string }
export type Bound = KeptMarks & { disagreement: Disagreement | null }
/** Of that what the api may read. */
export type BoundPlace = Pick<Bound, 'clusterUid' | 'namespace' | 'keyCheck' | 'disagreement'>

export type Installation = {
  /** Null before the first leader. */
  read(): Promise<Bound | null>
  /** The same, for whoever may not read epochs. */
  place(): Promise<BoundPlace | null>
  /**
   * The first place to come is the one; later calls fill in what a database of before does not have, and change nothing.
   * @param id of an installation that lost its database; a new one when left out
   * @returns what the database keeps
   */
  bind(here: Here, id?: string): Promise<Bound>
  /** From now on it is this place. The key stays. */
  rebind(here: Here): Promise<void>
  /** Why nobody leads by it though it belongs to no place; null while nothing is known to be wrong. */
  unboundDisagreement(): Promise<Disagreement | null>
  /** Written where it belongs to no place, and nowhere else. */
  disagreeUnbound(disagreement: Disagreement): Promise<void>
  /** Written for the place that the database belongs to, and for no other. */
  disagree(here: Here, disagreement: Disagreement | null): Promise<void>
  /** These are lost, a person said: their views stay, and nobody asks for them again. */
  lose(absent: readonly { kind: string; name: string }[]): Promise<void>
  /** Those of the lost ones that are there again are lost no more. */
  find(isThere: (lost: Lost) => boolean): Promise<void>
  /** The Lease was seen to carry this epoch. */
  keepEpoch(epoch: number): Promise<void>
  /** From now on nobody leads until `endReconcile`. */
  beginReconcile(): Promise<void>
  endReconcile(): Promise<void>
}

const READ = `
select i.id, i.cluster_uid as "clusterUid", i.namespace, i.key_check as "keyCheck", i.kept_epoch as "keptEpoch",
  coalesce((select e.epoch from epochs e where e.lease = $1), 0) as epoch, i.disagreement,
  i.reconciling is not null as "isReconciling"
from installation i`
const PLACE = 'select cluster_uid as "clusterUid", namespace, key_check as "keyCheck", disagreement from installation'
const BIND = `
insert into installation as i (cluster_uid, namespace, key_check, id) values ($1, $2, $3, coalesce($4::uuid, gen_random_uuid()))
on conflict (one) do update
  set namespace = coalesce(i.namespace, excluded.namespace), key_check = coalesce(i.key_check, excluded.key_check)
  where i.cluster_uid = excluded.cluster_uid and (i.namespace is null or i.key_check is null)`
/** In the same statement: from its binding on only the row of the place says what is wrong. */
const BIND_AND_AGREE = `with gone as (delete from unbound_disagreement) ${BIND}`
const DISAGREE_UNBOUND = `
insert into unbound_disagreement as d (disagreement) select $1::jsonb where not exists (select from installation)
on conflict (one) do update set disagreement = excluded.disagreement where d.disagreement is distinct from excluded.disagreement`
const REBIND =
  'update installation set cluster_uid = $1, namespace = $2, bound_at = now(), kept_epoch = 0, disagreement = null'
const DISAGREE = `
update installation set disagreement = $3
where cluster_uid = $1 and namespace is not distinct from $2 and disagreement is distinct from $3::jsonb`
const LOSE = `
insert into mirror_lost (kind, name, uid)
select a.kind, a.name, coalesce(m.uid, d.uid)
from unnest($1::text[], $2::text[]) as a(kind, name)
left join mirror m on m.kind = a.kind and m.name = a.name
left join desires d on d.kind = a.kind and d.name = a.name
where coalesce(m.uid, d.uid) is not null
on conflict (kind, name) do update set uid = excluded.uid, said_at = now()`

export const makeInstallation = ({ pg }: { pg: Pg }): Installation => {
  const read = async () => (await pg.query<Bound>('installation', READ, [LEASE])).rows[0] ?? null
  return {
    read,
    place: async () => (await pg.query<BoundPlace>('installation_place', PLACE, [])).rows[0] ?? null,
    async bind({ clusterUid, namespace, keyCheck }, id) {
      await pg.query('bind_installation', BIND_AND_AGREE, [clusterUid, namespace, keyCheck, id ?? null])
      const bound = await read()
      if (bound === null) throw new Error('the installation was not bound')
      return bound
    },
    async rebind({ clusterUid, namespace }) {
      await pg.query('rebind_installation', REBIND, [clusterUid, namespace])
    },
    async unboundDisagreement() {
      const text = 'select disagreement from unbound_disagreement'
      const { rows } = await pg.query<{ disagreement: Disagreement }>('unbound_disagreement', text, [])
      return rows[0]?.disagreement ?? null
    },
    async disagreeUnbound(disagreement) {
      await pg.query('disagree_unbound', DISAGREE_UNBOUND, [JSON.stringify(disagreement)])
    },
    async disagree({ clusterUid, namespace }, disagreement) {
      const values = [clusterUid, namespace, disagreement && JSON.stringify(disagreement)]
      await pg.query('installation_disagrees', DISAGREE, values)
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
    async beginReconcile() {
      const text = 'update installation set reconciling = coalesce(reconciling, now())'
      await pg.query('begin_reconcile', text, [])
    },
    async endReconcile() {
      await pg.query('end_reconcile', 'update installation set reconciling = null, disagreement = null', [])
    },
    async keepEpoch(epoch) {
      const text = 'update installation set kept_epoch = $1 where kept_epoch < $1'
      await pg.query('keep_epoch', text, [epoch])
    },
  }
}

const IS_DEVELOPMENT = 'select exists (select from development) as is'

/**
 * Whether this is an installation of development its database says, and whoever made that said it (hack/platform/database.ts):
 * neither a value of the chart nor the environment of a process can.
 * @param names of settings of development that this process was given @throws EnvError naming each, elsewhere
 */
export const demandDevelopment = async (pg: Pick<Pg, 'query'>, names: readonly string[]): Promise<void> => {
  if (names.length === 0) return
  const { rows } = await pg.query<{ is: boolean }>('is_development', IS_DEVELOPMENT, [])
  if (rows[0]?.is !== true) refuseDevelopment(names)
}
