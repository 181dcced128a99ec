/** Whether the tables and functions of the database are those of this version (migrate.ts keeps what was applied). */
import type { VersionStanding } from '../../base/standing.ts'
import { DatabaseRefused, type Pg } from './pg.ts'
import { readFunctions, readSchema } from './sqlfiles.ts'

const FOLDER = new URL('../sql/', import.meta.url)
const APPLIED = 'select name, sha256 from migrations'
/** There is no such table: nobody has migrated. */
const UNDEFINED_TABLE = '42P01'
const NAMED_MAX = 5

type Applied = { name: string; sha256: string }

const some = (names: readonly string[]): string =>
  [...names.slice(0, NAMED_MAX), ...(names.length > NAMED_MAX ? [`${names.length - NAMED_MAX} more`] : [])].join(', ')

/** @param own files of this version @param applied what the database records */
export const standingOfApplied = (own: readonly Applied[], applied: readonly Applied[]): VersionStanding => {
  const has = new Set(applied.map(({ name }) => name))
  const lacking = own.filter(({ name }) => !has.has(name)).map(({ name }) => name)
  if (lacking.length > 0) return { state: 'older', detail: `the database lacks ${some(lacking)}: run the migration` }
  const sums = new Map(own.map(({ name, sha256 }) => [name, sha256]))
  const other = applied.filter(({ name, sha256 }) => sums.get(name) !== sha256).map(({ name }) => name)
  if (other.length > 0) return { state: 'newer', detail: `the database has another ${some(other)}` }
  return { state: 'same' }
}

/** @throws DatabaseUnavailable, DatabaseRefused */
export const standingOfSchema = async ({ pg, folder = FOLDER }: { pg: Pg; folder?: URL }): Promise<VersionStanding> => {
  const own = [...(await readSchema(folder)), ...(await readFunctions(folder))]
  try {
    return standingOfApplied(own, (await pg.query<Applied>('migrations_applied', APPLIED, [])).rows)
  } catch (error) {
    if (error instanceof DatabaseRefused && error.state === UNDEFINED_TABLE) return standingOfApplied(own, [])
    throw error
  }
}
