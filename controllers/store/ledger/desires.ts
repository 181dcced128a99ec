/**
 * What was asked of every resource, kept beside the cluster so that the cluster can be lost, and the facts that say which
 * were deleted (sql/schema/018_desires.sql, hack/decisions/037). A desire is written with the view (mirror.ts); here stands
 * what else is done with it.
 */
import type { KeptDesire } from '../../../crds/kernel/desire/desire.ts'
import type { Candidate } from '../../../crds/kernel/desire/rebuild.ts'
import { makeBatch } from '../../base/batch.ts'
import { LEASE } from '../pg/fence.ts'
import { isItemFault, type Pg } from '../pg/pg.ts'

/** Of each sort, in one statement. */
const PRUNE_MAX = 5_000
const PAGE = 2_000

/** Which generation of which resource is known to be kept. */
export type KeptGenerations = {
  has(uid: string, generation: number): boolean
  add(uid: string, generation: number): void
  forget(uid: string): void
  /** Nothing else is known to be kept any more. */
  renew(kept: readonly KeptGeneration[]): void
}
type KeptGeneration = { uid: string; generation: number }

/** @param kept what is known from the start */
export const makeKeptGenerations = (kept: readonly KeptGeneration[] = []): KeptGenerations => {
  let newest = new Map<string, number>()
  const renew = (all: readonly KeptGeneration[]) => {
    newest = new Map(all.map(({ uid, generation }) => [uid, generation]))
  }
  renew(kept)
  return {
    renew,
    has: (uid, generation) => (newest.get(uid) ?? 0) >= generation,
    add: (uid, generation) => void newest.set(uid, Math.max(generation, newest.get(uid) ?? 0)),
    forget: (uid) => void newest.delete(uid),
  }
}

const readKept = async (pg: Pg): Promise<KeptGeneration[]> =>
  (await pg.query<KeptGeneration>('observe_kept', 'select uid, generation from desires', [])).rows

/** So that who begins to lead sends no spec that is kept already. */
export const readKeptGenerations = async (pg: Pg): Promise<KeptGenerations> => makeKeptGenerations(await readKept(pg))

/** A desire as it is written down. */
export type NewDesire = Pick<KeptDesire, 'kind' | 'name' | 'uid' | 'generation' | 'account' | 'createdAt'> & {
  desire: Pick<KeptDesire, 'labels' | 'annotations' | 'spec'>
}
type Resource = { kind: string; name: string }
/** `createdAt` is null where nothing is kept yet. */
export type Origin = { origin: string; createdAt: string | null }
/** Without a uid: the newest that is kept under the name. */
export type GoneResource = Resource & { uid: string | null; generation: number | null; how: 'seen' | 'absent' }

export type OriginReader = {
  /** Under which uid the rows of a resource know it. Many callers share one read. */
  originOf(of: Resource & { uid: string; account: string }): Promise<Origin>
}

export type DeletionReader = {
  /** Of these the ones whose deletion is on record, by name. */
  deleted(kind: string, names: readonly string[]): Promise<Set<string>>
}

export type Desires = OriginReader & {
  /** For what has no view: safe to repeat. @throws StaleEpoch */
  keep(desire: NewDesire): Promise<void>
  /** The newest of a resource that is not there and goes on without one: it was lost, or only its archived view is served. */
  stored(of: Resource): Promise<KeptDesire | null>
  /** Facts, each written once. @throws StaleEpoch */
  see(gone: GoneResource): Promise<void>
  /** Names of those that are kept, were not deleted, and are not among these. */
  lost(kind: string, held: readonly string[]): Promise<string[]>
  /** Asked for more than `olderThanMs` ago, and not seen. */
  askedFor(olderThanMs: number): Promise<(Resource & { uid: string })[]>
  takeBack(of: Resource & { uid: string }): Promise<void>
  /** The database may be an older copy: what it has of each is asked anew. */
  reread(): Promise<void>
  /** What is older than so many days, in part. @returns how many rows went */
  prune(days: number): Promise<number>
}

