import { spawn } from 'node:child_process'
import { relative } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { endProcesses, findOwned } from '../../../hack/lib/processes.ts'
import { type FileResult, resultPrefix } from './result.ts'
import { type Places, runScheduled } from './schedule.ts'

/** A test file with what its part gives it. `lane`: whose places it shares. */
export type TestFile = {
  path: string
  deadlineMs: number
  env: Readonly<Record<string, string | undefined>>
  lane?: string
}

export type RunOptions = {
  /** Paths are shown relative to it, and each file runs in it. */
  root: string
  /** Names the run; a file's processes are found again by it. */
  runId: string
  signal: AbortSignal
  places: Places
  /** At most so many files that failed are run once more, alone; when more fail it is no chance, and none is. */
  secondTriesMax: number
  /** True from when on no file begins any more. */
  isLate?: () => boolean
  /** True from when on no second try begins any more: what ran to the last minute is not judged by chance for that. */
  isOver?: () => boolean
  /** How long a second try that begins now may take; as long as the first when left out. */
  leftMs?: () => number
  write?: (line: string) => void
  /** Told of each file at its end, but of no second try. */
  onEnd?: (path: string, end: { tookMs: number; passed: boolean }) => void
}

const keptLines = 2_000
const leftoverGraceMs = 2_000
/** A whole platform may have been left, which takes its time to stop cleanly; killed, it would leave its own servers. */
const leftoverEndMs = 40_000

/**
 * Runs each test file in a Node process of its own, a few side by side, and adds up what they report. A file that crashes,
 * reports no test, passes its deadline or leaves processes behind counts as a failure, and its output is shown.
 */
export async function runFiles(files: readonly TestFile[], options: RunOptions): Promise<FileResult> {
  const { write = console.log, places, signal, secondTriesMax, isLate = () => false, isOver = () => false } = options
  const total: FileResult = { passed: 0, failed: 0, skipped: 0 }
  const failures: Failure[] = []
  const late = await runScheduled(files, { places, signal, isLate }, async (file, index) => {
    const outcome = await runFile(file, `${options.runId}/${index}`, options)
    if (outcome.failed > 0) failures.push({ file, index, outcome })
    else count(total, outcome)
    if (!signal.aborted) options.onEnd?.(file.path, { tookMs: outcome.tookMs, passed: outcome.failed === 0 })
    write(describe(relative(options.root, file.path), outcome))
  })
  if (late.length > 0 && !signal.aborted) total.late = late.map(({ path }) => relative(options.root, path))
  // the shortest first: where time runs out most of them are judged
  for (const failure of failures.toSorted((a, b) => a.outcome.tookMs - b.outcome.tookMs)) {
    const again =
      failures.length <= secondTriesMax && !signal.aborted && !isOver() ? await tryAgain(failure, options) : null
    count(total, again ?? failure.outcome)
    const path = relative(options.root, failure.file.path)
    if (again) total.unsteady = [...(total.unsteady ?? []), path]
    else total.bad = [...(total.bad ?? []), path]
  }
  return total
}

type Failure = { file: TestFile; index: number; outcome: Outcome }

function count(total: FileResult, { passed, failed, skipped }: FileResult): void {
  total.passed += passed
  total.failed += failed
  total.skipped += skipped
}

/**
 * A file that failed while others ran gets one more try alone. What failed first was printed and is named again at the end:
 * a test that fails now and then is a fault to mend, and no reason to throw away what thousands of others say.
 * @returns the second outcome if it is good
 */
async function tryAgain({ file, index }: Failure, options: RunOptions): Promise<Outcome | null> {
  const { write = console.log, leftMs = () => file.deadlineMs } = options
  const deadlineMs = Math.max(0, Math.min(file.deadlineMs, leftMs()))
  const outcome = await runFile({ ...file, deadlineMs }, `${options.runId}/${index}-again`, options)
  write(`again, alone: ${describe(relative(options.root, file.path), outcome)}`)
  return outcome.failed === 0 ? outcome : null
}

