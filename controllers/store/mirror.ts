/**
 * The mirror: the last view of every resource in PostgreSQL, which GET and lists answer from. Controllers write it, the
 * API reads it and is told on the channel `bottega_mirror` what changed (JSON arrays of "Kind/name").
 * It can be thrown away and rebuilt; archived rows are the exception (rules/platform.md#views).
 */
import { type Desire, desireOf } from '../../crds/kernel/desire/desire.ts'
import type { KindOf } from '../../crds/kernel/kind.ts'
import type { Meta } from '../../crds/kernel/object.ts'
import { makeBatch } from '../base/batch.ts'
import type { KeptGenerations } from './ledger/desires.ts'
import { LEASE } from './pg/fence.ts'
import type { Page } from './pg/page.ts'
import { isItemFault, type Pg } from './pg/pg.ts'

export const MIRROR_CHANNEL = 'bottega_mirror'

/** Instants are ISO. @typeParam View as its kind declares it */
export type NewMirrorRow<View = unknown> = {
  kind: string
  name: string
  account: string
  uid: string
  generation: number
  observedGeneration: number
  view: View
  createdAt: string
  updatedAt: string
  /** What was asked, kept in the same transaction; left out where it is shown alone. */
  desire?: Desire
  /** There is no resource: this was made from what is kept of one. */
  isLost?: true
}
export type MirrorRow<View = unknown> = Omit<NewMirrorRow<View>, 'desire' | 'isLost'> & { archived: boolean }

type Viewed<View> = { kind: KindOf<View>; account: string; view: NoInfer<View>; updatedAt?: string }

/** The row of an object as the pass that judged it leaves it. @param given.updatedAt since its creation when left out */
export const rowOf = <View>(
  object: { metadata: Meta; spec: unknown },
  { kind, account, view, updatedAt }: Viewed<View>,
): NewMirrorRow<View> => {
  const { metadata } = object
  return {
    kind: kind.kind,
    name: metadata.name,
    account,
    uid: metadata.uid,
    generation: metadata.generation,
    observedGeneration: metadata.generation,
    view,
    createdAt: metadata.creationTimestamp,
    updatedAt: updatedAt ?? metadata.creationTimestamp,
    ...(metadata.isLost ? { isLost: true } : { desire: desireOf(object) }),
  }
}

/** `since` is a date, YYYY-MM-DD, in UTC. The others compare a field of the view. */
export type MirrorFilter = {
  status?: string
  since?: string
  clientEmail?: string
  externalRef?: string
  issuerId?: string
}

export type MirrorReader = {
  get<View>(kind: KindOf<View>, name: string): Promise<MirrorRow<View> | undefined>
  /** One page of an account's resources, newest first, and how many there are in all. */
  list<View>(
    of: { kind: KindOf<View>; account: string },
    filter: MirrorFilter,
    page: Page,
  ): Promise<{ rows: MirrorRow<View>[]; total: number }>
}

/**
 * Shows what is asked before anybody has judged it: a row whose `observedGeneration` is 0, until the first verdict takes its
 * place. A row that is there stays.
 */
export type ShowRow = (row: NewMirrorRow) => Promise<void>

export type Mirror = MirrorReader & {
  /** As ShowRow, and in place of an unjudged row of the same resource. */
  show: ShowRow
  /** Gives whether anything differed and was written. */
  put(row: NewMirrorRow): Promise<boolean>
  /** Gives whether there was a row; an archived one stays. */
  remove(kind: string, name: string): Promise<boolean>
  archive(kind: string, name: string, archived: boolean): Promise<boolean>
  /**
   * After a full list of a kind: the names of those that are known, by a view or a kept desire, and not there; archived ones and
   * those that a person gave up for lost are not named.
   */
  unknown(kind: string, uids: string[]): Promise<string[]>
  /** How many are known of each kind, without these. */
  known(): Promise<Map<string, number>>
}

