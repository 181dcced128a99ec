/** What dev instances have cost and were committed to, by month, owner and state (rules/devinstance.md#costs). */
import { budgetKey, percentSpent, thresholdsReached } from '../../../crds/devinstance/costs/budget.ts'
import { lifeCost } from '../../../crds/devinstance/costs/life.ts'
import { type CostMonths, costSheet, monthsOf } from '../../../crds/devinstance/costs/months.ts'
import { decidedCallOf } from '../../../crds/devinstance/facts.ts'
import type { DecidedCall } from '../../../crds/devinstance/life/rebuilt.ts'
import { rebuilt } from '../../../crds/devinstance/life/rebuilt.ts'
import { costToDateMicroUsd } from '../../../crds/devinstance/life/row.ts'
import type { Trigger } from '../../../crds/devinstance/protocol.ts'
import { PRICING_VERSION } from '../../../crds/devinstance/sizing/prices.ts'
import { aDevInstance, BOOTSTRAP, CLEAN, good, later, livesOf } from '../../support/builders/devinstance.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const HOUR = 3_600_000
/** S on arm64: 56.71 a month committed; 7.65 stopped with its address. Compute 49.06, disk 4.00, address 3.65. */
const START = '2026-10-30T00:00:00.000Z'
const at = (hours: number): string => later(hours * HOUR, START)

const reserve = (hours: number, account = 'demo'): DecidedCall => ({
  trigger: 'reserve',
  said: {
    spec: { account, name: 'october', sizeClass: 'S', arch: 'arm64', agents: ['codex'] },
    fallbackName: 'dev-1',
    pricingVersion: PRICING_VERSION,
    bootstrapSha256: BOOTSTRAP,
    at: at(hours),
  },
  at: at(hours),
  around: CLEAN,
})

/** A life: what was said after so many hours. */
const life = (account: string, ...said: [number, Trigger][]): DecidedCall[] => {
  const calls = [reserve(0, account)]
  for (const [hours, trigger] of said) {
    const instance = rebuilt(calls) ?? aDevInstance()
    calls.push({ trigger, said: good(instance)[trigger], at: at(hours), around: CLEAN } as DecidedCall)
  }
  return calls
}

const BORN: [number, Trigger][] = [
  [0, 'provisioning'],
  [0, 'token'],
  [0, 'finalize'],
  [0, 'started'],
]
const months = (from: string, to: string): CostMonths => {
  const found = monthsOf({ from, to }, START)
  if (!found) throw new Error('these are months')
  return found
}
const sheetOf = (lives: Record<string, DecidedCall[]>, until: string, of = months('2026-10', '2026-12')) => {
  const sheet = costSheet(of, until)
  for (const [id, calls] of Object.entries(lives)) sheet.add(id, calls)
  return sheet.answer()
}

spec('what a life has cost', (t) => {
  t('is as long in each state, at the price of each, as its facts say', () => {
    const { spans } = lifeCost(life('demo', ...BORN, [10, 'stopped'], [30, 'started']), at(40))
    assert.equal(
      spans.map(({ state, from, to, actualMicroUsd, committedMicroUsd }) => [
        state,
        (Date.parse(to) - Date.parse(from)) / HOUR,
        actualMicroUsd,
        committedMicroUsd,
      ]),
      [
        ['running', 10, 56_706_000, 56_706_000],
        ['stopped', 20, 7_650_000, 56_706_000],
        ['running', 10, 56_706_000, 56_706_000],
      ],
    )
  })
  t('adds up to its cost to date, in every state', () => {
    for (const { instance, calls } of livesOf()) {
      const until = later(1000 * HOUR)
      const { spans } = lifeCost(calls, until)
      const spent = spans.reduce((sum, { from, to, actualMicroUsd }) => {
        return sum + (actualMicroUsd * (Date.parse(to) - Date.parse(from))) / (730 * HOUR)
      }, 0)
      assert.ok(Math.abs(spent - costToDateMicroUsd(instance, until)) < spans.length + 1, instance.state)
    }
  })
  t('commits nothing once it was deleted, and what still costs when it was terminated', () => {
    const gone = life('demo', ...BORN, [5, 'terminated'], [6, 'delete'])
    const { spans, present } = lifeCost(gone, at(100))
    assert.equal([spans.map(({ state }) => state), present], [['running'], null])
  })
  t('of a name that came again is both lives, each of its owner', () => {
    const calls = [...life('first', ...BORN, [5, 'terminated'], [6, 'delete']), reserve(10, 'second')]
    const { spans, present } = lifeCost(calls, at(12))
    assert.equal(
      spans.map(({ owner, state }) => [owner, state]),
      [
        ['first', 'running'],
        ['second', 'reserved'],
      ],
    )
    assert.is(present?.owner, 'second')
  })
  t('never goes back, though a fact says an earlier time than the one before', () => {
    const calls = life('demo', ...BORN, [10, 'stopped'])
    const early = { ...calls.at(-1), at: at(-5) } as DecidedCall
    const { spans } = lifeCost([...calls.slice(0, -1), early], at(10))
    assert.equal(
      spans.map(({ state, from, to }) => [state, from, to]),
      [['stopped', at(0), at(10)]],
    )
  })
  t('of a reservation that was deleted ends with it', () => {
    const { spans, present } = lifeCost(life('demo', [6, 'delete']), at(100))
    assert.equal([spans.map(({ state, to }) => [state, to]), present], [[['reserved', at(6)]], null])
  })
  t('is one span where nothing about it changed', () => {
    const { spans } = lifeCost(life('demo', ...BORN, [2, 'env'], [3, 'share'], [4, 'renamed']), at(5))
    assert.equal(
      spans.map(({ from, to }) => [from, to]),
      [[at(0), at(5)]],
    )
  })
})

