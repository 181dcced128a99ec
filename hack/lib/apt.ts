import { existsSync } from 'node:fs'
import { attempt } from './command.ts'
import type { Progress } from './progress.ts'
import { CommandRefusal } from './refusal.ts'

/** A package and the files of which it brings one: a machine that has such a file needs no package. */
export type SystemPackage = { name: string; files: readonly string[] }

const isThere = ({ files }: SystemPackage) => files.some((file) => existsSync(file))
const installMs = 10 * 60_000
/** Another test file may be installing something. */
const lockSeconds = 300

/**
 * Installs what is missing: as root with apt, else a Refusal that says how.
 * @param options.what needs them, as the Refusal names it
 */
export function ensurePackages(
  packages: readonly SystemPackage[],
  { what, progress }: { what: string; progress?: Progress },
): void {
  const missing = [...new Set(packages.filter((one) => !isThere(one)).map(({ name }) => name))]
  if (missing.length === 0) return
  const command = `apt-get install -y --no-install-recommends ${missing.join(' ')}`
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    throw new CommandRefusal(`${what} needs ${missing.join(', ')}; install it (Debian: ${command}) and run this again.`)
  }
  const step = progress?.step(`apt-get install ${missing.join(' ')}`)
  const apt = (...args: string[]) =>
    attempt(
      'env',
      ['DEBIAN_FRONTEND=noninteractive', 'apt-get', '-qq', '-o', `DPkg::Lock::Timeout=${lockSeconds}`, ...args],
      { timeoutMs: installMs },
    )
  const install = () => apt('install', '-y', '--no-install-recommends', ...missing)
  const installed = install()
  const { ok, stderr } = installed.ok || !apt('update').ok ? installed : install() // the lists may be old, or absent
  const left = packages.find((one) => !isThere(one))
  if (!ok || left) {
    step?.fail()
    throw new CommandRefusal(`${command} did not give ${(left ?? packages[0])?.files[0]} (see above).`, {
      detail: stderr.trim(),
    })
  }
  step?.done()
}