/** A MirrorRow out of `mirror m`. */
export const MIRROR_COLUMNS = `m.kind, m.name, m.account, m.uid, m.generation, m.observed_generation as "observedGeneration", m.view,
  iso_ms(m.created_at) as "createdAt", iso_ms(m.updated_at) as "updatedAt", m.archived`
const GET = `
select ${MIRROR_COLUMNS}
from unnest($1::text[], $2::text[]) as k(kind, name),
  lateral (select * from mirror m where m.kind = k.kind and m.name = k.name limit 1) m`

/** A view can be thrown away, and a desire is kept only from the first pass on: either tells of a resource. Of what nobody may look for nothing is said. */
const TOLD = `(
    select m.kind, m.name, m.uid from mirror m where not m.archived
    union all
    select d.kind, d.name, d.uid from desires d
    where not is_deleted(d.kind, d.name, d.uid)
      and not exists (select from mirror m where m.kind = d.kind and m.name = d.name)
  ) t
where not exists (select from mirror_lost l where l.kind = t.kind and l.name = t.name and l.uid = t.uid)
  and not exists (
    select from places p join place_namespaces n on n.namespace = p.namespace and not n.served
    where p.kind = t.kind and p.name = t.name
  )`
/** A join, because `<> all($2)` compares every row with every uid. */
const UNKNOWN = `
select t.name from ${TOLD}
  and t.kind = $1 and not exists (select from unnest($2::text[]) as u(uid) where u.uid = t.uid)
order by t.name`
const KNOWN = `
select t.kind, count(*) as count from ${TOLD}
group by t.kind`

const CONDITIONS: Record<keyof MirrorFilter, string> = {
  status: 'm.status =',
  since: 'm.created_at >=',
  clientEmail: 'm.client_email =',
  externalRef: 'm.external_ref =',
  issuerId: 'm.issuer_id =',
}
const FILTERS = Object.keys(CONDITIONS) as (keyof MirrorFilter)[]

/**
 * Only the conditions that are asked for: one statement for all would keep PostgreSQL from choosing an index. $1 is the
 * kind, $2 the account, and from $`first` on come the values. `name` tells the statements apart.
 */
export const filtered = (filter: MirrorFilter, first: number): { name: string; where: string; values: string[] } => {
  const used = FILTERS.filter((key) => filter[key] !== undefined)
  const conditions = used.map((key, index) => `${CONDITIONS[key]} $${index + first}`)
  return {
    name: used.join('_'),
    where: ['m.kind = $1', 'm.account = $2', ...conditions].join(' and '),
    values: used.map((key) => (key === 'since' ? `${filter.since}T00:00:00Z` : String(filter[key]))),
  }
}

const listStatement = (where: string): string => {
  const from = `from mirror m where ${where}`
  return `
select
  (select count(*) ${from}) as total,
  (
    select coalesce(json_agg(page), '[]')
    from (select ${MIRROR_COLUMNS} ${from} order by m.created_at desc, m.place desc limit $3 offset $4) page
  ) as rows`
}

/**
 * A row out of PostgreSQL, typed by its kind. This is the one place that takes jsonb at its word: only `rowOf` makes rows, and
 * asks for the view that the kind declares. A view in an older shape lives until the first pass of a newer leader, which
 * looks at every resource and writes what differs; that of a paused resource until it goes on, and that of one that has left
 * the cluster for ever: whoever changes the shape rewrites those in sql/schema, or has readers bear the old one.
 */
export const typedBy = <View>(_kind: KindOf<View>, row: MirrorRow): MirrorRow<View> => row as MirrorRow<View>

const keyOf = (kind: string, name: string): string => `${kind}/${name}`

