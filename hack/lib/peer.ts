import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { withLock } from './lock.ts'
import type { Progress } from './progress.ts'
import { pip } from './python/venv.ts'
import { CommandRefusal } from './refusal.ts'

/** Peers that a figure is held against and that the project itself does not use: pinned here, installed in the user's cache. */

const peersFolder = join(import.meta.dirname, '..', 'benches', 'sides', 'peers')
const pins = ['package.json', 'package-lock.json'] as const
const installTimeoutMs = 300_000

/**
 * The folder with `node_modules` of a peer, as its lockfile has it; installed at the first call, without install scripts. Two
 * callers at once do not install twice. Throws a Refusal when npm cannot reach its registry.
 * @param name folder below hack/benches/sides/peers
 */
export async function ensurePeer(name: string, { progress }: { progress: Progress }): Promise<string> {
  const hash = createHash('sha256')
  for (const file of pins) hash.update(readFileSync(join(peersFolder, name, file)))
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
  const folder = join(cache, 'bottega', 'peers', `${name}-${hash.digest('hex').slice(0, 16)}`)
  await withLock(folder, async () => {
    if (!existsSync(folder)) install(name, folder, progress)
  })
  return folder
}

/**
 * The folder to put on PYTHONPATH for a peer of Python, as its requirements.txt has it; installed at the first call. Throws a
 * Refusal when pip cannot reach its registry.
 * @param name folder below hack/benches/sides/peers
 */
export async function ensurePythonPeer(name: string, { progress }: { progress: Progress }): Promise<string> {
  const requirements = join(peersFolder, name, 'requirements.txt')
  const hash = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 16)
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
  const folder = join(cache, 'bottega', 'peers', `${name}-${hash}`)
  await withLock(folder, async () => {
    if (existsSync(folder)) return
    const step = progress.step(`installing the peer ${name} by pip`)
    const growing = `${folder}.new`
    rmSync(growing, { recursive: true, force: true })
    const words = ['install', '-q', '--no-deps', '--target', growing, '-r', requirements]
    try {
      pip(words, name)
    } catch (error) {
      step.fail()
      throw error
    }
    renameSync(growing, folder)
    step.done()
  })
  return folder
}

function install(name: string, folder: string, progress: Progress): void {
  const step = progress.step(`installing the peer ${name} from npm`)
  const growing = `${folder}.new`
  rmSync(growing, { recursive: true, force: true })
  mkdirSync(growing, { recursive: true })
  for (const file of pins) copyFileSync(join(peersFolder, name, file), join(growing, file))
  const words = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const done = spawnSync('npm', words, { cwd: growing, encoding: 'utf8', timeout: installTimeoutMs })
  if (done.status !== 0) {
    step.fail()
    throw new CommandRefusal(
      `npm could not install ${name}: check that it reaches its registry.\n${done.stderr?.slice(-2000) ?? ''}`,
    )
  }
  renameSync(growing, folder)
  step.done()
}