spec('costs by month, owner and state', (t) => {
  t('are cut where a month ends, in UTC', () => {
    // Two days of October, all of November: 48 and 720 hours.
    const { costs } = sheetOf({ 'dev-1': life('demo', ...BORN) }, '2026-12-01T00:00:00.000Z')
    assert.equal(costs, [
      // 49.056 + 4 + 3.65 = 56.706 a month of 730 hours
      {
        month: '2026-10',
        owner: 'demo',
        state: 'running',
        instances: 1,
        hours: 48,
        committedUsd: 3.73,
        actualUsd: 3.73,
      },
      {
        month: '2026-11',
        owner: 'demo',
        state: 'running',
        instances: 1,
        hours: 720,
        committedUsd: 55.93,
        actualUsd: 55.93,
      },
    ])
  })
  t('hold what was spent against what was committed', () => {
    const calls = life('demo', ...BORN, [48, 'stopped'])
    const { totals, costs } = sheetOf({ 'dev-1': calls }, '2026-12-01T00:00:00.000Z')
    assert.equal(
      costs.map(({ month, state, hours, committedUsd, actualUsd }) => [month, state, hours, committedUsd, actualUsd]),
      [
        ['2026-10', 'running', 48, 3.73, 3.73],
        ['2026-11', 'stopped', 720, 55.93, 7.55],
      ],
    )
    assert.equal(totals, [
      { month: '2026-10', owner: 'demo', instances: 1, committedUsd: 3.73, actualUsd: 3.73, actualPercent: 100 },
      // 7.65 of 56.706
      { month: '2026-11', owner: 'demo', instances: 1, committedUsd: 55.93, actualUsd: 7.55, actualPercent: 13 },
    ])
  })
  t('are of each owner, and an instance counts once in a month whatever states it had', () => {
    const lives = {
      'dev-1': life('demo', ...BORN, [1, 'stopped']),
      'dev-2': life('demo', ...BORN),
      'dev-3': life('other', ...BORN),
    }
    const { totals, months: all, present } = sheetOf(lives, at(2))
    assert.equal(
      totals.map(({ owner, instances }) => [owner, instances]),
      [
        ['demo', 2],
        ['other', 1],
      ],
    )
    assert.equal(all, [{ month: '2026-10', instances: 3, committedUsd: 0.47, actualUsd: 0.4, actualPercent: 86 }])
    assert.equal(present, [
      { owner: 'demo', state: 'running', instances: 1, committedMonthlyUsd: 56.71, currentMonthlyUsd: 56.71 },
      { owner: 'demo', state: 'stopped', instances: 1, committedMonthlyUsd: 56.71, currentMonthlyUsd: 7.65 },
      { owner: 'other', state: 'running', instances: 1, committedMonthlyUsd: 56.71, currentMonthlyUsd: 56.71 },
    ])
  })
  t('are summed first and rounded once', () => {
    // 100 of them for 3 minutes: 0.3884 cents each, which alone would be nothing
    const lives = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`dev-${n}`, life('demo', ...BORN)]))
    const { totals } = sheetOf(lives, at(0.05))
    assert.equal(
      totals.map(({ actualUsd }) => actualUsd),
      [0.39],
    )
  })
  t('leave out what is outside the months that were asked for', () => {
    const { costs, present } = sheetOf({ 'dev-1': life('demo', ...BORN) }, at(2), months('2026-08', '2026-09'))
    assert.equal([costs, present.length], [[], 1], 'what is now is told all the same')
    const late = sheetOf({ 'dev-1': life('demo', ...BORN) }, '2026-12-01T00:00:00.000Z', months('2026-11', '2026-12'))
    assert.equal(
      late.costs.map(({ month, hours }) => [month, hours]),
      [['2026-11', 720]],
    )
  })
  t('are the last three months when nobody says which; months in order, 24 at most', () => {
    assert.equal(monthsOf({}, '2026-01-31T23:00:00.000Z'), { from: '2025-11', to: '2026-01' })
    assert.equal(monthsOf({ from: '2026-01' }, START), { from: '2026-01', to: '2026-10' })
    assert.equal(monthsOf({ to: '2026-03' }, START), { from: '2026-01', to: '2026-03' })
    assert.equal(monthsOf({ from: '2024-11', to: '2026-10' }, START), { from: '2024-11', to: '2026-10' })
    for (const none of [
      { from: '2024-10', to: '2026-10' },
      { from: '2026-11', to: '2026-10' },
      { from: '2026-13' },
      { to: 'x' },
    ]) {
      assert.is(monthsOf(none, START), null)
    }
  })
  t('are made of facts as they are kept', () => {
    const { trigger, said, at: when, around } = reserve(0)
    const kept = { kind: 'devbox.reserve', body: { said }, at: when, outcome: { rev: 0, around } }
    assert.equal(decidedCallOf(kept), { trigger, said, at: when, around })
  })
})

