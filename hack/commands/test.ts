import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, readdirSync, rmSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import { type Canaries, openCanaries } from '../../test/support/canaries/judge.ts'
import { type Arguments, readArguments } from '../../test/support/runner/arguments.ts'
import { boundsOf } from '../../test/support/runner/bounds.ts'
import { type Calls, openCalls } from '../../test/support/runner/calls.ts'
import {
  type Chosen,
  type Group,
  groups,
  type Part,
  type PartName,
  partNames,
  parts,
  wallOf,
} from '../../test/support/runner/parts.ts'
import { type Laned, openRecord, type RunRecord } from '../../test/support/runner/record.ts'
import { add, type FileResult, nothing, tellWhich } from '../../test/support/runner/result.ts'
import { runFiles, type TestFile } from '../../test/support/runner/run.ts'
import { turnOf } from '../../test/support/runner/turns.ts'
import { createProgress } from '../lib/progress.ts'
import { CommandRefusal, messageOf, runCommand } from '../lib/refusal.ts'
import { paths } from '../lib/state.ts'
import { buildAhead } from '../stage/ahead.ts'
import { endStaleStages, startStage, type TestStage } from '../stage/stage.ts'

const root = join(import.meta.dirname, '..', '..')
/** With `--full` the long counts run, and a file may take this much longer. */
const fullFactor = 40
/** As many deaths as were asked for (test/support/crash/sweep.ts) take as long as they take, too. */
const factorOf = (full: boolean): number => (full || process.env.BOTTEGA_TEST_DEATHS !== undefined ? fullFactor : 1)

/**
 * Of so many files on real parts one may fail by chance, and is run once more; when more fail it is no chance. With `--strict`, or
 * named one by one, none is.
 */
const filesPerSecondTry = 40
const secondTriesMin = 3
const secondTriesOf = (count: number): number => Math.max(secondTriesMin, Math.ceil(count / filesPerSecondTry))

/** Node leaves what it compiled there for the next process: hundreds are started here, and all read the same files. */
const compiledFilesMax = 20_000
function openCompiled(): string {
  if (existsSync(paths.compiled) && readdirSync(paths.compiled, { recursive: true }).length > compiledFilesMax)
    rmSync(paths.compiled, { recursive: true, force: true })
  return paths.compiled
}

/** What the files on real parts may take by the clock: with the pure part and the set-up, 20 minutes on two cores (hack/decisions/063). */
const turnLimitMs = 11 * 60_000

async function main(): Promise<number> {
  const asked = readArguments()
  const { only, full, strict, files, minutes } = asked
  const named = files.length > 0
  const { chosen, isWhole: isAll, isFirst, record } = choose(asked)
  const bounds = boundsOf({ minutes, isFirst })
  const abort = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => abort.abort())

  const total: FileResult = { ...nothing }
  const isWhole = () => isAll && total.late === undefined
  if (files.length === 0 && (only === null || only.includes('unit'))) add(total, await staticChecks())
  const compiled = openCompiled()
  const [calls, canaries] = [openCalls(), openCanaries()]
  const runId = `test-${process.pid}-${Date.now()}`
  const testFilesOf = ({ name, part, files }: Chosen, stageEnv: Env): TestFile[] => {
    const env = {
      ...(part.onStage ? stageEnv : {}),
      ...calls.env,
      ...(part.isPure ? {} : canaries.env),
      ...(part.isPure ? { NODE_DISABLE_COMPILE_CACHE: '1' } : { NODE_COMPILE_CACHE: compiled }), // judges/work.ts
      ...(full ? { BOTTEGA_TEST_FULL: '1' } : {}),
    }
    return files.map((path) => ({ path, env, lane: name, deadlineMs: part.deadlineMs * factorOf(full) }))
  }
  const run = async (group: readonly Chosen[], { places }: Group, stageEnv: Env) => {
    const testFiles = group.flatMap((one) => testFilesOf(bounds === null ? one : drawnOrder(one), stageEnv))
    const tries = strict || named || group.some(({ part }) => part.isPure) ? 0 : secondTriesOf(testFiles.length)
    const leftMs = (limit: number) => () => limit * 60_000 - performance.now()
    const isPast = (limit: number) => () => leftMs(limit)() < 0
    const options = {
      root,
      runId,
      signal: abort.signal,
      places,
      secondTriesMax: tries,
      ...(bounds && { isLate: isPast(bounds.begin), isOver: isPast(bounds.again), leftMs: leftMs(bounds.end) }),
      ...(full ? {} : { onEnd: record.note }),
    }
    const result = await runFiles(testFiles, options)
    add(total, result)
    if (!full) record.noteLeft(lanedOf(group), result.late ?? [])
    for (const { part } of group) await part.after?.()
  }
  const endBuilding = buildAhead(isAll)
  try {
    add(total, await runGroups(chosen, { run, calls, canaries, isWhole, runId, signal: abort.signal }))
    if (!abort.signal.aborted) add(total, await calls.judge(isWhole()))
  } finally {
    endBuilding()
    calls.remove()
    canaries.remove()
  }
  tellWhich(total)
  if (abort.signal.aborted) console.log('interrupted')
  console.log(`${total.passed} passed, ${total.failed} failed${total.skipped ? `, ${total.skipped} skipped` : ''}`)
  if (abort.signal.aborted) return 130
  return total.failed === 0 && total.passed > 0 ? 0 : 1
}