export const makeMirrorReader = ({ pg }: { pg: Pg }): MirrorReader => {
  const get = makeBatch<[kind: string, name: string], MirrorRow | undefined>({
    async run(keys) {
      const { rows } = await pg.query<MirrorRow>('mirror_get', GET, [
        keys.map(([kind]) => kind),
        keys.map(([, name]) => name),
      ])
      const found = new Map(rows.map((row) => [keyOf(row.kind, row.name), row]))
      return keys.map(([kind, name]) => found.get(keyOf(kind, name)))
    },
    inFlight: 2,
  })
  return {
    async get(kind, name) {
      const row = await get([kind.kind, name])
      return row && typedBy(kind, row)
    },
    async list({ kind, account }, filter, { limit, offset }) {
      const { name, where, values } = filtered(filter, 5)
      const { rows } = await pg.query<{ rows: MirrorRow[]; total: number }>(
        `mirror_list_${name}`,
        listStatement(where),
        [kind.kind, account, limit, offset, ...values],
      )
      const { rows: found, total } = rows[0] ?? { rows: [], total: 0 }
      return { rows: found.map((row) => typedBy(kind, row)), total }
    },
  }
}

/** Needs no lease: what it writes gives way to every verdict. */
export const makeShowRow =
  ({ pg }: { pg: Pg }, replace = false): ShowRow =>
  async ({ desire: _kept, ...row }) => {
    await pg.query('show_mirror', 'select name from show_mirror($1, $2)', [JSON.stringify(row), replace])
  }

type Pending = { row: NewMirrorRow; epoch: number }

/** What is known to be kept is not sent again. */
const withoutKept = (row: NewMirrorRow, known: KeptGenerations | undefined): NewMirrorRow => {
  if (!row.desire || !known?.has(row.uid, row.generation)) return row
  const { desire: _kept, ...rest } = row
  return rest
}

const putAll = async (pg: Pg, pending: Pending[], known: KeptGenerations | undefined): Promise<boolean[]> => {
  // Of two views of one resource in a batch the later one counts.
  const latest = new Map(pending.map(({ row }) => [keyOf(row.kind, row.name), withoutKept(row, known)]))
  const values = [LEASE, pending[0]?.epoch, JSON.stringify([...latest.values()])]
  const text = 'select kind, name from put_mirror($1, $2, $3)'
  const { rows } = await pg.query<{ kind: string; name: string }>('put_mirror', text, values)
  for (const { desire, uid, generation } of latest.values()) if (desire) known?.add(uid, generation)
  const changed = new Set(rows.map((row) => keyOf(row.kind, row.name)))
  return pending.map(({ row }) => changed.has(keyOf(row.kind, row.name)))
}

/**
 * @param deps.epoch as for the ledger: a leader that was replaced must not put back an older view
 * @param deps.known which desires are kept already; left out: each is sent with its view
 */
export const makeMirror = (deps: {
  pg: Pg
  epoch: () => number
  gatherMs?: () => number
  known?: KeptGenerations
}): Mirror => {
  const { pg, epoch, known } = deps
  const put = makeBatch<Pending, boolean>({
    run: (pending) => putAll(pg, pending, known),
    ...(deps.gatherMs && { gatherMs: deps.gatherMs }),
    mayJoin: (chosen, next) => chosen[0]?.epoch === next.epoch,
    isItemFault,
  })
  const namesOf = async (name: string, text: string, values: unknown[]): Promise<string[]> => {
    const { rows } = await pg.query<{ name: string }>(name, text, [LEASE, epoch(), ...values])
    return rows.map((row) => row.name)
  }
  return {
    ...makeMirrorReader({ pg }),
    show: makeShowRow({ pg }, true),
    put: (row) => put({ row, epoch: epoch() }),
    async remove(kind, name) {
      const text = 'select name from remove_mirror($1, $2, $3, $4)'
      return (await namesOf('remove_mirror', text, [kind, name])).length > 0
    },
    async archive(kind, name, archived) {
      const text = 'select name from archive_mirror($1, $2, $3, $4, $5)'
      return (await namesOf('archive_mirror', text, [kind, name, archived])).length > 0
    },
    async unknown(kind, uids) {
      const { rows } = await pg.query<{ name: string }>('mirror_unknown', UNKNOWN, [kind, uids])
      return rows.map((row) => row.name)
    },
    async known() {
      const { rows } = await pg.query<{ kind: string; count: number }>('mirror_known', KNOWN, [])
      return new Map(rows.map(({ kind, count }) => [kind, count]))
    },
  }
}
