import { makeLog } from '../../../controllers/base/log.ts'
import { type ClockGuardDeps, startClockGuard } from '../../../controllers/workers/clock-guard.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const TRUE_TIME = Date.parse('2026-11-23T12:00:00.000Z')
const DAY_MS = 86_400_000

/** Both clocks go with `passes`; ours may be wrong, and the question may take its time. */
const start = async ({ ahead = 0, tookMs = 0 } = {}) => {
  const at = { elapsed: 1_000, ahead, tookMs }
  const lines: Record<string, unknown>[] = []
  const told: { skew: number[]; refused: boolean[] } = { skew: [], refused: [] }
  const deps: ClockGuardDeps = {
    readDatabase: async () => {
      // the way there, and the way back
      at.elapsed += at.tookMs / 2
      const theirs = TRUE_TIME + at.elapsed
      at.elapsed += at.tookMs / 2
      return theirs
    },
    wall: () => TRUE_TIME + at.elapsed + at.ahead,
    elapsed: () => at.elapsed,
    log: makeLog({ destination: { write: (line) => void lines.push(JSON.parse(line)) } }),
    onSkew: (seconds) => void told.skew.push(seconds),
    onRefused: (isRefused) => void told.refused.push(isRefused),
    lookEveryMs: 3_600_000,
  }
  const guard = startClockGuard(deps)
  const first = guard.isTrusted()
  await guard.look()
  const levels = () => lines.map(({ level }) => level)
  const passes = (ms: number) => {
    at.elapsed += ms
  }
  return { at, guard, first, told, lines, levels, passes }
}

spec('the guard of the clock', (t) => {
  t('believes a clock that agrees, and none before it was compared', async () => {
    const { guard, first, told, lines, at } = await start({ ahead: 40 })
    assert.is(first, false)
    assert.is(guard.isTrusted(), true)
    assert.equal([guard.detail(), lines, told.refused.at(-1)], [null, [], false])
    assert.equal([told.skew[0], told.skew.at(-1)], [0, 0.04])
    assert.is(guard.earlier(), TRUE_TIME + at.elapsed + 40)
    guard.stop()
  })

  t('takes the round trip off: a slow answer is no skew', async () => {
    const { guard, told, levels } = await start({ ahead: 1_000, tookMs: 20_000 })
    assert.is(told.skew.at(-1), 1)
    assert.equal(levels(), [])
    guard.stop()
  })

  t('what a slow answer leaves in doubt is not held against the clock', async () => {
    const { guard, at, levels } = await start({ ahead: 65_000, tookMs: 12_000 })
    assert.is(guard.isTrusted(), true)
    assert.equal(levels(), ['warn'])
    at.tookMs = 100
    await guard.look()
    assert.is(guard.isTrusted(), false)
    assert.equal(levels(), ['warn', 'error'])
    guard.stop()
  })

  t('warns once beyond five seconds, refuses beyond sixty, and resumes by itself', async () => {
    const { guard, at, told, levels, lines } = await start({ ahead: -6_000 })
    await guard.look()
    assert.equal([levels(), guard.isTrusted(), told.skew.at(-1)], [['warn'], true, -6])
    at.ahead = -30 * DAY_MS
    await guard.look()
    assert.equal([levels().at(-1), guard.isTrusted(), told.refused.at(-1)], ['error', false, true])
    assert.is(lines.at(-1)?.code, 'CLOCK_SKEWED')
    assert.match(guard.detail() ?? '', /^CLOCK_SKEWED: this clock is 2592000 s behind the database's\. /)
    at.ahead = 0
    await guard.look()
    assert.equal([levels().at(-1), guard.isTrusted(), told.refused.at(-1), guard.detail()], ['info', true, false, null])
    guard.stop()
  })

  t('sees a jump of the clock before it is compared again, and a long while that is none', async () => {
    const { guard, at, passes } = await start()
    passes(3 * DAY_MS)
    assert.is(guard.isTrusted(), true)
    at.ahead = DAY_MS
    assert.is(guard.isTrusted(), false)
    guard.stop()
  })

  t('goes by the earlier of both while it does not believe: nothing is due before both say so', async () => {
    for (const ahead of [30 * DAY_MS, -30 * DAY_MS]) {
      const { guard, at, passes } = await start({ ahead })
      passes(5_000)
      const truth = TRUE_TIME + at.elapsed
      assert.is(guard.earlier(), Math.min(truth, truth + ahead))
      assert.is(guard.shared(), truth)
      guard.stop()
    }
  })

  t('keeps what it knows while the database is away', async () => {
    const { guard, at, passes } = await start({ ahead: 2 * DAY_MS })
    const log = makeLog({ level: 'silent' })
    const away = startClockGuard({
      readDatabase: async () => Promise.reject(new Error('away')),
      log,
      lookEveryMs: 3_600_000,
    })
    await assert.rejects(away.look(), /away/)
    assert.equal([away.isTrusted(), away.detail()], [false, null])
    passes(60_000)
    assert.is(guard.isTrusted(), false)
    at.ahead = 0
    assert.is(guard.isTrusted(), true)
    guard.stop()
    away.stop()
  })
})
