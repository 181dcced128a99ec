import { spawnSync } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { FileResult } from '../../test/support/runner/result.ts'
import { runFiles } from '../../test/support/runner/run.ts'
import { createProgress } from '../lib/progress.ts'
import { CommandRefusal, messageOf, runCommand } from '../lib/refusal.ts'
import { clearNode } from '../stage/node/node.ts'
import { endStaleStages, startStage } from '../stage/stage.ts'

const root = join(import.meta.dirname, '..', '..')
const minute = 60_000
const defaultWorkers = 2

/** The parts in the order in which they run. A part on the stage gets the real control plane and PostgreSQL. */
const parts = {
  unit: {
    globs: ['test/*.test.ts', 'test/support/**/*.test.ts', 'test/crds/**/*.test.ts'],
    onStage: false,
    isPure: true,
    deadlineMs: 12 * minute,
  },
  integration: {
    globs: ['test/controllers/**/*.test.ts', 'test/api/**/*.test.ts', 'test/e2e/**/*.test.ts'],
    onStage: true,
    deadlineMs: 15 * minute,
  },
  // Most of one is waiting for a host; so that none of the long ones is left alone at the end, they begin.
  hosts: {
    globs: ['test/hosts/**/*.test.ts'],
    first: ['test/hosts/*/{crash,converge,traffic,faults,drain,order}.test.ts'],
    workers: 3,
    onStage: true,
    docker: true,
    deadlineMs: 15 * minute,
  },
  pages: { globs: ['test/pages/**/*.test.ts'], onStage: true, deadlineMs: 15 * minute },
  cluster: { globs: ['test/cluster/**/*.test.ts'], onStage: false, deadlineMs: 30 * minute, after: clearNode },
} as const satisfies Record<string, Part>

type Part = {
  globs: readonly string[]
  /** Files that are begun with, for they take long. */
  first?: readonly string[]
  /** Files side by side. */
  workers?: number
  onStage: boolean
  /** Nothing outside is touched: what fails, fails. */
  isPure?: boolean
  /** The stage has a Docker engine as well. */
  docker?: boolean
  deadlineMs: number
  /** Clears away what test files that were cut off could not. */
  after?: () => Promise<void>
}
type PartName = keyof typeof parts
type Chosen = { part: Part; files: string[] }

/** With `--full` the long counts run, and a file may take this much longer. */
const fullFactor = 6

/** Files of a part on real parts that may be run once more; with `--strict`, or named one by one, none is. */
const secondTriesMax = 3

const usage = `Usage: hack/test [--only ${Object.keys(parts).join(',')}] [--full] [--strict] [FILE…]`

async function main(): Promise<number> {
  const { only, full, strict, files } = readArguments()
  const named = files.length > 0
  const chosen = named ? chooseFiles(files) : chooseParts(only)
  const abort = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => abort.abort())

  const total: FileResult = { passed: 0, failed: 0, skipped: 0 }
  if (files.length === 0 && (only === null || only.includes('unit'))) add(total, staticChecks())
  const runId = `test-${process.pid}-${Date.now()}`
  const run = async ({ part, files }: Chosen, env: Record<string, string>) => {
    const deadlineMs = part.deadlineMs * (full ? fullFactor : 1)
    const fullEnv = { ...env, ...(full ? { BOTTEGA_TEST_FULL: '1' } : {}) }
    const workers = part.workers ?? defaultWorkers
    const tries = part.isPure || strict || named ? 0 : secondTriesMax
    const options = { root, deadlineMs, env: fullEnv, runId, signal: abort.signal, workers, secondTriesMax: tries }
    add(total, await runFiles(files, options))
    await part.after?.()
  }
  for (const one of chosen.filter(({ part }) => !part.onStage)) await run(one, {})
  add(
    total,
    await runOnStage(
      chosen.filter(({ part }) => part.onStage),
      { run, runId, signal: abort.signal },
    ),
  )
  for (const file of total.unsteady ?? []) console.log(`unsteady: ${file} failed, and passed when run again alone`)
  if (abort.signal.aborted) console.log('interrupted')
  console.log(`${total.passed} passed, ${total.failed} failed${total.skipped ? `, ${total.skipped} skipped` : ''}`)
  if (abort.signal.aborted) return 130
  return total.failed === 0 && total.passed > 0 ? 0 : 1
}

type OnStage = {
  run: (chosen: Chosen, env: Record<string, string>) => Promise<void>
  runId: string
  signal: AbortSignal
}