const KEPT = `d.kind, d.name, d.uid, d.origin, d.generation, d.account, iso_ms(d.created_at) as "createdAt",
  d.metadata -> 'labels' as labels, d.metadata -> 'annotations' as annotations, d.spec`
const STORED = `
select ${KEPT}
from unnest($1::text[], $2::text[]) as k(kind, name),
  lateral (select * from desires d where d.kind = k.kind and d.name = k.name limit 1) d
where not is_deleted(d.kind, d.name, d.uid)
  or exists (select from mirror m where m.kind = d.kind and m.name = d.name and m.archived)`
const ORIGINS = `
select o.uid, o.origin, iso_ms(o.created_at) as "createdAt" from origins_of($1, $2, $3, $4) o`
/** One that was deleted before a pass kept it has a view at most. */
const DELETED = `
select k.name from unnest($2::text[]) as k(name)
where exists (
  select from (
    select d.uid from desires d where d.kind = $1 and d.name = k.name
    union all
    select m.uid from mirror m where m.kind = $1 and m.name = k.name
  ) u
  where is_deleted($1, k.name, u.uid)
)`
const LOST = `
select d.name from desires d
where d.kind = $1 and not is_deleted(d.kind, d.name, d.uid)
  and not exists (select from unnest($2::text[]) as h(name) where h.name = d.name)`
const ASKED = `
select kind, name, uid from deletions
where seen_at is null and asked_at < now() - make_interval(secs => $1)`
const CANDIDATES = `
select d.kind, d.name, d.account,
  (
    select coalesce(x.how, 'asked') from deletions x where x.kind = d.kind and x.name = d.name and x.uid = d.uid
  ) as deletion
from desires d
where (d.kind, d.name) > ($1, $2)
  and not exists (
    select from places p join place_namespaces n on n.namespace = p.namespace and not n.served
    where p.kind = d.kind and p.name = d.name
  )
order by d.kind, d.name limit ${PAGE}`
const NAMED = `
select ${KEPT} from unnest($1::text[], $2::text[]) as k(kind, name),
  lateral (select * from desires d where d.kind = k.kind and d.name = k.name limit 1) d`

const keyOf = ({ kind, name }: Resource): string => `${kind}/${name}`

export const makeOriginReader = ({ pg }: { pg: Pg }): OriginReader => ({
  originOf: makeBatch({
    inFlight: 2,
    async run(asked) {
      const each = (pick: (one: (typeof asked)[number]) => string) => asked.map(pick)
      const { rows } = await pg.query<Origin & { uid: string }>('observe_origins', ORIGINS, [
        each(({ kind }) => kind),
        each(({ name }) => name),
        each(({ uid }) => uid),
        each(({ account }) => account),
      ])
      const found = new Map(rows.map(({ uid, ...origin }) => [uid, origin]))
      return asked.map(({ uid }) => found.get(uid) ?? { origin: uid, createdAt: null })
    },
  }),
})

export const makeDeletionReader = ({ pg }: { pg: Pg }): DeletionReader => ({
  async deleted(kind, names) {
    if (names.length === 0) return new Set()
    const { rows } = await pg.query<{ name: string }>('observe_deleted', DELETED, [kind, names])
    return new Set(rows.map(({ name }) => name))
  },
})

/** For who makes a cluster again (workers/lost/rebuild.ts). */
export type KeptReader = {
  /** All that is kept, without what it asks for: specs are the largest part of it. */
  candidates(): Promise<Candidate[]>
  /** The newest of these. */
  named(of: readonly Resource[]): Promise<KeptDesire[]>
}

export const makeKeptReader = ({ pg }: { pg: Pg }): KeptReader => ({
  async candidates() {
    const found: Candidate[] = []
    for (let after: Resource | undefined = { kind: '', name: '' }; after; ) {
      const page: { rows: Candidate[] } = await pg.query<Candidate>('rebuild_candidates', CANDIDATES, [
        after.kind,
        after.name,
      ])
      found.push(...page.rows)
      after = page.rows.at(-1)
    }
    return found
  },
  async named(of) {
    const values = [of.map(({ kind }) => kind), of.map(({ name }) => name)]
    return (await pg.query<KeptDesire>('rebuild_named', NAMED, values)).rows
  },
})

