import { spawn, spawnSync } from 'node:child_process'
import { existsSync, globSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CommandRefusal } from '../../lib/refusal.ts'

/** pgbench comes with Debian's client packages; npm's PostgreSQL does not bring it. */
const packages = ['postgresql-contrib', 'postgresql-15']
const places = ['/usr/bin/pgbench', '/usr/local/bin/pgbench', '/opt/homebrew/bin/pgbench']

/** One script and how many clients run it. */
export type PgbenchRun = { url: string; folder: string; name: string; script: string; clients: number; seconds: number }

/** The path of pgbench; as root it is installed when absent. */
export function ensurePgbench(): string {
  const found = findPgbench()
  if (found !== null) return found
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    for (const name of packages) {
      spawnSync('apt-get', ['install', '-y', '--no-install-recommends', name], { stdio: 'ignore' })
      const installed = findPgbench()
      if (installed !== null) return installed
    }
  }
  throw new CommandRefusal(
    'pgbench is needed to measure the peers: install it (Debian: apt-get install postgresql-contrib).',
  )
}

function findPgbench(): string | null {
  return places.find((path) => existsSync(path)) ?? globSync('/usr/lib/postgresql/*/bin/pgbench').at(-1) ?? null
}

/** Runs a script in prepared mode for some seconds and gives the transactions per second. */
export async function pgbench({ url, folder, name, script, clients, seconds }: PgbenchRun): Promise<number> {
  const file = join(folder, `${name}.sql`)
  writeFileSync(file, script)
  const jobs = String(Math.min(2, clients))
  const args = ['-n', '-M', 'prepared', '-c', String(clients), '-j', jobs, '-T', String(seconds), '-f', file, url]
  const child = spawn(ensurePgbench(), args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  const code = await new Promise((resolve) => child.on('close', resolve))
  const tps = /^tps = ([\d.]+)/m.exec(output)?.[1]
  if (code !== 0 || tps === undefined) throw new CommandRefusal('pgbench failed (see above).', { detail: output })
  return Number(tps)
}