type Env = Record<string, string>

const DAY_MS = 86_400_000

/** Where time may run out, files on real parts take turns by the day: none is always the last. */
function drawnOrder(one: Chosen): Chosen {
  if (!one.part.onStage) return one
  const day = Math.floor(Date.now() / DAY_MS)
  const placeOf = (file: string) =>
    createHash('sha256')
      .update(`${day} ${pathOf(file)}`)
      .digest('hex')
  return { ...one, files: one.files.toSorted((a, b) => placeOf(a).localeCompare(placeOf(b))) }
}

const pathOf = (file: string): string => relative(root, file)

/** `isFirst`: nothing was run here before. */
type Choice = { chosen: readonly Chosen[]; isWhole: boolean; isFirst: boolean; record: RunRecord }

const lanedOf = (chosen: readonly Chosen[]): Laned[] => chosen.map(({ name, files }) => ({ lane: name, files }))

/** What is asked for by name or by part is run whatever was run before. */
function choose({ only, whole, full, files }: Arguments): Choice {
  const isNamed = files.length > 0
  const all = isNamed ? chooseFiles(files) : chooseParts(only)
  const record = openRecord(
    root,
    paths.testTurns,
    all.flatMap((one) => one.files),
  )
  if (isNamed || only !== null || whole || full)
    return { chosen: all, isWhole: !isNamed && only === null, isFirst: false, record }
  const isFirst = Object.keys(record.pasts()).length === 0
  const chosen = isFirst ? all : chooseTurn(all, record)
  return { chosen, isWhole: chosen === all, isFirst, record }
}

/** Of the files on real parts those whose turn it is; the others had theirs in a run before. Said, and never a failure hidden. */
function chooseTurn(all: readonly Chosen[], record: RunRecord): readonly Chosen[] {
  const long = record.candidatesOf(lanedOf(all.filter(({ part }) => !part.isPure)))
  const turn = new Set(turnOf(long, record.pasts(), { limitMs: turnLimitMs, wallOf }))
  if (turn.size === long.length) return all
  const left = `${long.length - turn.size} had theirs in a run before, or have it in the next`
  console.log(`· ${turn.size} of ${long.length} files on real parts have their turn; ${left}. --whole runs all.`)
  return all.flatMap((one) => {
    const files = one.part.isPure ? one.files : one.files.filter((file) => turn.has(pathOf(file)))
    return files.length === 0 ? [] : [{ ...one, files }]
  })
}

type GroupRun = {
  run: (group: readonly Chosen[], shape: Group, stageEnv: Env) => Promise<void>
  calls: Calls
  canaries: Canaries
  /** Asked when all has run that had time to. */
  isWhole(): boolean
  runId: string
  signal: AbortSignal
}

