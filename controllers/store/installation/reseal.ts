/** Sealed values, counted by the key that they are under, and sealed anew under the newest one in small batches. */
import { KeyMissing, type KeyRing } from '../../base/keyring.ts'
import { BadSeal, HEAD_BYTES, headOf, keyOfSealed, makeSealer } from '../../base/seal.ts'
import type { Pg } from '../pg/pg.ts'
import { SEALED, type SealedColumn, type SealedKey } from './sealed.ts'

/** Rows of one statement: it holds their locks for some milliseconds. */
export const RESEAL_BATCH = 100

/** How many values are under each key, by its id; those of form 1 under PLAIN. */
export type SealedCounts = ReadonlyMap<string, number>
/** Sealed before values told their key. */
export const PLAIN = 'form-1'

export type ResealPage = {
  /** Where the next page begins; null after the last. */
  last: SealedKey | null
  /** `moved`: sealed anew. `bad`: could not be opened, by the names of their keys or for what is wrong with them. */
  moved: number
  bad: { key: SealedKey; missing: string | null }[]
}

const placeOf = ({ table, column }: SealedColumn): string => `${table}.${column}`

/** @param columns all of them when left out */
export const countSealed = async (pg: Pg, columns: readonly SealedColumn[] = SEALED): Promise<SealedCounts> => {
  const counts = new Map<string, number>()
  for (const one of columns) {
    const head = `substring(${one.column} from 1 for ${HEAD_BYTES})`
    const text = `select ${head} as head, count(*)::integer as count from ${one.table} where ${one.column} is not null group by 1`
    const { rows } = await pg.query<{ head: Buffer; count: number }>(`count_sealed ${placeOf(one)}`, text, [])
    for (const row of rows) {
      const id = keyOfSealed(row.head) ?? PLAIN
      counts.set(id, (counts.get(id) ?? 0) + row.count)
    }
  }
  return counts
}

type Found = Record<string, string | number | Buffer> & { sealed: Buffer }

const readPage = async (pg: Pg, one: SealedColumn, newest: string, after: SealedKey | null): Promise<Found[]> => {
  const names = Object.keys(one.key)
  const types = Object.values(one.key)
  const beyond = `(${names.join(', ')}) > (${types.map((type, n) => `$${n + 3}::${type}`).join(', ')})`
  const text = `select ${names.join(', ')}, ${one.column} as sealed from ${one.table}
where ${one.column} is not null and substring(${one.column} from 1 for ${HEAD_BYTES}) <> $1${after ? ` and ${beyond}` : ''}
order by ${names.join(', ')} limit $2`
  const values = [headOf(newest), RESEAL_BATCH, ...(after ? names.map((name) => after[name]) : [])]
  return (await pg.query<Found>(`read_sealed ${placeOf(one)} ${after ? 'on' : 'first'}`, text, values)).rows
}

/** A value that was written anew in between stays as it was written. */
const writePage = async (pg: Pg, one: SealedColumn, rows: readonly (Found & { anew: Buffer })[]): Promise<number> => {
  const names = Object.keys(one.key)
  const columns = [...names, 'sealed', 'anew']
  const types = [...Object.values(one.key), 'bytea', 'bytea']
  const text = `update ${one.table} t set ${one.column} = v.anew
from unnest(${types.map((type, n) => `$${n + 1}::${type}[]`).join(', ')}) as v(${columns.join(', ')})
where ${names.map((name) => `t.${name} = v.${name}`).join(' and ')} and t.${one.column} = v.sealed
returning 1 as moved`
  const values = columns.map((name) => rows.map((row) => row[name]))
  return (await pg.query(`write_sealed ${placeOf(one)}`, text, values)).rows.length
}

const keyOf = ({ sealed: _, ...key }: Found): SealedKey => key as SealedKey

/** Seals the next page of a column anew. What cannot be opened stays as it is. @param after the key that the last page ended with */
export const resealPage = async (
  pg: Pg,
  one: SealedColumn,
  ring: KeyRing,
  after: SealedKey | null,
): Promise<ResealPage> => {
  const [newest = ''] = ring.ids
  const sealer = makeSealer(ring, one.purpose)
  const rows = await readPage(pg, one, newest, after)
  const bad: ResealPage['bad'] = []
  const opened = rows.flatMap((row) => {
    const key = keyOf(row)
    const { sealed } = row
    try {
      return [{ ...row, anew: sealer.seal(sealer.open(sealed, one.about(key)), one.about(key)) }]
    } catch (error) {
      if (!(error instanceof BadSeal || error instanceof KeyMissing)) throw error
      bad.push({ key, missing: error instanceof KeyMissing ? error.id : null })
      return []
    }
  })
  const moved = opened.length === 0 ? 0 : await writePage(pg, one, opened)
  const end = rows.at(-1)
  if (rows.length < RESEAL_BATCH || end === undefined) return { last: null, moved, bad }
  return { last: keyOf(end), moved, bad }
}
