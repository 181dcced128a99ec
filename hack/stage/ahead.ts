import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { toolPath } from '../lib/tools.ts'
import { controlPlaneTools, testTools } from '../lib/tooltable.ts'

const TOOLS = join(import.meta.dirname, '..', 'commands', 'tools.ts')
/** Behind whatever is judged meanwhile. */
const NICENESS = '10'

/**
 * Begins to build what is missing of the tools of all tests, for a run that will need them and has something to do until then: on a new machine
 * they are a quarter of an hour of two processors. Whoever needs one waits for it, and tells what is wrong with it.
 * @returns what ends it
 */
export function buildAhead(isNeeded: boolean): () => void {
  let end = () => {}
  let isOver = !isNeeded
  const buildNext = (lists: readonly (readonly string[])[]): void => {
    const [names, ...rest] = lists
    if (isOver || names === undefined) return
    const missing = names.filter((name) => !existsSync(toolPath(name)))
    if (missing.length === 0) buildNext(rest)
    else end = build(missing, () => buildNext(rest))
  }
  // what most tests stand on comes first
  buildNext([controlPlaneTools, [...new Set(testTools)]])
  return () => {
    isOver = true
    end()
  }
}

const build = (names: readonly string[], onEnd: () => void): (() => void) => {
  const words = ['-n', NICENESS, process.execPath, '--disable-warning=ExperimentalWarning', TOOLS, 'build', ...names]
  // a group of its own, so that the compilers end with it
  const child = spawn('nice', words, { stdio: 'ignore', detached: true })
  child.once('error', () => {}) // then each is built when it is needed
  child.once('exit', onEnd)
  return () => {
    try {
      if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGTERM')
    } catch {
      // it ended by itself meanwhile
    }
  }
}
