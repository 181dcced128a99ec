import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { withLock } from './lock.ts'
import { CommandRefusal } from './refusal.ts'

/** Other versions of Node, by which the one-file client is tried: from npm as ours is (run.sh), in the folder of the tools. */
const VERSIONS = { 20: '20.20.2', 22: '22.23.3', 24: '24.21.0' } as const
export type OtherNode = keyof typeof VERSIONS
export const OTHER_NODES = Object.keys(VERSIONS).map(Number) as OtherNode[]

/** @returns the path of the binary, which is fetched when it is asked for the first time */
export const ensureNode = async (major: OtherNode): Promise<string> => {
  const version = VERSIONS[major]
  const name = `node-linux-${process.arch}`
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
  const folder = join(cache, 'bottega', 'tools', `node-${version}`)
  const binary = join(folder, 'node_modules', name, 'bin', 'node')
  if (existsSync(binary)) return binary
  return withLock(folder, async () => {
    if (existsSync(binary)) return binary
    mkdirSync(dirname(folder), { recursive: true })
    const partial = mkdtempSync(`${folder}.partial-`)
    const wanted = ['install', '--prefix', partial, '--ignore-scripts', '--no-audit', '--no-fund', `${name}@${version}`]
    const { status, stderr } = spawnSync('npm', wanted, { encoding: 'utf8' })
    if (status !== 0) {
      rmSync(partial, { recursive: true, force: true })
      throw new CommandRefusal(`npm could not fetch Node ${version}: check that it reaches its registry.`, {
        detail: stderr.slice(-2_000),
      })
    }
    rmSync(folder, { recursive: true, force: true })
    renameSync(partial, folder)
    return binary
  })
}
