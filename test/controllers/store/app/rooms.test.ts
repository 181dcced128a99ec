import { type AppRooms, makeAppRooms } from '../../../../controllers/store/app/rooms.ts'
import { makePg, type Pg } from '../../../../controllers/store/pg/pg.ts'
import { query } from '../../../../hack/platform/postgres.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type Database, makeDatabase } from '../../../support/stage/stage.ts'

const amounts = (cpuMillis: number, memoryMib = 100, diskGib = 1) => ({ cpuMillis, memoryMib, diskGib })

spec('the room of a host', (t) => {
  let database: Database
  let pg: Pg
  let rooms: AppRooms
  const limits = amounts(1_000, 1_000, 10)
  const take = (
    app: string,
    wanted: ReturnType<typeof amounts>,
    host = 'local',
    bounds: typeof limits | null = limits,
  ) => rooms.takeRoom({ app, account: 'demo', host, wanted, limits: bounds })

  t.before(async () => {
    database = await makeDatabase()
    pg = makePg({ url: database.url, max: 8 })
    rooms = makeAppRooms({ pg })
  })
  t.after(async () => {
    await pg.close()
    await database.drop()
  })

  t('is given to one of many who ask for the last of it at once', async () => {
    const names = Array.from({ length: 12 }, (_, place) => `app-${place}`)
    const outcomes = await Promise.all(names.map((name) => take(name, amounts(600))))
    assert.equal(outcomes.map(({ outcome }) => outcome).sort(), [...Array(11).fill('refused'), 'taken'])
    const { apps, used } = await rooms.rooms('local', null)
    assert.equal([apps, used.cpuMillis], [1, 600])
  })

  t('is taken once, however often it is asked for, and larger only where there is some left', async () => {
    const holder = (await query(database.url, 'select app from app_rooms'))[0]?.app as string
    assert.is((await take(holder, amounts(600))).outcome, 'held')
    assert.is((await take(holder, amounts(1_000))).outcome, 'changed')
    const refused = await take(holder, amounts(1_001))
    assert.equal([refused.outcome, refused.held?.cpuMillis], ['refused', 1_000])
    assert.is((await take('app-other', amounts(1))).outcome, 'refused')
    assert.is((await take(holder, amounts(10))).outcome, 'changed')
    assert.is((await take('app-other', amounts(990))).outcome, 'taken')
  })

  t('is kept by what runs already, and may shrink where it is too much', async () => {
    await query(
      database.url,
      `insert into app_releases (app, number, id, operation, state, source, created_at)
       values ('app-old', 1, 'rel-old', 'op-old', 'live', 'a', now())`,
    )
    assert.is((await take('app-old', amounts(5_000))).outcome, 'taken')
    assert.is((await take('app-old', amounts(6_000))).outcome, 'refused')
    assert.is((await take('app-old', amounts(4_000))).outcome, 'changed')
  })

  t('is that of one host, and not counted where nobody knows what it has', async () => {
    assert.is((await take('app-far', amounts(1_000), 'far')).outcome, 'taken')
    assert.is((await take('app-farther', amounts(9_999), 'far', null)).outcome, 'taken')
  })

  t('of an app that never came is free again, at once when it is given back and else after a while', async () => {
    await rooms.giveBackRoom('app-far')
    assert.is((await rooms.rooms('far', 'app-far')).held, null)
    await query(database.url, "update app_rooms set taken_at = now() - interval '11 minutes' where app = 'app-farther'")
    assert.is((await take('app-new', amounts(1_000), 'far')).outcome, 'taken')
    assert.is((await rooms.rooms('far', null)).apps, 1)
  })
})