/** Asked for over REST, before the cluster is asked. */
export type AskDeletion = {
  ask(kind: string, of: readonly { name: string; uid: string }[]): Promise<void>
  takeBack(of: Resource & { uid: string }): Promise<void>
}

const TAKE_BACK = 'select take_back_deletion($1, $2, $3)'

export const makeAskDeletion = ({ pg }: { pg: Pg }): AskDeletion => ({
  async ask(kind, of) {
    const values = [kind, of.map(({ name }) => name), of.map(({ uid }) => uid)]
    await pg.query('ask_deletion', 'select ask_deletion($1, $2, $3)', values)
  },
  async takeBack({ kind, name, uid }) {
    await pg.query('take_back_deletion', TAKE_BACK, [kind, name, uid])
  },
})

type Fenced = { pg: Pg; epoch: () => number; known: KeptGenerations }

const makeKeep = ({ pg, epoch, known }: Fenced): Desires['keep'] => {
  const keep = makeBatch<{ desire: NewDesire; epoch: number }, undefined>({
    async run(pending) {
      const latest = new Map(pending.map(({ desire }) => [keyOf(desire), desire]))
      const values = [LEASE, pending[0]?.epoch, JSON.stringify([...latest.values()])]
      await pg.query('keep_desires', 'select keep_desires($1, $2, $3)', values)
      for (const { uid, generation } of latest.values()) known.add(uid, generation)
      return pending.map(() => undefined)
    },
    mayJoin: (chosen, next) => chosen[0]?.epoch === next.epoch,
    isItemFault,
  })
  return async (desire) => {
    if (!known.has(desire.uid, desire.generation)) await keep({ desire, epoch: epoch() })
  }
}

const makeSee = ({ pg, epoch, known }: Fenced): Desires['see'] => {
  const see = makeBatch<{ gone: GoneResource; epoch: number }, undefined>({
    async run(pending) {
      const values = [LEASE, pending[0]?.epoch, JSON.stringify(pending.map(({ gone }) => gone))]
      await pg.query('see_deletions', 'select see_deletions($1, $2, $3)', values)
      for (const { gone } of pending) if (gone.uid !== null) known.forget(gone.uid)
      return pending.map(() => undefined)
    },
    // one statement writes each row once
    mayJoin: (chosen, next) =>
      chosen[0]?.epoch === next.epoch && chosen.every(({ gone }) => keyOf(gone) !== keyOf(next.gone)),
    isItemFault,
  })
  return async (gone) => see({ gone, epoch: epoch() })
}

export const makeDesires = (deps: Fenced): Desires => {
  const { pg, epoch } = deps
  return {
    ...makeOriginReader(deps),
    keep: makeKeep(deps),
    see: makeSee(deps),
    stored: makeBatch<Resource, KeptDesire | null>({
      inFlight: 2,
      async run(asked) {
        const values = [asked.map(({ kind }) => kind), asked.map(({ name }) => name)]
        const { rows } = await pg.query<KeptDesire>('observe_stored', STORED, values)
        const found = new Map(rows.map((row) => [keyOf(row), row]))
        return asked.map((one) => found.get(keyOf(one)) ?? null)
      },
    }),
    async lost(kind, held) {
      return (await pg.query<{ name: string }>('observe_lost', LOST, [kind, held])).rows.map(({ name }) => name)
    },
    async askedFor(olderThanMs) {
      return (await pg.query<Resource & { uid: string }>('observe_asked', ASKED, [olderThanMs / 1_000])).rows
    },
    takeBack: makeAskDeletion(deps).takeBack,
    reread: async () => deps.known.renew(await readKept(pg)),
    async prune(days) {
      const text = 'select prune_desires($1, $2, $3, $4) as gone'
      const { rows } = await pg.query<{ gone: number }>('prune_desires', text, [LEASE, epoch(), days, PRUNE_MAX])
      return rows[0]?.gone ?? 0
    },
  }
}
