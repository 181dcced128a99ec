import { StaleEpoch } from '../../../../controllers/base/errors.ts'
import { makeAppLedger } from '../../../../controllers/store/app/operations.ts'
import { type AppPlaces, makeAppPlaces } from '../../../../controllers/store/app/rooms.ts'
import { takeEpoch } from '../../../../controllers/store/pg/fence.ts'
import { makePg, type Pg } from '../../../../controllers/store/pg/pg.ts'
import { query } from '../../../../hack/platform/postgres.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type Database, makeDatabase } from '../../../support/stage/stage.ts'

/** The rows of where an app lives: who moves it, on which transaction, and what is left of each try. */

const AT = '2026-11-22T10:00:00.000Z'
const wanted = { cpuMillis: 600, memoryMib: 100, diskGib: 1 }
const limits = { cpuMillis: 1_000, memoryMib: 1_000, diskGib: 10 }

spec('the places of an app', (t) => {
  let database: Database
  let pg: Pg
  let epoch: number
  let places: AppPlaces
  let ledger: ReturnType<typeof makeAppLedger>
  const take = (app: string, host = 'green') =>
    places.takePlace({ app, account: 'demo', host, slug: 'shop', wanted, limits })
  const outcomeOf = async (app: string, host?: string) => (await take(app, host)).outcome
  const of = async (app: string) => (await places.placesOf(app)).map(({ host, place }) => `${place} ${host}`)
  const roomsOf = async (app: string) =>
    (await query(database.url, `select host from app_rooms where app = '${app}' order by host`)).map(({ host }) => host)
  const ask = async (app: string, id: string) => {
    const intent = { kind: 'move', host: 'green', forwardSeconds: 60 } as const
    const decision = await ledger.ask({ id, app, account: 'demo', intent, at: AT })
    if (decision.state !== 'accepted') throw new Error(JSON.stringify(decision))
    return decision.operation
  }
  const began = { on: 'begun', source: 'a', envVersion: null, restoredFrom: null } as const

  t.before(async () => {
    database = await makeDatabase()
    pg = makePg({ url: database.url, max: 4 })
    epoch = await takeEpoch(pg, 'a test')
    places = makeAppPlaces({ pg, epoch: () => epoch })
    ledger = makeAppLedger({ pg, epoch: () => epoch })
    for (const app of ['app-a', 'app-b']) {
      const slug = app === 'app-a' ? 'shop' : 'other'
      await pg.query('slug', 'select outcome from take_app_slug($1, $2, $3, $4)', [app, 'demo', 'local', slug])
    }
  })
  t.after(async () => {
    await pg.close()
    await database.drop()
  })

  t('begin with its home, and one that it is coming to takes name and room there once', async () => {
    assert.equal(await of('app-a'), ['home local'])
    assert.equal([await outcomeOf('app-a'), await outcomeOf('app-a')], ['taken', 'taken'])
    assert.equal([await of('app-a'), await roomsOf('app-a')], [['home local', 'coming green'], ['green']])
    assert.is(await outcomeOf('app-b'), 'refused', 'there is no room left')
    await query(database.url, "update app_rooms set cpu_millis = 1 where app = 'app-a'")
    assert.is(await outcomeOf('app-b'), 'taken by another')
    assert.equal([await of('app-b'), await roomsOf('app-b')], [['home local'], []])
  })

  t('are not taken over where an app that is gone has left something under the name', async () => {
    await query(database.url, "insert into app_slugs (host, slug, account, app) values ('blue', 'shop', 'demo', null)")
    assert.is(await outcomeOf('app-a', 'blue'), 'taken by another')
    assert.equal([await of('app-a'), await roomsOf('app-a')], [['home local', 'coming green'], ['green']])
  })

  t('of a move that failed are to be cleared at once, and until then nobody comes there again', async () => {
    const operation = await ask('app-a', 'op-1')
    await ledger.change({ operation, event: began, at: AT })
    const ending = { on: 'failed', code: 'BUILD_FAILED', message: 'no', log: null } as const
    await ledger.change({ operation, event: ending, at: AT })
    assert.equal(await places.placesOf('app-a'), [
      { host: 'local', place: 'home', until: null },
      { host: 'green', place: 'left', until: AT },
    ])
    assert.is(await outcomeOf('app-a'), 'leaving')
    await places.dropPlace('app-a', 'local')
    assert.is((await of('app-a'))[0], 'home local', 'a home is not dropped')
    await places.dropPlace('app-a', 'green')
    assert.equal([await of('app-a'), await roomsOf('app-a')], [['home local'], []])
  })

  t('change with the end of the operation, in its transaction, and for as long as it says', async () => {
    assert.is(await outcomeOf('app-a'), 'taken')
    const operation = await ask('app-a', 'op-2')
    await ledger.change({ operation, event: began, at: AT })
    await query(database.url, "update app_operations set switch_at = now() where id = 'op-2'")
    await ledger.change({ operation, event: { on: 'switched' }, at: AT })
    assert.equal(await places.placesOf('app-a'), [
      { host: 'green', place: 'home', until: null },
      { host: 'local', place: 'left', until: '2026-11-22T10:01:00.000Z' },
    ])
    const { slugHolder } = await ledger.observe({ app: 'app-a', host: 'green', slug: 'shop', now: AT })
    assert.is(slugHolder, 'app-a')
  })

  t('are refused to a leader that was replaced', async () => {
    const now = epoch
    await takeEpoch(pg, 'another')
    for (const late of [() => take('app-a', 'blue'), () => places.dropPlace('app-a', 'local')]) {
      const error = await late().catch((one: unknown) => one)
      assert.ok(error instanceof StaleEpoch, `${error}`)
    }
    assert.is(epoch, now)
    assert.equal(await of('app-a'), ['home green', 'left local'])
  })
})
