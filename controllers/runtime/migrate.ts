/**
 * Migrations: plain SQL files, applied in order, each in one transaction together with its record, all under one
 * advisory lock, so that several processes may start at once. A file that was applied is never edited: its checksum is
 * kept and compared. Changes are expand, then contract: an older version may be running beside this one.
 */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { makePg, type Query } from './pg.ts'

const FOLDER = new URL('./sql/', import.meta.url)
const FILE_NAME = /^\d{4}_[a-z0-9_]+\.sql$/
/** Any constant will do: everybody who migrates Bottega takes the same lock. */
const LOCK = 'select pg_advisory_xact_lock(7205759403792794)'
/** Another process may be migrating a large ledger: wait for it, do not give up after the pool's usual seconds. */
const PATIENCE = "set local lock_timeout = '120s'; set local statement_timeout = '600s'"

const RECORD_TABLE = `create table if not exists migrations (
  name text primary key,
  sha256 text not null,
  applied_at timestamptz not null default now()
)`

type Migration = { name: string; sha256: string; text: string }
type Applied = { name: string; sha256: string }

const readMigrations = async (folder: URL): Promise<Migration[]> => {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  return await Promise.all(
    names.map(async (name) => {
      if (!FILE_NAME.test(name)) throw new Error(`Migration ${name} must be named like 0001_register.sql`)
      const text = await readFile(new URL(name, folder), 'utf8')
      return { name, sha256: createHash('sha256').update(text).digest('hex'), text }
    }),
  )
}

const check = (migration: Migration, applied: Applied[]): 'apply' | 'done' => {
  const known = applied.find((row) => row.name === migration.name)
  if (known !== undefined) {
    if (known.sha256 === migration.sha256) return 'done'
    throw new Error(
      `Migration ${migration.name} was edited after it had been applied to this database. ` +
        'Restore the file and put the change into a new one.',
    )
  }
  const later = applied.find((row) => row.name > migration.name)
  if (later === undefined) return 'apply'
  throw new Error(
    `Migration ${migration.name} comes before ${later.name}, which this database already has. Renumber it.`,
  )
}

const apply = async (query: Query, migration: Migration): Promise<void> => {
  await query('migrate_patience', PATIENCE)
  await query('migrate_lock', LOCK)
  await query('migrate_table', RECORD_TABLE)
  const { rows: applied } = await query<Applied>('migrate_read', 'select name, sha256 from migrations')
  if (check(migration, applied) === 'done') return
  try {
    await query(migration.name, migration.text)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`Migration ${migration.name} failed and was rolled back: ${reason}`, { cause: error })
  }
  const record = 'insert into migrations (name, sha256) values ($1, $2)'
  await query('migrate_record', record, [migration.name, migration.sha256])
}

/**
 * Brings the database at `url` to the present schema. Safe to run at any time and by several processes at once.
 * @returns the names of the files of this version, all applied now
 */
export const migrate = async (url: string, options: { folder?: URL } = {}): Promise<string[]> => {
  const migrations = await readMigrations(options.folder ?? FOLDER)
  const pg = makePg({ url, max: 1, applicationName: 'bottega-migrate' })
  try {
    for (const migration of migrations) await pg.tx((query) => apply(query, migration))
  } finally {
    await pg.close()
  }
  return migrations.map((migration) => migration.name)
}
