import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { attempt } from '../command.ts'
import { cacheOf } from '../files.ts'
import { withLock } from '../lock.ts'
import type { Progress } from '../progress.ts'
import { CommandRefusal } from '../refusal.ts'

/** Tools that are Python programs: a venv per group, with what `hack/lib/python/<group>.txt` pins, each wheel by its hash. */

const installMs = 8 * 60_000

/** Keyed by what is installed, so a changed pin never meets an old venv. */
export const venvFolder = (group: string): string => {
  const pins = readFileSync(pinsOf(group))
  return join(cacheOf('tools'), `${group}-${createHash('sha256').update(pins).digest('hex').slice(0, 16)}`)
}

const pinsOf = (group: string): string => join(import.meta.dirname, `${group}.txt`)

/** Runs pip to its end. @throws a Refusal that says what was to be installed and where the cause may be */
export const pip = (args: readonly string[], what: string): void => {
  const { ok, stdout, stderr } = attempt('python3', ['-m', 'pip', ...args], { timeoutMs: installMs })
  if (ok) return
  const detail = `${stdout}${stderr}`.trim().slice(-2000)
  const why = /do not match the hashes/i.test(detail)
    ? 'what the package index gave is not what is pinned'
    : 'check that python3 has pip (Debian: python3-pip) and that it reaches its package index'
  throw new CommandRefusal(`pip could not install ${what}: ${why}.\n${detail}`)
}

/**
 * Makes the programs of a group available in `venvFolder(group)`. Two callers at once do not install twice. Throws a Refusal when
 * Python or the package index is in the way.
 */
export const ensureVenv = async (
  group: string,
  names: readonly string[],
  { progress }: { progress: Progress },
): Promise<void> => {
  const folder = venvFolder(group)
  const step = progress.step(`installing ${names.join(', ')} by pip`)
  const work = async () => {
    if (!names.every((name) => existsSync(join(folder, name)))) install(group, folder, names)
  }
  try {
    await withLock(folder, work, () => step.update('another command is installing it; waiting for it'))
  } catch (error) {
    step.fail()
    throw error
  }
  step.done(folder)
}

/** A venv cannot be moved once its scripts are written, so the links to them come last and say that it is whole. */
const install = (group: string, folder: string, names: readonly string[]): void => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const venv = join(folder, 'venv')
  // pip itself stays outside: some distributions have their module for it in a package of its own
  const { ok, stderr } = attempt('python3', ['-m', 'venv', '--without-pip', venv])
  if (!ok) throw new CommandRefusal(`python3 could not make a venv for ${group}: is it installed?\n${stderr.trim()}`)
  const python = join(venv, 'bin', 'python')
  const checked = ['--require-hashes', '--only-binary', ':all:', '--no-deps']
  pip(['--python', python, 'install', '-q', '--no-compile', ...checked, '-r', pinsOf(group)], group)
  for (const name of names) symlinkSync(join(venv, 'bin', name), join(folder, name))
}
