import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { ensurePackages } from './apt.ts'
import { attempt } from './command.ts'
import { withLock } from './lock.ts'
import { Refusal } from './refusal.ts'

const installMs = 5 * 60_000
const VENV = { name: 'python3-venv', files: ['/usr/bin/python3', '/usr/local/bin/python3'] }

/**
 * A virtual environment with the packages of PyPI that are asked for, in the user's cache; made by the first caller.
 * @param what needs them, as a Refusal names it  @param pinned such as `schemathesis==4.32.5`
 * @returns the folder of its programs
 */
export async function ensurePython(what: string, pinned: readonly string[]): Promise<string> {
  const digest = createHash('sha256').update(pinned.toSorted().join('\n')).digest('hex').slice(0, 16)
  const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'bottega', `python-${digest}`)
  const [bin, made] = [join(folder, 'bin'), join(folder, 'made')]
  await withLock(folder, async () => {
    if (existsSync(made)) return
    if (!attempt('python3', ['-m', 'venv', '--help']).ok) ensurePackages([VENV], { what })
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-input', ...pinned]
    for (const [command, args] of [
      ['python3', ['-m', 'venv', folder]],
      [join(bin, 'python3'), pip],
    ] as const) {
      const { ok, stderr } = attempt(command, args, { timeoutMs: installMs })
      if (!ok)
        throw new Refusal(`${what} needs ${pinned.join(', ')} from PyPI, which could not be installed: ${stderr}`)
    }
    writeFileSync(made, '')
  })
  return bin
}