spec('the forecast of a month', (t) => {
  const sheet = (lives: Record<string, DecidedCall[]>, until: string, of = months('2026-11', '2026-11')) =>
    sheetOf(lives, until, of).forecast
  // S runs at 56.706 USD a month of 730 hours, and costs 7.65 while it is stopped
  const until = '2026-11-10T00:00:00.000Z'
  t('is what was spent in it, and until its end what everything costs as it stands', () => {
    // 216 hours of November until now, and 504 until its end
    assert.equal(sheet({ a: life('demo', ...BORN) }, until), [
      { owner: 'demo', month: '2026-11', spentUsd: 16.78, forecastUsd: 55.93 },
    ])
    // stopped on November 9 at 00:00: 192 hours of running and 24 of its disk and address, which it costs until the end
    assert.equal(sheet({ a: life('demo', ...BORN, [240, 'stopped']) }, until), [
      { owner: 'demo', month: '2026-11', spentUsd: 15.17, forecastUsd: 20.45 },
    ])
  })
  t('is that of each owner, over all that each has, and also of who has spent nothing yet', () => {
    const two = sheet({ a: life('demo', ...BORN), b: life('demo', ...BORN), c: life('other') }, until)
    assert.equal(
      two.map(({ owner, spentUsd, forecastUsd }) => [owner, spentUsd, forecastUsd]),
      [
        ['demo', 33.56, 111.86],
        ['other', 0, 0],
      ],
    )
  })
  t('is none where the present month is not shown', () => {
    assert.equal(sheet({ a: life('demo', ...BORN) }, until, months('2026-08', '2026-10')), [])
  })
})

spec('what is told of a budget', (t) => {
  t('is each threshold that is reached, to the micro-dollar, and none without a cap', () => {
    const reached = (spent: bigint, cap = 100_000_000) => thresholdsReached(percentSpent(spent, cap))
    assert.equal(reached(49_999_999n), [])
    assert.equal(reached(50_000_000n), [50])
    assert.equal(reached(99_999_999n), [50, 80])
    assert.equal(reached(100_000_000n), [50, 80, 100])
    assert.equal(reached(1n, 0), [])
  })
  t('has a name for each month and threshold', () => assert.is(budgetKey('2026-11', 80), 'budget:2026-11:80'))
})
