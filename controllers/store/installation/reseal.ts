/**
 * Sealed values, counted by the key that they are under, and sealed anew under the newest one. Tables are walked in the order of
 * their keys, so that no statement reads more than a page, however large a table is.
 */
import { KeyMissing, type KeyRing } from '../../base/keyring.ts'
import { BadSeal, HEAD_BYTES, keyOfSealed, makeSealer } from '../../base/seal.ts'
import type { Pg } from '../pg/pg.ts'
import { SEALED, type SealedColumn, type SealedKey } from './sealed.ts'

/** Rows of which one statement reads the heads. */
export const PAGE_ROWS = 1_000
/** Values that one statement reads and writes: some are large, and it holds their locks. */
export const RESEAL_BATCH = 50

/** How many values are under each key, by its id; those of form 1 under PLAIN. */
export type SealedCounts = ReadonlyMap<string, number>
/** Sealed before values told their key. */
export const PLAIN = 'form-1'

type Head = { key: SealedKey; id: string }
type Value = { key: SealedKey; sealed: Buffer }
/** `last`: where the next page begins; null after the last. */
type HeadPage = { heads: Head[]; last: SealedKey | null }
/** `missing`: the key that is not in the ring; null where something else is wrong. */
export type BadValue = { key: SealedKey; missing: string | null }

const placeOf = ({ table, column }: SealedColumn): string => `${table}.${column}`

const keyOf = ({ key }: SealedColumn, row: Record<string, unknown>): SealedKey =>
  Object.fromEntries(Object.keys(key).map((name) => [name, row[name] as string | number]))

/** The columns of the key, as arrays in their order. */
const arraysOf = ({ key }: SealedColumn, rows: readonly { key: SealedKey }[]): unknown[][] =>
  Object.keys(key).map((name) => rows.map((row) => row.key[name]))

/** `$1::text[], $2::integer[]` of the key. */
const arrayTypes = ({ key }: SealedColumn): string =>
  Object.values(key)
    .map((type, n) => `$${n + 1}::${type}[]`)
    .join(', ')

const headsOf = async (pg: Pg, one: SealedColumn, after: SealedKey | null): Promise<HeadPage> => {
  const names = Object.keys(one.key)
  const beyond = Object.values(one.key).map((type, n) => `$${n + 2}::${type}`)
  const text = `select ${names.join(', ')}, substring(${one.column} from 1 for ${HEAD_BYTES}) as head from ${one.table}
where ${one.column} is not null${after ? ` and (${names.join(', ')}) > (${beyond.join(', ')})` : ''}
order by ${names.join(', ')} limit $1`
  const values = [PAGE_ROWS, ...(after ? names.map((name) => after[name]) : [])]
  const name = `sealed_heads ${placeOf(one)} ${after ? 'on' : 'first'}`
  const { rows } = await pg.query<Record<string, unknown> & { head: Buffer }>(name, text, values)
  const heads = rows.map((row) => ({ key: keyOf(one, row), id: keyOfSealed(row.head) ?? PLAIN }))
  return { heads, last: rows.length < PAGE_ROWS ? null : (heads.at(-1)?.key ?? null) }
}

const countInto = (counts: Map<string, number>, heads: readonly Head[]): void => {
  for (const { id } of heads) counts.set(id, (counts.get(id) ?? 0) + 1)
}

/** Looks and writes nothing. */
export const countSealed = async (pg: Pg): Promise<SealedCounts> => {
  const counts = new Map<string, number>()
  for (const one of SEALED) {
    let after: SealedKey | null = null
    do {
      const page: HeadPage = await headsOf(pg, one, after)
      countInto(counts, page.heads)
      after = page.last
    } while (after !== null)
  }
  return counts
}

const readValues = async (pg: Pg, one: SealedColumn, keys: readonly Head[]): Promise<Value[]> => {
  const names = Object.keys(one.key)
  const text = `select ${names.map((name) => `t.${name}`).join(', ')}, t.${one.column} as sealed
from unnest(${arrayTypes(one)}) as v(${names.join(', ')})
join ${one.table} t on ${names.map((name) => `t.${name} = v.${name}`).join(' and ')}
where t.${one.column} is not null`
  const { rows } = await pg.query<Record<string, unknown> & { sealed: Buffer }>(
    `read_sealed ${placeOf(one)}`,
    text,
    arraysOf(one, keys),
  )
  return rows.map((row) => ({ key: keyOf(one, row), sealed: row.sealed }))
}

/** A value that was written anew in between stays as it was written. */
const writeValues = async (
  pg: Pg,
  one: SealedColumn,
  values: readonly (Value & { anew: Buffer })[],
): Promise<number> => {
  const names = Object.keys(one.key)
  const [sealed, anew] = [names.length + 1, names.length + 2]
  const text = `update ${one.table} t set ${one.column} = v.anew
from unnest(${arrayTypes(one)}, $${sealed}::bytea[], $${anew}::bytea[]) as v(${names.join(', ')}, sealed, anew)
where ${names.map((name) => `t.${name} = v.${name}`).join(' and ')} and t.${one.column} = v.sealed
returning 1 as moved`
  const given = [...arraysOf(one, values), values.map((value) => value.sealed), values.map((value) => value.anew)]
  return (await pg.query(`write_sealed ${placeOf(one)}`, text, given)).rows.length
}

const resealValues = async (
  pg: Pg,
  one: SealedColumn,
  ring: KeyRing,
  stale: readonly Head[],
): Promise<{ moved: number; bad: BadValue[] }> => {
  const sealer = makeSealer(ring, one.purpose)
  const bad: BadValue[] = []
  const opened = (await readValues(pg, one, stale)).flatMap(({ key, sealed }) => {
    try {
      return [{ key, sealed, anew: sealer.seal(sealer.open(sealed, one.about(key)), one.about(key)) }]
    } catch (error) {
      if (!(error instanceof BadSeal || error instanceof KeyMissing)) throw error
      bad.push({ key, missing: error instanceof KeyMissing ? error.id : null })
      return []
    }
  })
  return { moved: opened.length === 0 ? 0 : await writeValues(pg, one, opened), bad }
}

/** `counts`: as they were found. `moved`: sealed anew since. */
export type ResealPage = { counts: SealedCounts; moved: number; bad: BadValue[]; last: SealedKey | null }

/** Seals a page of a column anew. What cannot be opened stays as it is. @param after the key that the last page ended with */
export const resealPage = async (
  pg: Pg,
  one: SealedColumn,
  ring: KeyRing,
  after: SealedKey | null,
): Promise<ResealPage> => {
  const { heads, last } = await headsOf(pg, one, after)
  const counts = new Map<string, number>()
  countInto(counts, heads)
  const stale = heads.filter(({ id }) => id !== ring.ids[0])
  const bad: BadValue[] = []
  let moved = 0
  for (let from = 0; from < stale.length; from += RESEAL_BATCH) {
    const done = await resealValues(pg, one, ring, stale.slice(from, from + RESEAL_BATCH))
    moved += done.moved
    bad.push(...done.bad)
  }
  return { counts, moved, bad, last }
}
