import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { boundsOf } from './bounds.ts'
import { wallOf } from './parts.ts'
import { openRecord } from './record.ts'
import { assert, spec } from './spec.ts'
import { leftOf, makeSums, NEVER, type Past, type Pasts, readPasts, recordPasts, turnOf } from './turns.ts'

const SAME = { sha256: 'the same text', subject: 'the same code' }
const past = (endedAt: number, tookMs = 10, more: Partial<Past> = {}): Past => ({
  tookMs,
  endedAt,
  passed: true,
  ...SAME,
  ...more,
})
const candidates = (...files: string[]) => files.map((file) => ({ file, lane: 'one', ...SAME }))
/** One after another. */
const within = (limitMs: number) => ({
  limitMs,
  wallOf: (costs: ReadonlyMap<string, number>) => [...costs.values()].reduce((sum, ms) => sum + ms, 0),
})

spec('the turn of a test file', (t) => {
  t('comes first for what failed, is new or was changed, whatever that costs', () => {
    const pasts: Pasts = {
      failed: past(9, 500, { passed: false }),
      changed: past(9, 500, { sha256: 'another text' }),
      good: past(1, 10),
    }
    assert.equal(turnOf(candidates('good', 'new', 'changed', 'failed'), pasts, within(100)), [
      'new',
      'changed',
      'failed',
    ])
  })

  t('comes next for what waited longest, as far as the budget goes', () => {
    const pasts: Pasts = { a: past(3), b: past(1), c: past(2) }
    assert.equal(turnOf(candidates('a', 'b', 'c'), pasts, within(20)), ['b', 'c'])
    assert.equal(turnOf(candidates('a', 'b', 'c'), pasts, within(30)), ['a', 'b', 'c'])
    assert.equal(turnOf(candidates('a', 'b', 'c'), pasts, within(9)), [])
  })

  t('comes sooner for what is about code that was changed, though not at any cost', () => {
    const pasts: Pasts = { about: past(9, 10, { subject: 'other code' }), a: past(1), b: past(2) }
    assert.equal(turnOf(candidates('about', 'a', 'b'), pasts, within(20)), ['about', 'a'])
    assert.equal(turnOf(candidates('about', 'a', 'b'), pasts, within(9)), [])
  })

  t('comes before all others for what no time was left for, though not at any cost', () => {
    const run: Pasts = { 'test/api/a': past(5, 10), 'test/api/b': past(6, 30), 'test/hosts/c': past(7, 90) }
    const left = candidates('test/api/left', 'test/hosts/left', 'test/pages/left', 'test/api/a')
    const pasts = { ...run, ...leftOf(left, run) }
    const tookMs = Object.fromEntries(left.map(({ file }) => [file, pasts[file]?.tookMs]))
    assert.equal(tookMs, {
      'test/api/left': 20,
      'test/hosts/left': 90,
      'test/pages/left': 60_000,
      'test/api/a': 10,
    })
    assert.is(pasts['test/api/a']?.endedAt, 5, 'what was run once is not forgotten')
    assert.is(pasts['test/api/left']?.endedAt, NEVER)
    const all = candidates(...Object.keys(pasts))
    assert.equal(turnOf(all, pasts, within(110)), ['test/api/left', 'test/hosts/left'])
    assert.equal(turnOf(all, pasts, within(20)), ['test/api/left'])
    const again = { ...pasts, ...leftOf(candidates('test/hosts/left'), pasts) }
    assert.is(again['test/hosts/left']?.tookMs, 90, 'left twice')
  })

  t('ends with the hour in the first run of a checkout, and where it was asked for', () => {
    assert.is(boundsOf({ minutes: null, isFirst: false }), null)
    const first = boundsOf({ minutes: null, isFirst: true })
    assert.ok(first && first.begin < first.again && first.again < first.end && first.end <= 60)
    // continuous integration is cut off after 90
    const asked = boundsOf({ minutes: 58, isFirst: true })
    assert.ok(asked && asked.begin === 58 && asked.again > 58 && asked.end > asked.again && asked.end < 90)
  })

  t('is on record as the files were when the run began, and what was left with it', () => {
    const root = mkdtempSync('/tmp/bottega-turns-')
    const files = ['a', 'b'].map((name) => join(root, 'test/api', `${name}.test.ts`))
    const [a = '', b = ''] = files
    try {
      mkdirSync(join(root, 'test/api'), { recursive: true })
      for (const file of files) writeFileSync(file, 'one')
      const record = openRecord(root, join(root, 'turns.json'), files)
      const laned = [{ lane: 'integration', files }]
      assert.equal(record.pasts(), {})
      writeFileSync(a, 'two')
      record.note(a, { tookMs: 10.4, passed: true })
      record.noteLeft(laned, ['test/api/b.test.ts'])
      const { 'test/api/a.test.ts': run, 'test/api/b.test.ts': left } = record.pasts()
      assert.equal([run?.tookMs, left?.tookMs, left?.endedAt], [10, 10, NEVER])
      assert.ok(run && run.endedAt > NEVER)
      const later = openRecord(root, join(root, 'turns.json'), files)
      const turn = (limitMs: number) => turnOf(later.candidatesOf(laned), later.pasts(), within(limitMs))
      assert.equal(turn(1), ['test/api/a.test.ts'], 'changed since it began')
      assert.equal(turn(20), ['test/api/a.test.ts', 'test/api/b.test.ts'])
      record.note(b, { tookMs: 5, passed: false })
      record.noteLeft(laned, ['test/api/b.test.ts'])
      assert.is(record.pasts()['test/api/b.test.ts']?.passed, false, 'what failed is not forgotten')
    } finally {
      rmSync(root, { recursive: true })
    }
  })

  t('is about the rooms that its path names', () => {
    const root = mkdtempSync('/tmp/bottega-turns-')
    const write = (path: string, text: string) => {
      mkdirSync(join(root, path, '..'), { recursive: true })
      writeFileSync(join(root, path), text)
    }
    const [app, site] = ['test/hosts/app/order.test.ts', 'test/hosts/site/crash.test.ts']
    try {
      for (const path of [app, site, 'crds/app/plan.ts', 'crds/site/plan.ts', 'controllers/kinds/app/x.ts'])
        write(path, path)
      const before = [app, site].map(makeSums(root))
      write('controllers/kinds/app/x.ts', 'other')
      const after = [app, site].map(makeSums(root))
      assert.is.not(after[0]?.subject, before[0]?.subject)
      assert.equal(after[1], before[1])
      write(site, 'other')
      assert.is.not(makeSums(root)(site).sha256, before[1]?.sha256)
    } finally {
      rmSync(root, { recursive: true })
    }
  })

  t('is not taken from a long one by a short one behind it', () => {
    const pasts: Pasts = { long: past(1, 90), short: past(2, 10) }
    assert.equal(turnOf(candidates('long', 'short'), pasts, within(50)), [])
  })

  t('is not taken from a lane that has room by one that has none', () => {
    const pasts: Pasts = { slow1: past(1, 60), slow2: past(2, 60), quick: past(3, 30), last: past(4, 80) }
    const lanes = { slow1: 'hosts', slow2: 'hosts', quick: 'pages', last: 'pages' }
    const both = Object.entries(lanes).map(([file, lane]) => ({ file, lane, ...SAME }))
    const wallOf = (costs: ReadonlyMap<string, number>) => Math.max(...costs.values())
    assert.equal(turnOf(both, pasts, { limitMs: 100, wallOf }), ['slow1', 'quick'])
    assert.equal(turnOf(both, pasts, { limitMs: 120, wallOf }), ['slow1', 'slow2', 'quick', 'last'])
  })

  t('is reckoned by the places that parts have, groups one after another', () => {
    const wall = (costs: Record<string, number>) => wallOf(new Map(Object.entries(costs)))
    assert.is(wall({}), 0)
    assert.is(wall({ hosts: 60 }), 20)
    assert.is(wall({ hosts: 60, integration: 90 }), 30)
    assert.is(wall({ hosts: 60, integration: 90, pages: 10, cluster: 4 }), 35)
  })

  t('comes for each file within few runs', () => {
    const files = Array.from({ length: 30 }, (_, n) => `file ${n}`)
    let pasts: Pasts = Object.fromEntries(files.map((file, n) => [file, past(n, 10 + (n % 7) * 5)]))
    const totalMs = Object.values(pasts).reduce((sum, { tookMs }) => sum + tookMs, 0)
    const seen = new Set<string>()
    for (let run = 0; run < 4; run++) {
      for (const file of turnOf(candidates(...files), pasts, within(totalMs / 3))) {
        seen.add(file)
        pasts = { ...pasts, [file]: { ...(pasts[file] as Past), endedAt: 100 + run } }
      }
    }
    assert.is(seen.size, files.length)
  })

  t('is remembered from run to run, and a record that cannot be read is none', () => {
    const folder = mkdtempSync('/tmp/bottega-turns-')
    const path = join(folder, 'of a clean clone', 'turns.json')
    try {
      assert.equal(readPasts(path), {})
      recordPasts(path, { a: past(1) })
      recordPasts(path, { b: past(2), a: past(3) })
      assert.equal(readPasts(path), { a: past(3), b: past(2) })
      writeFileSync(path, '{')
      assert.equal(readPasts(path), {})
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
