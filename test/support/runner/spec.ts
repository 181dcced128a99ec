import { setTimeout as sleep } from 'node:timers/promises'
import * as uvuAssert from 'uvu/assert'
import { patience } from './patience.ts'
import { type FileResult, resultPrefix } from './result.ts'

/**
 * The guard around uvu. Bare uvu exits 0 when a `before` throws and when `.run()` is forgotten, lets a throwing `after` hide
 * the rest, and waits for ever on a test that hangs with a socket open. Here each of those is a failed test.
 */

export type TestOptions = { timeoutMs?: number }
type Work = () => void | Promise<void>
type AddTest = (sentence: string, work: Work, options?: TestOptions) => void
type Hook = ((work: Work, options?: TestOptions) => void) & { each(work: Work): void }

export type Suite = AddTest & {
  /** Runs this test and no other of the file: for working on one. The runner refuses it as a failure. */
  only: AddTest
  /** Leaves a test out and counts it; the reason is printed. */
  skip(sentence: string, reason: string): void
  before: Hook
  after: Hook
}

// uvu must not start by itself, or it would run a second time beside us; it looks for this while it is being loaded
Object.assign(globalThis, { UVU_DEFER: true, UVU_QUEUE: [[null]] })
const { exec, suite } = await import('uvu')

const defaultTimeoutMs = 180_000
const hookTimeoutMs = 480_000
const counts: FileResult = { passed: 0, failed: 0, skipped: 0 }
let state: 'open' | 'scheduled' | 'running' = 'open'
let onlyUsed = false

/**
 * Declares a suite of tests, which runs by itself once the file has been read:
 * `spec('totals', (t) => { t('a discount comes before tax', () => { … }) })`.
 * A hook that throws is a failed test of its own; a test past its deadline fails and the rest goes on.
 */
export function spec(name: string, declare: (t: Suite) => void): void {
  if (state === 'running')
    throw new Error(`spec('${name}') came after the tests began: no await between specs of a file`)
  const declared: Declared = { name, tests: [], before: [], after: [], beforeEach: [], afterEach: [] }
  declare(collect(declared))
  register(declared)
  if (state === 'open') setTimeout(() => void runAll(), 0)
  state = 'scheduled'
}

type DeclaredTest = { sentence: string; work: Work; timeoutMs: number; only: boolean }
type Declared = {
  name: string
  tests: DeclaredTest[]
  before: DeclaredTest[]
  after: DeclaredTest[]
  beforeEach: Work[]
  afterEach: Work[]
}

function collect(declared: Declared): Suite {
  const add =
    (only: boolean): AddTest =>
    (sentence, work, { timeoutMs = defaultTimeoutMs } = {}) =>
      void declared.tests.push({ sentence, work, timeoutMs, only })
  const hook = (kind: 'before' | 'after'): Hook =>
    Object.assign(
      (work: Work, { timeoutMs = hookTimeoutMs }: TestOptions = {}) =>
        void declared[kind].push({ sentence: `(${kind})`, work, timeoutMs, only: true }),
      { each: (work: Work) => void declared[`${kind}Each`].push(work) },
    )
  return Object.assign(add(false), {
    only: add(true),
    skip(sentence: string, reason: string) {
      counts.skipped += 1
      console.log(`skipped: ${declared.name}: ${sentence} (${reason})`)
    },
    before: hook('before'),
    after: hook('after'),
  })
}

function register({ name, tests, before, after, beforeEach, afterEach }: Declared): void {
  const run = suite(name)
  const chosen = tests.some((test) => test.only) ? tests.filter((test) => test.only) : tests
  onlyUsed ||= chosen.length < tests.length || chosen.some((test) => test.only)
  let ready = true
  const onFailure = () => {
    ready = false
  }
  for (const hook of before) run(hook.sentence, guarded(hook, { countsWhenGood: false, onFailure }))
  if (chosen.length === 0)
    run('(no tests)', guarded({ ...nothing, work: () => uvuAssert.unreachable('this spec declares no test') }, {}))
  for (const test of chosen) {
    const work = async () => {
      if (!ready) throw new Error('not run: a before hook of this spec failed')
      await aroundEach(test.work, beforeEach, afterEach)
    }
    run(test.sentence, guarded({ ...test, work }, {}))
  }
  for (const hook of after) run(hook.sentence, guarded(hook, { countsWhenGood: false }))
  run.run()
}