/**
 * The stage comes up with the first group that needs it, its Docker with the first that needs that, and is taken down on
 * every way out; one that cannot be set up is a failure, not a skip.
 */
async function runGroups(
  chosen: readonly Chosen[],
  { run, calls, canaries, isWhole, runId, signal }: GroupRun,
): Promise<FileResult> {
  const progress = createProgress()
  const result: FileResult = { ...nothing }
  let stage: TestStage | undefined
  const openStage = async (group: readonly Chosen[]): Promise<Env> => {
    if (!group.some(({ part }) => part.onStage)) return {}
    if (stage === undefined) await endStaleStages()
    stage ??= await startStage({ owner: runId, calls: calls.stageFile, signal, progress })
    return group.some(({ part }) => part.docker) ? { ...stage.env, ...(await stage.openDocker()) } : stage.env
  }
  try {
    for (const shape of groups) {
      const group = shape.parts.flatMap((name) => chosen.filter((one) => one.name === name))
      if (group.length === 0 || signal.aborted) continue
      const env = await openStage(group).catch((error) => {
        if (error instanceof CommandRefusal && error.detail) console.log(error.detail)
        console.log(`✗ the real parts for the tests: ${messageOf(error)}`)
        add(result, { ...nothing, failed: 1, bad: ['the real parts for the tests'] })
        return null
      })
      const ready = env === null ? group.filter(({ part }) => !part.onStage) : group
      await run(ready, shape, env ?? {})
    }
    // while the shared parts still have what they wrote
    if (!signal.aborted)
      add(result, await canaries.judge({ isWhole: isWhole(), stage: stage?.env.BOTTEGA_TEST_FOLDER ?? null }))
  } finally {
    await stage?.end()
  }
  return result
}

function chooseParts(only: readonly PartName[] | null): Chosen[] {
  return partNames.flatMap((name) => {
    const part: Part = parts[name]
    if (only !== null && !only.some((wanted) => wanted === name)) return []
    const files = filesOf(part)
    if (files.length === 0 && only !== null)
      throw new CommandRefusal(`The part ${name} has no test file yet.`, { exitCode: 2 })
    return files.length === 0 ? [] : [{ name, part, files }]
  })
}

function chooseFiles(paths: readonly string[]): Chosen[] {
  const wanted = paths.map((path) => resolve(path))
  const chosen = partNames.map((name) => {
    const part: Part = parts[name]
    return { name, part, files: filesOf(part).filter((file) => wanted.includes(file)) }
  })
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
async function staticChecks(): Promise<FileResult> {
  const bin = (name: string) => join(root, 'node_modules', '.bin', name)
  const checks: [string, string, string[]][] = [
    ['tsc --noEmit', bin('tsc'), ['--noEmit']],
    ['biome check .', bin('biome'), ['check', '--colors=off', '.']],
  ]
  if (existsSync(join(root, 'hack', 'generate')))
    checks.push(['hack/generate --check', join(root, 'hack', 'generate'), ['--check']])
  const result: FileResult = { ...nothing }
  const check = async ([title, command, args]: [string, string, string[]]) => {
    const startedMs = performance.now()
    const outcome = await promisify(execFile)(command, args, { cwd: root, maxBuffer: 64 * 1024 ** 2 }).then(
      () => null,
      (error: Error & { stdout?: string; stderr?: string }) => `${error.stdout || error.message}${error.stderr ?? ''}`,
    )
    if (outcome === null) result.passed += 1
    else add(result, { ...nothing, failed: 1, bad: [title] })
    console.log(`${outcome === null ? '✓' : '✗'} ${title} (${((performance.now() - startedMs) / 1000).toFixed(1)} s)`)
    if (outcome !== null) console.log(outcome.trimEnd().replaceAll(/^/gm, '    '))
  }
  await Promise.all(checks.map(check))
  return result
}

await runCommand(main)
process.exit()
