/** Private keys of hosts as PostgreSQL keeps them: sealed, known again, and taken back where nobody names them. */
import { randomBytes } from 'node:crypto'
import { keysOfOne } from '../../../controllers/base/keys.ts'
import { type HostCredentials, makeCredentials } from '../../../controllers/store/host/hosts.ts'
import { makePg, type Pg } from '../../../controllers/store/pg/pg.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { type Database, makeDatabase } from '../../support/stage/stage.ts'

spec('the keys of hosts', (t) => {
  let database: Database
  let pgs: Pg[]
  /** The controllers' way, and that of the api, which opens nothing. */
  let theirs: HostCredentials
  let ours: HostCredentials
  const kept = async () =>
    (await query(database.url, 'select host, version from host_credentials order by host, version')).map(
      ({ host, version }) => `${host}/${version}`,
    )

  t.before(async () => {
    database = await makeDatabase()
    const keys = keysOfOne(randomBytes(32))
    pgs = [makePg({ url: database.url, max: 2 }), makePg({ url: database.apiUrl, max: 2 })]
    const [owner, api] = pgs.map((pg) => makeCredentials({ pg, keys }))
    theirs = owner as HostCredentials
    ours = api as HostCredentials
  })
  t.after(async () => {
    for (const pg of pgs) await pg.close()
    await database.drop()
  })

  t('are known again by whoever has them, and by nobody who has the database', async () => {
    assert.is(await ours.put('a', 1, 'the first'), true)
    assert.is(await ours.put('a', 2, 'the second'), true)
    assert.equal(
      [
        await ours.versionOf('a', 'the first'),
        await ours.versionOf('a', 'another'),
        await ours.versionOf('b', 'the first'),
      ],
      [1, null, null],
    )
    assert.is(await theirs.open('a', 2), 'the second')
    const [{ mark: first } = {}, { mark: second } = {}] = await query(
      database.url,
      'select mark from host_credentials order by version',
    )
    assert.is((first as Buffer).length, 32)
    assert.not.equal(first, second)
    await ours.put('b', 1, 'the first')
    const marks = await query(database.url, 'select count(distinct mark)::int as n from host_credentials')
    assert.is(marks[0]?.n, 3, 'the same key of two hosts shows nothing')
  })

  t('are replaced by a repeat, and taken back where no spec came to name them', async () => {
    assert.is(await ours.put('a', 2, 'the third'), false)
    assert.equal([await theirs.open('a', 2), await ours.versionOf('a', 'the second')], ['the third', null])
    await ours.takeBack('a', 2)
    assert.equal(await kept(), ['a/1', 'b/1'])
  })

  t('go after a long time when the host never came, and stay when it did, whatever became of its view', async () => {
    await query(database.url, "update host_credentials set written_at = now() - interval '91 days'")
    await query(
      database.url,
      `insert into mirror (kind, name, uid, account, view, created_at, updated_at, generation, observed_generation)
       values ('Host', 'b', 'u', 'demo', '{}', now(), now(), 1, 1)`,
    )
    await ours.put('c', 1, 'new')
    assert.equal(await kept(), ['b/1', 'c/1'])
  })
})
