import { randomBytes } from 'node:crypto'
import { type AppStore, makeAppStore } from '../../../../controllers/store/app/app.ts'
import { purgeAppStorage, RELEASES_KEPT, SOURCE_KEPT_MS } from '../../../../controllers/store/app/storage.ts'
import { type Blobs, makeBlobs } from '../../../../controllers/store/blobs.ts'
import { makePg, type Pg } from '../../../../controllers/store/pg/pg.ts'
import { query } from '../../../../hack/platform/postgres.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type Database, makeDatabase } from '../../../support/stage/stage.ts'

spec('what apps keep in the database', (t) => {
  let database: Database
  let pg: Pg
  let blobs: Blobs
  let apps: AppStore
  const sql = (text: string, values: unknown[] = []) => query(database.url, text, values)
  const later = () => new Date(Date.now() + SOURCE_KEPT_MS + 1_000)
  const purge = (now = later()) => purgeAppStorage({ pg, now: () => now })
  const upload = async (account: string, digest: string, content = randomBytes(1_000)) => {
    const sha256 = await blobs.put(content)
    const indexSha256 = await blobs.put(randomBytes(100))
    await apps.putSource({ account, digest, sha256, indexSha256, bytes: 1_000, files: 1 })
    return sha256
  }
  const operation = (id: string, account: string, digest: string, state: string, app = `app-${account}`) =>
    sql(
      `insert into app_operations (id, app, account, n, kind, intent, by_controller, state, created_at, ended_at)
       select $1, $2, $3, (select count(*) + 1 from app_operations where app = $2), 'deploy',
         json_build_object('kind', 'deploy', 'digest', $4::text), false, $5, now(), case when $5 = 'queued' then null else now() end`,
      [id, app, account, digest, state],
    )
  const release = (number: number, digest: string, state: string, account = 'demo') =>
    sql(
      `insert into app_releases (app, number, id, operation, state, source, record, sealed, created_at, retired_at)
       values ($1, $2, $3, $4, $5, $6, '{"images": [1]}', '\\x00', now(), case when $5 = 'live' then null else now() end)`,
      [`app-${account}`, number, `rel-${account}-${number}`, `op-${account}-${number}`, state, digest],
    )
  const sources = async () => (await sql('select digest from app_sources order by 1')).map(({ digest }) => digest)

  t.before(async () => {
    database = await makeDatabase()
    pg = makePg({ url: database.url, max: 2 })
    blobs = makeBlobs({ pg })
    const sealer = { seal: (bytes: Buffer) => bytes, open: (bytes: Buffer) => bytes }
    apps = makeAppStore({ pg, sealer: sealer as unknown as Parameters<typeof makeAppStore>[0]['sealer'] })
  })
  t.after(async () => {
    await pg.close()
    await database.drop()
  })
  t.before.each(async () => {
    await sql('truncate app_sources, app_operations, app_steps, app_releases, desires')
  })

  t('is counted for each account, and what two sent alike for both', async () => {
    const content = randomBytes(50_000)
    await upload('demo', 'a', content)
    await upload('other', 'a', content)
    await upload('other', 'b')
    assert.is(await apps.storedBytes('demo'), 50_100)
    assert.is(await apps.storedBytes('other'), 51_200)
    assert.is(await apps.storedBytes('nobody'), 0)
  })

  t('is kept for a day, and for as long as a kept release, an operation under way or a spec names it', async () => {
    for (const digest of ['of-release', 'of-operation', 'of-spec', 'of-nobody', 'of-another'])
      await upload('demo', digest)
    await operation('op-demo-1', 'demo', 'x', 'succeeded')
    await release(1, 'of-release', 'live')
    await operation('op-open', 'demo', 'of-operation', 'queued', 'app-2')
    // Another account's release of the same digest keeps nothing of this one.
    await operation('op-other-1', 'other', 'x', 'succeeded')
    await release(1, 'of-another', 'live', 'other')
    await sql(`insert into desires (kind, name, uid, origin, generation, account, created_at, metadata, spec)
      values ('App', 'app-3', 'u', 'u', 1, 'demo', now(), '{}', '{"account": "demo", "source": {"digest": "of-spec"}}')`)
    assert.is((await purge(new Date())).sources, 0)
    assert.is((await purge()).sources, 2)
    assert.equal(await sources(), ['of-operation', 'of-release', 'of-spec'])
  })

  t('goes with its bytes, unless another account sent the same', async () => {
    const content = randomBytes(2_000)
    const shared = await upload('demo', 'a', content)
    await upload('other', 'b', content)
    await sql("update app_sources set created_at = now() + interval '3 days' where account = 'other'")
    const own = await upload('demo', 'c')
    const { sources: gone, bytes } = await purge()
    assert.is(gone, 2)
    assert.is(bytes, 1_000 + 100 + 100)
    assert.is(await blobs.get(own), null)
    assert.equal(await blobs.get(shared), content)
  })

  t('is wanted again when it is sent again', async () => {
    await upload('demo', 'a')
    await sql("update app_sources set created_at = now() - interval '3 days'")
    await apps.keepSource('demo', 'a')
    assert.is((await purge(new Date())).sources, 0)
  })

  t(
    'of a release goes when so many newer ones are there, and never of one that is live or not yet gone from its host',
    async () => {
      const newest = RELEASES_KEPT + 4
      for (let number = 1; number <= newest; number++) await release(number, 'a', number === 1 ? 'live' : 'superseded')
      await sql('update app_releases set retired_at = null where number = 2')
      assert.is((await purge()).releases, 2)
      const left = await sql('select number, record from app_releases where sealed is null order by number')
      assert.equal(left, [
        { number: 3, record: { isPurged: true } },
        { number: 4, record: { isPurged: true } },
      ])
      assert.is((await purge()).releases, 0)
    },
  )
})