const nothing: DeclaredTest = { sentence: '', work: () => {}, timeoutMs: defaultTimeoutMs, only: false }

async function aroundEach(work: Work, beforeEach: readonly Work[], afterEach: readonly Work[]): Promise<void> {
  try {
    for (const hook of beforeEach) await hook()
    await work()
  } finally {
    for (const hook of afterEach) await hook()
  }
}

type Guard = { countsWhenGood?: boolean; onFailure?: () => void }

/** A good hook is no test and does not count; a failed one does, so that it is seen. */
function guarded(
  { work, timeoutMs, sentence }: DeclaredTest,
  { countsWhenGood = true, onFailure }: Guard,
): () => Promise<void> {
  return async () => {
    try {
      await withDeadline(work, timeoutMs)
      if (countsWhenGood) counts.passed += 1
    } catch (thrown) {
      counts.failed += 1
      onFailure?.()
      throw asError(thrown, sentence)
    }
  }
}

async function withDeadline(work: Work, givenMs: number): Promise<void> {
  const timeoutMs = patience(givenMs)
  const over = new AbortController()
  const deadline = sleep(timeoutMs, undefined, { signal: over.signal }).then(() => {
    throw new Error(`not done after ${timeoutMs} ms`)
  })
  deadline.catch(() => {}) // aborted, once the work is done
  try {
    await Promise.race([(async () => work())(), deadline])
  } finally {
    over.abort()
  }
}

/**
 * uvu's printer reads `err.name` and `err.stack` and would itself throw on `throw 'text'` or `throw undefined`; of a cause,
 * which is all that tells one `fetch failed` from another, it prints nothing.
 */
function asError(thrown: unknown, sentence: string): Error {
  if (!(thrown instanceof Error)) return new Error(`${sentence} threw ${JSON.stringify(thrown) ?? String(thrown)}`)
  if (thrown.cause instanceof Error && !thrown.message.includes(thrown.cause.message))
    thrown.message += `: ${thrown.cause.message}`
  return thrown
}

async function runAll(): Promise<void> {
  state = 'running'
  await exec()
  if (onlyUsed && process.env.BOTTEGA_TEST_RUN) {
    counts.failed += 1
    console.log('t.only was left in this file: tests were not run')
  }
  const code = counts.failed === 0 && counts.passed > 0 ? 0 : 1
  // open sockets and timers of the tests are no reason to stay; the write's callback makes sure that the line gets out
  process.stdout.write(`${resultPrefix}${JSON.stringify(counts)}\n`, () => process.exit(code))
}

type Expected = RegExp | string | ((error: unknown) => boolean)

/** Demands that a promise (or async function) rejects, and returns what it rejected with; `expected` looks at the error. */
async function rejects(work: Promise<unknown> | (() => unknown), expected?: Expected): Promise<unknown> {
  let thrown: unknown
  try {
    await (typeof work === 'function' ? work() : work)
  } catch (error) {
    thrown = error
    demandExpected(error, expected)
    return thrown
  }
  return uvuAssert.unreachable('Expected a rejection, but it was fulfilled')
}

function demandExpected(error: unknown, expected: Expected | undefined): void {
  const message = error instanceof Error ? error.message : String(error)
  if (typeof expected === 'string') uvuAssert.ok(message.includes(expected), `Expected "${expected}" in: ${message}`)
  else if (expected instanceof RegExp) uvuAssert.match(message, expected)
  else if (expected !== undefined) uvuAssert.ok(expected(error), `Not the rejection that was expected: ${message}`)
}

/** uvu's assertions, and `rejects` for promises (`throws` ignores async functions). */
export const assert: typeof uvuAssert & { rejects: typeof rejects } = { ...uvuAssert, rejects }
