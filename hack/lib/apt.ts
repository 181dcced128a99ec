import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { Refusal } from './refusal.ts'

/** Programs of the system that a part needs: where they lie once the package is there. */
export type SystemProgram = { path: string; package: string }

/** Installs what is missing with apt when root; else a Refusal that says how to get it. */
export function ensurePrograms(programs: readonly SystemProgram[], what: string): void {
  const missing = programs.filter(({ path }) => !existsSync(path))
  if (missing.length === 0) return
  const packages = [...new Set(missing.map((program) => program.package))].join(' ')
  const by = `apt-get install -y --no-install-recommends ${packages}`
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    throw new Refusal(
      `${what} needs ${missing.map(({ path }) => path).join(', ')}; install it (Debian: ${by}) and run this again.`,
    )
  }
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const apt = (args: string[]) => spawnSync('apt-get', args, { encoding: 'utf8', env })
  let done = apt(['install', '-y', '--no-install-recommends', ...packages.split(' ')])
  if (done.status !== 0) {
    apt(['update'])
    done = apt(['install', '-y', '--no-install-recommends', ...packages.split(' ')])
  }
  const left = programs.find(({ path }) => !existsSync(path))
  if (left) throw new Refusal(`${by} did not give ${left.path} (see above).`, { detail: done.stderr.trim() })
}