/** The stage is taken down on every way out; one that cannot be set up is a failure, not a skip. */
async function runOnStage(chosen: readonly Chosen[], { run, runId, signal }: OnStage): Promise<FileResult> {
  const none: FileResult = { passed: 0, failed: 0, skipped: 0 }
  if (chosen.length === 0 || signal.aborted) return none
  await endStaleStages()
  const docker = chosen.some(({ part }) => part.docker)
  const stage = await startStage({ owner: runId, signal, progress: createProgress(), docker }).catch((error) => {
    if (error instanceof CommandRefusal && error.detail) console.log(error.detail)
    console.log(`✗ the control plane and PostgreSQL for the tests: ${messageOf(error)}`)
    return null
  })
  if (stage === null) return { ...none, failed: 1 }
  try {
    for (const one of chosen) await run(one, stage.env)
  } finally {
    await stage.end()
  }
  return none
}

type Arguments = { only: PartName[] | null; full: boolean; strict: boolean; files: string[] }

function readArguments(): Arguments {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        only: { type: 'string' },
        full: { type: 'boolean', default: false },
        strict: { type: 'boolean', default: false },
      },
    })
    return {
      only: values.only === undefined ? null : values.only.split(',').map(asPart),
      full: values.full,
      strict: values.strict,
      files: positionals,
    }
  } catch (error) {
    throw error instanceof CommandRefusal ? error : new CommandRefusal(`${messageOf(error)}\n${usage}`, { exitCode: 2 })
  }
}

function asPart(name: string): PartName {
  const part = Object.keys(parts).find((known): known is PartName => known === name)
  if (part === undefined)
    throw new CommandRefusal(`There is no part ${name}; known are ${Object.keys(parts).join(', ')}.`, { exitCode: 2 })
  return part
}

function chooseParts(only: readonly PartName[] | null): Chosen[] {
  return Object.entries(parts).flatMap(([name, part]) => {
    if (only !== null && !only.some((wanted) => wanted === name)) return []
    const files = filesOf(part)
    if (files.length === 0 && only !== null)
      throw new CommandRefusal(`The part ${name} has no test file yet.`, { exitCode: 2 })
    return files.length === 0 ? [] : [{ part, files }]
  })
}

function chooseFiles(paths: readonly string[]): Chosen[] {
  const wanted = paths.map((path) => resolve(path))
  const chosen = Object.values(parts).map((part) => ({
    part,
    files: filesOf(part).filter((file) => wanted.includes(file)),
  }))
  for (const path of wanted) {
    if (chosen.some(({ files }) => files.includes(path))) continue
    throw new CommandRefusal(`${relative(process.cwd(), path)} is not a test file of any part (test/…/*.test.ts).`, {
      exitCode: 2,
    })
  }
  return chosen.filter(({ files }) => files.length > 0)
}

function filesOf({ globs, first = [] }: Part): string[] {
  const matching = (patterns: readonly string[]) => globSync([...patterns], { cwd: root }).sort()
  return [...new Set([...matching(first), ...matching(globs)])].map((path) => join(root, path))
}

/** What the compiler, the linter and the generator say counts as one test each. */
function staticChecks(): FileResult {
  const bin = (name: string) => join(root, 'node_modules', '.bin', name)
  const checks: [string, string, string[]][] = [
    ['tsc --noEmit', bin('tsc'), ['--noEmit']],
    ['biome check .', bin('biome'), ['check', '--colors=off', '.']],
  ]
  if (existsSync(join(root, 'hack', 'generate')))
    checks.push(['hack/generate --check', join(root, 'hack', 'generate'), ['--check']])
  const result: FileResult = { passed: 0, failed: 0, skipped: 0 }
  for (const [title, command, args] of checks) {
    const startedMs = performance.now()
    const { status, stdout, stderr, error } = spawnSync(command, args, {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 ** 2,
    })
    const good = status === 0
    if (good) result.passed += 1
    else result.failed += 1
    console.log(`${good ? '✓' : '✗'} ${title} (${((performance.now() - startedMs) / 1000).toFixed(1)} s)`)
    if (!good) console.log(`${error ? error.message : `${stdout}${stderr}`}`.trimEnd().replaceAll(/^/gm, '    '))
  }
  return result
}

function add(total: FileResult, more: FileResult): void {
  total.passed += more.passed
  total.failed += more.failed
  total.skipped += more.skipped
  if (more.unsteady) total.unsteady = [...(total.unsteady ?? []), ...more.unsteady]
}

await runCommand(main)
process.exit()
