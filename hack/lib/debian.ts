import { existsSync } from 'node:fs'
import { attempt } from './command.ts'
import type { Progress } from './progress.ts'
import { Refusal } from './refusal.ts'

/** A package and the files of which it brings one: a machine that has such a file needs no package. */
export type DebianPackage = { name: string; files: readonly string[] }

const isThere = ({ files }: DebianPackage) => files.some((file) => existsSync(file))
const installMs = 10 * 60_000

/** Installs what is missing: as root with apt, else a Refusal that says how. */
export function ensurePackages(packages: readonly DebianPackage[], { progress }: { progress: Progress }): void {
  const missing = packages.filter((one) => !isThere(one)).map(({ name }) => name)
  if (missing.length === 0) return
  const command = `apt-get install -y --no-install-recommends ${missing.join(' ')}`
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    throw new Refusal(`These are needed and not installed: ${missing.join(', ')}. Install them (Debian: ${command}).`)
  }
  const step = progress.step(`apt-get install ${missing.join(' ')}`)
  const apt = (...args: string[]) =>
    attempt('env', ['DEBIAN_FRONTEND=noninteractive', 'apt-get', '-qq', ...args], { timeoutMs: installMs })
  const install = () => apt('install', '-y', '--no-install-recommends', ...missing)
  const installed = install()
  const { ok, stderr } = installed.ok || !apt('update').ok ? installed : install() // the lists may be old, or absent
  if (!ok || !packages.every(isThere)) {
    step.fail()
    throw new Refusal(`apt-get could not install ${missing.join(', ')} (see above).`, { detail: stderr.trim() })
  }
  step.done()
}
