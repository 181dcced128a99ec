import { StaleEpoch } from '../../../../controllers/base/errors.ts'
import { makeAppEpisodes, type NewEpisode } from '../../../../controllers/store/app/episodes.ts'
import { makeAppLedger } from '../../../../controllers/store/app/operations.ts'
import { takeEpoch } from '../../../../controllers/store/pg/fence.ts'
import { makePg, type Pg } from '../../../../controllers/store/pg/pg.ts'
import type { NewEvent } from '../../../../crds/kernel/event.ts'
import { query } from '../../../../hack/platform/postgres.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type Database, makeDatabase } from '../../../support/stage/stage.ts'

/** What was found of an app is on record once and told once, whoever comes how often. */

const APP = 'app-1'
const FOUND: NewEpisode = {
  release: 1,
  code: 'SERVICE_STOPPED',
  service: 'web',
  exitCode: 137,
  detail: 'web is exited, exit code 137',
  log: 'half a pair \ud800 and a \0',
  instead: null,
}
const told = (type: NewEvent['type']): NewEvent => ({ kind: 'App', account: 'demo', type, data: { app: { id: APP } } })
const at = (seconds: number): string => new Date(Date.UTC(2026, 10, 22, 10) + seconds * 1_000).toISOString()

spec('an episode of an app', (t) => {
  let database: Database
  let pg: Pg
  let epoch = 0
  const episodes = () => makeAppEpisodes({ pg, epoch: () => epoch })
  const begin = (seconds: number, change: Partial<NewEpisode> = {}) =>
    episodes().begin(APP, { ...FOUND, ...change }, told('app.unhealthy'), at(seconds))
  const end = (n: number, seconds: number) => episodes().end(APP, n, told('app.recovered'), at(seconds))
  const events = async () =>
    (await query(database.url, "select payload ->> 'type' as type from outbox order by id")).map(({ type }) => type)

  t.before(async () => {
    database = await makeDatabase()
    pg = makePg({ url: database.url, max: 8 })
    epoch = await takeEpoch(pg, 'a test')
  })
  t.before.each(async () => {
    await query(database.url, 'truncate app_episodes, outbox cascade')
  })
  t.after(async () => {
    await pg.close()
    await database.drop()
  })

  t('is begun and told once, however many see it, and ended once', async () => {
    await Promise.all([begin(0), begin(1), begin(2)])
    await begin(3, { code: 'CRASH_LOOP' })
    const open = await episodes().open(APP)
    assert.equal([open?.n, open?.code, open?.exitCode, open?.attempts], [1, 'SERVICE_STOPPED', 137, 0])
    assert.match(open?.log ?? '', /^half a pair . and a $/)
    assert.equal(await events(), ['app.unhealthy'])
    await Promise.all([end(1, 10), end(1, 11)])
    await end(1, 12)
    assert.is(await episodes().open(APP), null)
    assert.equal(await events(), ['app.unhealthy', 'app.recovered'])
  })

  t('ends a milder one that it comes in the place of, and no other', async () => {
    await begin(0, { code: 'LIMITS_CHANGED' })
    await Promise.all([begin(1, { instead: 1 }), begin(2, { instead: 1 })])
    const open = await episodes().open(APP)
    assert.equal([open?.n, open?.code], [2, 'SERVICE_STOPPED'])
    assert.equal(await events(), ['app.unhealthy', 'app.unhealthy'])
    await begin(3, { code: 'CRASH_LOOP', instead: 1 })
    assert.is((await episodes().open(APP))?.n, 2)
    await end(2, 4)
    assert.equal(await events(), ['app.unhealthy', 'app.unhealthy', 'app.recovered'])
  })

  t('counts each try once, whoever makes it', async () => {
    await begin(0)
    const open = await episodes().open(APP)
    assert.ok(open)
    const tries = await Promise.all([1, 2, 3].map((seconds) => episodes().attempt(APP, open, at(seconds))))
    assert.is(tries.filter(Boolean).length, 1)
    const next = await episodes().open(APP)
    assert.is(next?.attempts, 1)
    assert.is(await episodes().attempt(APP, open, at(4)), false)
  })

  t('goes on counting where the same was found a short while ago, and begins anew for another or later', async () => {
    const tried = async (n: number, seconds: number) => {
      const open = await episodes().open(APP)
      assert.is(open?.n, n)
      if (open) await episodes().attempt(APP, open, at(seconds))
      await end(n, seconds + 1)
    }
    const attempts = async () => (await episodes().open(APP))?.attempts
    await begin(0)
    await tried(1, 1)
    await begin(60)
    assert.is(await attempts(), 1)
    await tried(2, 61)
    await begin(120, { service: 'worker' })
    assert.is(await attempts(), 0)
    await tried(3, 121)
    await begin(122 + 601, { service: 'worker' })
    assert.is(await attempts(), 0)
  })

  t('is not written by a leader that was replaced, and goes with its app', async () => {
    await begin(0)
    const ledger = makeAppLedger({ pg, epoch: () => epoch })
    await ledger.forget(APP, false)
    assert.is(await episodes().open(APP), null)
    await takeEpoch(pg, 'another')
    const error = await begin(1).then(
      () => null,
      (refused: unknown) => refused,
    )
    assert.ok(error instanceof StaleEpoch, String(error))
  })
})
