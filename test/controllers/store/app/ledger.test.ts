import { type AppLedger, makeAppLedger } from '../../../../controllers/store/app/operations.ts'
import { takeEpoch } from '../../../../controllers/store/pg/fence.ts'
import { makePg, type Pg } from '../../../../controllers/store/pg/pg.ts'
import { query } from '../../../../hack/platform/postgres.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type Database, makeDatabase } from '../../../support/stage/stage.ts'

spec('the rows of an app', (t) => {
  let database: Database
  let pg: Pg
  let ledger: AppLedger
  const release = (number: number, state: string, address: string | null) =>
    query(
      database.url,
      `insert into app_releases (app, number, id, operation, state, source, address, created_at)
       values ('app-1', $1, $2, $3, $4, 'a', $5, now())`,
      [number, `rel-${number}`, `op-${number}`, state, address],
    )
  const addresses = async () =>
    (await query(database.url, 'select number, address from app_releases order by number')).map((row) => row.address)

  t.before(async () => {
    database = await makeDatabase()
    pg = makePg({ url: database.url, max: 1 })
    const epoch = await takeEpoch(pg, 'a test')
    ledger = makeAppLedger({ pg, epoch: () => epoch })
    await release(1, 'superseded', '127.0.0.1:1001')
    await release(2, 'live', '127.0.0.1:1002')
    await release(3, 'starting', '127.0.0.1:1003')
  })
  t.after(async () => {
    await pg.close()
    await database.drop()
  })

  t('a route to a release that is about to be live leaves the addresses of those before it', async () => {
    await ledger.setRoute({ app: 'app-1', release: 3, digest: 'd', address: '127.0.0.1:1003' })
    assert.equal(await addresses(), ['127.0.0.1:1001', '127.0.0.1:1002', '127.0.0.1:1003'])
    assert.equal(await query(database.url, 'select address from app_routes'), [{ address: '127.0.0.1:1003' }])
  })

  t('a release that listens elsewhere after a restart of its engine is known by its new address', async () => {
    await ledger.setRoute({ app: 'app-1', release: 2, digest: 'd', address: '127.0.0.1:2002' })
    assert.equal(await addresses(), ['127.0.0.1:1001', '127.0.0.1:2002', '127.0.0.1:1003'])
  })
})
