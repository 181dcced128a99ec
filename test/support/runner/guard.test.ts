import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startOf } from '../../../hack/lib/processes.ts'
import { patience } from './patience.ts'
import { type RunOptions, runFiles } from './run.ts'
import { assert, spec } from './spec.ts'

const guard = JSON.stringify(join(import.meta.dirname, 'spec.ts'))
const prelude = `import { assert, spec } from ${guard}\n`

type Ends = Pick<RunOptions, 'isLate' | 'isOver' | 'leftMs'>

spec('the guard around the test runner', (t) => {
  let folder = ''
  t.before(() => {
    folder = mkdtempSync(join(tmpdir(), 'bottega-guard-'))
  })
  t.after(() => rmSync(folder, { recursive: true, force: true }))

  /** Runs files with these bodies side by side as `hack/test` would, and gives their counts and what was printed. */
  const runBodies = async (bodies: readonly string[], deadlineMs = 20_000, secondTriesMax = 0, ends: Ends = {}) => {
    const files = bodies.map((body, index) => {
      const path = join(folder, index === 0 ? 'sample.test.ts' : `sample-${index}.test.ts`)
      writeFileSync(path, body)
      return { path, deadlineMs, env: { SAMPLE: `sample ${index}` } }
    })
    const printed: string[] = []
    const write = (line: string) => void printed.push(line)
    const { signal } = new AbortController()
    const counts = await runFiles(files, {
      root: folder,
      runId: `guard-${process.pid}`,
      places: { total: files.length },
      secondTriesMax,
      signal,
      write,
      ...ends,
    })
    return { ...counts, printed: printed.join('\n') }
  }
  const run = (body: string, deadlineMs?: number, secondTriesMax?: number) =>
    runBodies([body], deadlineMs, secondTriesMax)

  t('says what was behind an error that has a cause', async () => {
    const got = await run(`${prelude}spec('s', (t) => t('bad', () => {
      throw new Error('fetch failed', { cause: new Error('other side closed') }) }))`)
    assert.match(got.printed, 'fetch failed: other side closed')
  })

  t('counts what passed, failed and was skipped', async () => {
    const got = await run(`${prelude}spec('s', (t) => {
      t('good', () => assert.is(1, 1)); t('bad', () => assert.is(1, 2)); t.skip('later', 'no host') })`)
    assert.equal([got.passed, got.failed, got.skipped], [1, 1, 1])
    assert.match(got.printed, /skipped: s: later \(no host\)/)
  })

  t('a file that passes when run again alone is counted as it then is, and named; both are printed', async () => {
    const mark = JSON.stringify(join(folder, 'tried'))
    const body = `import { existsSync, writeFileSync } from 'node:fs'\n${prelude}spec('s', (t) => {
      t('good', () => {}); t('unsteady', () => { if (existsSync(${mark})) return
        writeFileSync(${mark}, ''); assert.is('first', 'fails') }) })`
    const got = await run(body, 20_000, 1)
    assert.equal([got.passed, got.failed, got.unsteady], [2, 0, ['sample.test.ts']])
    assert.match(
      got.printed,
      /✗ sample\.test\.ts: 1 passed, 1 failed[\s\S]*fails[\s\S]*again, alone: ✓ sample\.test\.ts: 2 passed/,
    )
  })

  t('a second try begins when no file does any more, until its own time is over', async () => {
    const mark = JSON.stringify(join(folder, 'late'))
    const body = `import { existsSync, writeFileSync } from 'node:fs'\n${prelude}spec('s', (t) => {
      t('unsteady', () => { if (existsSync(${mark})) return
        writeFileSync(${mark}, ''); assert.is('first', 'fails') }) })`
    // late once the file has begun
    const lateAfterFirst = () => {
      let asked = 0
      return () => asked++ > 0
    }
    const got = await runBodies([body], 20_000, 1, { isLate: lateAfterFirst() })
    assert.equal([got.passed, got.failed, got.unsteady], [1, 0, ['sample.test.ts']])
    rmSync(join(folder, 'late'))
    const over = await runBodies([body], 20_000, 1, { isLate: lateAfterFirst(), isOver: () => true })
    assert.equal([over.passed, over.failed, over.unsteady], [0, 1, undefined])
    rmSync(join(folder, 'late'), { force: true })
    const slow = body.replace('return', 'for (;;);')
    const cut = await runBodies([slow], 60_000, 1, { isLate: lateAfterFirst(), leftMs: () => 1_500 })
    assert.equal([cut.passed, cut.failed, cut.bad], [0, 1, ['sample.test.ts']])
    assert.match(cut.printed, /not done after 1\.5 s/)
  })

  t('a file that fails again has failed, and without second tries none is made', async () => {
    const bad = `${prelude}spec('s', (t) => t('bad', () => assert.is(1, 2)))`
    const twice = await run(bad, 20_000, 1)
    assert.equal([twice.passed, twice.failed, twice.unsteady, twice.bad], [0, 1, undefined, ['sample.test.ts']])
    assert.match(twice.printed, /again, alone: ✗/)
    assert.not.match((await run(bad)).printed, /again/)
  })

  t('each file has the environment of its part', async () => {
    const body = `${prelude}spec('s', (t) => t('one', () => assert.is(process.env.SAMPLE, NAME)))`
    const got = await runBodies(['sample 0', 'sample 1'].map((name) => body.replace('NAME', `'${name}'`)))
    assert.equal([got.passed, got.failed], [2, 0])
  })

  t('what is run again waits until all others have ended', async () => {
    const [here, there, again] = ['here', 'there', 'again'].map((name) => JSON.stringify(join(folder, name)))
    const helpers = `import { existsSync, writeFileSync } from 'node:fs'\n${prelude}
      const pause = () => new Promise((go) => setTimeout(go, 10))
      const met = async (mine, other) => { writeFileSync(mine, ''); while (!existsSync(other)) await pause() }\n`
    const failing = `${helpers}spec('s', (t) => t('one', async () => {
      if (existsSync(${here})) return writeFileSync(${again}, '')
      await met(${here}, ${there}); assert.unreachable('first') }))`
    const long = `${helpers}spec('s', (t) => t('two', async () => { await met(${there}, ${here})
      const endMs = performance.now() + 3_000
      while (performance.now() < endMs) { assert.not(existsSync(${again})); await pause() } }))`
    const got = await runBodies([failing, long], 20_000, 1)
    assert.equal([got.passed, got.failed, got.unsteady], [2, 0, ['sample.test.ts']])
  })

  t('a throwing before fails, its tests fail with it, and the next spec still runs', async () => {
    const got = await run(`${prelude}spec('a', (t) => { t.before(() => { throw 'oops' }); t('never', () => {}) })
      spec('b', (t) => t('good', () => {}))`)
    assert.equal([got.passed, got.failed], [1, 2])
  })

  t('a throwing after fails, and hides nothing', async () => {
    const got =
      await run(`${prelude}spec('a', (t) => { t.after(() => { throw new Error('late') }); t('good', () => {}) })
      spec('b', (t) => t('good', () => {}))`)
    assert.equal([got.passed, got.failed], [2, 1])
  })

  t('a hang with an open socket fails at its deadline, and the rest goes on', async () => {
    const got = await run(`import { createServer } from 'node:net'\n${prelude}spec('a', (t) => {
      t('hangs', () => new Promise(() => createServer().listen(0)), { timeoutMs: 50 }); t('good', () => {}) })`)
    assert.equal([got.passed, got.failed], [1, 1])
    assert.match(got.printed, new RegExp(`not done after ${patience(50)} ms`))
  })

  t('a busy loop is ended by the deadline of its file', async () => {
    const got = await run(`${prelude}spec('a', (t) => t('spins', () => { for (;;); }))`, 1_500)
    assert.equal([got.passed, got.failed], [0, 1])
    assert.match(got.printed, /not done after 1.5 s/)
  })

  t('a file without a test, a spec without a test and a crash all fail', async () => {
    for (const body of [
      'export {}',
      `${prelude}spec('empty', () => {})`,
      'process.exit(0)',
      'throw new Error("crash")',
    ]) {
      const got = await run(body)
      assert.equal([got.passed, got.failed], [0, 1], body)
    }
  })

  t('an assertion that nobody awaited fails the file', async () => {
    const got = await run(`${prelude}spec('a', (t) => { t('forgets', () => { Promise.reject(new Error('unseen')) })
      t('waits', () => new Promise((done) => setTimeout(done, 100))) })`)
    assert.is(got.failed, 1)
    assert.match(got.printed, /unseen/)
  })

  t('processes that a test leaves behind are ended and are a failure', async () => {
    const got = await run(`import { spawn } from 'node:child_process'\n${prelude}spec('a', (t) => t('leaks', () => {
      const child = spawn('sleep', ['300'], { detached: true, stdio: 'ignore' }); child.unref(); console.log('pid ' + child.pid) }))`)
    assert.equal([got.passed, got.failed], [1, 1])
    const pid = Number(/pid (\d+)/.exec(got.printed)?.[1])
    assert.is(startOf(pid), null)
  })

  t('a forgotten only is a failure', async () => {
    const got = await run(`${prelude}spec('a', (t) => { t('one', () => {}); t.only('two', () => {}) })`)
    assert.equal([got.passed, got.failed], [1, 1])
  })
})