type Outcome = FileResult & { tookMs: number; faults: string[]; lines: string[] }

async function runFile(
  { path, deadlineMs, env }: TestFile,
  owner: string,
  { root, signal, runId }: RunOptions,
): Promise<Outcome> {
  const startedMs = performance.now()
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', path], {
    cwd: root,
    env: {
      ...process.env,
      ...env,
      BOTTEGA_OWNER: owner,
      BOTTEGA_TEST_RUN: runId,
      FORCE_COLOR: process.stdout.isTTY ? '1' : '0',
    },
    detached: true, // a group of its own, so that the deadline reaches whatever it started
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  const keep = (line: string) => {
    lines.push(line)
    if (lines.length > keptLines) lines.shift()
  }
  const endGroup = () => child.pid !== undefined && killGroup(child.pid)
  signal.addEventListener('abort', endGroup)
  const faults: string[] = []
  const deadline = setTimeout(() => {
    faults.push(`not done after ${deadlineMs / 1000} s`)
    endGroup()
  }, deadlineMs)
  for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on('line', keep)
  const ending = await new Promise<string>((resolve) => {
    child.once('exit', (code, by) => resolve(by ?? `exit code ${code}`))
  })
  await sleep(20) // what it wrote last is still in the pipes; a child of it may hold them open, so their end is not awaited
  clearTimeout(deadline)
  signal.removeEventListener('abort', endGroup)
  faults.push(...(await endLeftovers(owner)))
  return judge({ lines, faults, ending, tookMs: performance.now() - startedMs })
}

type Evidence = { lines: string[]; faults: string[]; ending: string; tookMs: number }

function judge({ lines, faults, ending, tookMs }: Evidence): Outcome {
  const last = lines.findLastIndex((line) => line.startsWith(resultPrefix))
  const result: FileResult =
    last < 0 ? { passed: 0, failed: 0, skipped: 0 } : JSON.parse(lines[last]?.slice(resultPrefix.length) ?? '')
  if (last < 0 && faults.length === 0) faults.push(`ended without a result (${ending}): a crash, or no spec() in it`)
  else if (last >= 0 && ending !== 'exit code 0' && result.failed === 0) faults.push(`ended with ${ending}`)
  if (last >= 0 && result.passed + result.failed === 0) faults.push('ran no test')
  const shown = lines.filter((line) => !line.startsWith(resultPrefix))
  return { ...result, failed: result.failed + faults.length, faults, lines: shown, tookMs }
}

function describe(file: string, { passed, failed, skipped, tookMs, faults, lines }: Outcome): string {
  const counts = `${passed} passed${failed ? `, ${failed} failed` : ''}${skipped ? `, ${skipped} skipped` : ''}`
  const head = `${failed ? '✗' : '✓'} ${file}: ${counts} (${(tookMs / 1000).toFixed(1)} s)`
  const told = lines.filter((line) => /^(skipped|counted): /.test(line))
  const body = failed ? [...lines, ...faults.map((fault) => `${file}: ${fault}`)] : told
  return [head, ...body.map((line) => `    ${line}`)].join('\n')
}

/** A test ends what it starts: what is left after it would disturb the next one, and nobody would know why. */
async function endLeftovers(owner: string): Promise<string[]> {
  const deadlineMs = performance.now() + leftoverGraceMs
  let left = findOwned(owner)
  while (left.length > 0 && performance.now() < deadlineMs) {
    await sleep(50)
    left = findOwned(owner)
  }
  if (left.length === 0) return []
  await endProcesses(left, leftoverEndMs)
  return [
    `left ${left.length} processes behind: ${left.map(({ pid, name }) => `${name || 'unnamed'} (${pid})`).join(', ')}`,
  ]
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // it ended by itself meanwhile
  }
}
