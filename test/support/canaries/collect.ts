/** Keeps what the parts of a test wrote, where they are about to be thrown away. */
import { chmodSync, cpSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import PostalMime from 'postal-mime'
import { query } from '../../../hack/platform/postgres.ts'
import { documentsOf } from './documents.ts'
import type { Place } from './kinds.ts'
import { keepingFolder, keepText, plant } from './plant.ts'

const LOGS = '*.log{,.[0-9]}'

/** By the server itself, each table that holds something as one file: bytes stand there in hex. */
const COPY = (folder: string): string => `do $copy$
declare
  one record;
  filled boolean;
begin
  for one in
    select c.oid::regclass as place, c.relname as name from pg_class c
    where c.relkind = 'r' and c.relnamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
  loop
    execute format('select exists (select from %s)', one.place) into filled;
    if filled then
      execute format('copy %s to %L', one.place, '${folder}/' || one.name);
    end if;
  end loop;
end
$copy$`

const nameIn = (url: string): string => new URL(url).pathname.slice(1)

/** Names of databases that were not read. */
export const SILENT = 'silent'
/** Texts of documents that lay in them. */
export const DOCUMENTS = 'documents'

/** One database, as it is before it goes. A server that a test has ended says nothing more: it is told how many did. */
export const keepDatabase = async (url: string): Promise<void> => {
  const folder = keepingFolder('database', nameIn(url))
  if (folder === null) return
  chmodSync(folder, 0o777)
  const kept = async () => {
    await query(url, COPY(folder.replaceAll("'", "''")))
    for (const text of await documentsOf(url)) keepText('database', DOCUMENTS, text)
  }
  await kept().catch(() => keepText('database', SILENT, nameIn(url)))
}

const NAMES = "select datname from pg_database where datallowconn and not datistemplate and datname <> 'postgres'"

/** All that lie on a server. */
export const keepDatabases = async (url: string): Promise<void> => {
  if (keepingFolder('database', 'server') === null) return
  const rows = await query(url, NAMES).catch(() => [])
  for (const { datname } of rows) {
    const one = new URL(url)
    one.pathname = `/${datname}`
    await keepDatabase(one.href)
  }
}

const keepFiles = (place: Place, folder: string, globs: readonly string[]): void => {
  const files = globSync([...globs], { cwd: folder })
  const kept = files.length === 0 ? null : keepingFolder(place, basename(folder))
  if (kept !== null) for (const file of files) cpSync(join(folder, file), join(kept, file), { recursive: true })
}

export const keepLogs = (folder: string): void => keepFiles('log', folder, [LOGS])

/** A control plane that has ended, or is about to: what its etcd holds on disk, which is all that was written lately. */
export const keepPlane = (folder: string): void => {
  keepLogs(folder)
  keepFiles('cluster', join(folder, 'etcd'), ['member/{wal,snap}/*'])
}

const SIGNIN = /\/signin\/link\/[\w-]+\.([\w-]{22})/g

/** As a reader sees them, without what is attached; by whom they went to. */
export const keepMails = async (dir: string): Promise<void> => {
  const files = existsSync(dir) ? globSync('*.eml', { cwd: dir }) : []
  const kept = files.length === 0 ? null : keepingFolder('mail', 'caught')
  if (kept === null) return
  for (const file of files) {
    const { from, to = [], subject, text, html, headers } = await PostalMime.parse(readFileSync(join(dir, file)))
    const whom = to
      .map(({ address }) => address)
      .join()
      .replaceAll('/', '_')
    for (const [, secret] of (text ?? '').matchAll(SIGNIN)) plant('link to sign in', secret ?? '')
    mkdirSync(join(kept, whom), { recursive: true })
    writeFileSync(join(kept, whom, file), [from?.address, subject, text, html, JSON.stringify(headers)].join('\n'))
  }
}

/** The pages as they are; of a process that a test has ended there is none. */
export const keepMetrics = async (urls: Readonly<Record<string, string>>): Promise<void> => {
  for (const [name, url] of Object.entries(urls)) {
    const page = await fetch(url, { signal: AbortSignal.timeout(5_000) }).catch(() => null)
    if (page?.ok) keepText('metrics', name, await page.text())
  }
}
