/**
 * Migrations: plain SQL files, each in one transaction together with its record, all under one advisory lock, so that
 * several processes may start at once. Files of the schema are applied once, in order, and never edited: their checksum
 * is kept and compared. Functions follow them, and are made anew when their text is not the one that was applied last.
 * Changes are expand, then contract: an older version may be running beside this one.
 */
import { readFile } from 'node:fs/promises'
import { DatabaseRefused, makePg, type Pg, type Query } from './pg.ts'
import { ensureApiRole, grantTo } from './roles.ts'
import { functionOf, readFunctions, readSchema, type SqlFile } from './sqlfiles.ts'

const FOLDER = new URL('../sql/', import.meta.url)
/** Any constant will do: everybody who migrates Bottega takes the same lock. */
const LOCK = 'select pg_advisory_xact_lock(7205759403792794)'
/** Another process may be migrating a large ledger: wait for it, do not give up after the pool's usual seconds. */
const PATIENCE = "set local lock_timeout = '120s'; set local statement_timeout = '600s'"

const RECORD_TABLE = `create table if not exists migrations (
  name text primary key,
  sha256 text not null,
  applied_at timestamptz not null default now()
)`
const RECORD = `insert into migrations (name, sha256) values ($1, $2)
on conflict (name) do update set sha256 = excluded.sha256, applied_at = excluded.applied_at`
/** What a file of the schema drops or makes anew takes functions and triggers with it: all of them are made again. */
const FORGET_FUNCTIONS = "delete from migrations where name like 'functions/%'"
const FUNCTIONS_OF_NAME = `select count(*)::integer as count from pg_proc
where proname = $1 and pronamespace = current_schema()::regnamespace`
/** PostgreSQL's invalid_function_definition: another result, or another name of an argument. */
const OTHER_SIGNATURE = '42P13'

/** sha256 by name, of all that was applied to this database. */
type Applied = ReadonlyMap<string, string>
/** How the files of one folder are applied. */
type Way = { isDone(file: SqlFile, applied: Applied): boolean; apply(query: Query, file: SqlFile): Promise<void> }

/** Takes the lock and gives what this database has. */
const begin = async (query: Query): Promise<Applied> => {
  await query('migrate_patience', PATIENCE)
  await query('migrate_lock', LOCK)
  await query('migrate_table', RECORD_TABLE)
  const { rows } = await query<{ name: string; sha256: string }>('migrate_read', 'select name, sha256 from migrations')
  const numbered = rows.find(({ name }) => !name.includes('/'))
  if (numbered !== undefined) {
    throw new Error(
      `This database was made by an earlier development version (${numbered.name}), from which no way leads here. ` +
        'Begin with an empty one; development data goes with hack/down --purge.',
    )
  }
  return new Map(rows.map(({ name, sha256 }) => [name, sha256]))
}

const schema: Way = {
  isDone: (file, applied) => {
    const known = applied.get(file.name)
    if (known === file.sha256) return true
    if (known !== undefined) {
      throw new Error(
        `Migration ${file.name} was edited after it had been applied to this database. ` +
          'Restore the file and put the change into a new one.',
      )
    }
    const later = [...applied.keys()].find((name) => name.startsWith('schema/') && name > file.name)
    if (later === undefined) return false
    throw new Error(`Migration ${file.name} comes before ${later}, which this database already has. Renumber it.`)
  },
  apply: async (query, file) => {
    await query(file.name, file.text)
    await query('migrate_forget', FORGET_FUNCTIONS)
  },
}

const signatureChanged = (file: SqlFile, cause?: Error): Error =>
  new Error(
    `another function ${functionOf(file)} is there, with other arguments or another result, which is not replaced. ` +
      'A new file in schema/ has to drop the old one.',
    { cause },
  )

const functions: Way = {
  isDone: (file, applied) => applied.get(file.name) === file.sha256,
  apply: async (query, file) => {
    try {
      await query(file.name, file.text)
    } catch (error) {
      if (error instanceof DatabaseRefused && error.state === OTHER_SIGNATURE) throw signatureChanged(file, error)
      throw error
    }
    // with arguments of other types it would stand beside the old one, and calls would be ambiguous
    const { rows } = await query<{ count: number }>('migrate_count', FUNCTIONS_OF_NAME, [functionOf(file)])
    if (rows[0]?.count !== 1) throw signatureChanged(file)
  },
}

const step = async (query: Query, file: SqlFile, way: Way): Promise<void> => {
  // somebody else may have applied it meanwhile
  if (way.isDone(file, await begin(query))) return
  await way.apply(query, file)
  await query('migrate_record', RECORD, [file.name, file.sha256])
}

const rolledBack = (file: SqlFile, error: unknown): Error => {
  const reason = error instanceof Error ? error.message : String(error)
  return new Error(`Migration ${file.name} failed and was rolled back: ${reason}`, { cause: error })
}

const applyAll = async (pg: Pg, files: readonly SqlFile[], way: Way): Promise<void> => {
  const applied = await pg.tx(begin)
  const open = files.filter((file) => !way.isDone(file, applied))
  for (const file of open) {
    try {
      // a trigger waits for those who write to its table: a deadlock with one is repeated by `tx`
      await pg.tx((query) => step(query, file, way))
    } catch (error) {
      throw rolledBack(file, error)
    }
  }
}

/** Grants follow the last function: one that was made anew under another name is everybody's until then. */
const grantAll = async (pg: Pg, folder: URL, apiUrl: string): Promise<void> => {
  const role = await ensureApiRole(pg, apiUrl)
  const text = await readFile(new URL('grants.sql', folder), 'utf8')
  await pg.tx(async (query) => {
    await begin(query)
    await grantTo(query, text, role)
  })
}

/**
 * Brings the database at `url` to the present schema and functions. Safe to run at any time and by several processes at
 * once. @param options.folder holds `schema/`, `functions/` and `grants.sql`
 * @param options.apiUrl names the api's role, which is made when it is absent, and given what grants.sql names
 * @returns the names of the files of this version, all applied now
 */
export const migrate = async (url: string, options: { folder?: URL; apiUrl?: string } = {}): Promise<string[]> => {
  const folder = options.folder ?? FOLDER
  const files = { schema: await readSchema(folder), functions: await readFunctions(folder) }
  const pg = makePg({ url, max: 1, applicationName: 'bottega-migrate' })
  try {
    await applyAll(pg, files.schema, schema)
    await applyAll(pg, files.functions, functions)
    if (options.apiUrl !== undefined) await grantAll(pg, folder, options.apiUrl)
  } finally {
    await pg.close()
  }
  return [...files.schema, ...files.functions].map((file) => file.name)
}
