/** What PostgreSQL keeps of hosts: private keys, sealed, known again, and taken back where nobody names them; and routes. */
import { randomBytes } from 'node:crypto'
import { keysOfOne } from '../../../controllers/base/keys.ts'
import { type HostCredentials, makeCredentials, makeRouteRows } from '../../../controllers/store/host/hosts.ts'
import { takeEpoch } from '../../../controllers/store/pg/fence.ts'
import { makePg, type Pg } from '../../../controllers/store/pg/pg.ts'
import { GATE_HEADER } from '../../../crds/app/lifecycle/route.ts'
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

spec('the routes of hosts', (t) => {
  let database: Database
  let pg: Pg
  t.before(async () => {
    database = await makeDatabase()
    pg = makePg({ url: database.url, max: 2 })
  })
  t.after(async () => {
    await pg.close()
    await database.drop()
  })

  t('are read with the gate token of the app that owns them, which no row holds', async () => {
    const keys = keysOfOne(randomBytes(32))
    const epoch = await takeEpoch(pg, 'a test')
    const rows = makeRouteRows({ pg, epoch: () => epoch, keys })
    const routeOf = (owner: string, token: string) => {
      const headers = { request: { set: { Host: ['bottega.test'], [GATE_HEADER]: [token] } } }
      const handle = [{ handler: 'subroute', routes: [{ handle: [{ handler: 'reverse_proxy', headers }] }] }]
      return { id: owner.toLowerCase().replace('/', '-'), owner, hostnames: [`${owner.slice(-1)}.apps.test`], handle }
    }
    const shut = routeOf('App/app-a', keys.gateToken('app-a'))
    assert.is(await rows.put('local', shut), true)
    assert.is(await rows.put('local', shut), false, 'nothing differs')
    assert.equal([await rows.get('local', shut.id), await rows.list('local')], [shut, [shut]])
    const token = keys.gateToken('app-a').split('.').at(-1) ?? ''
    const [{ n } = {}] = await query(
      database.url,
      'select count(*)::int as n from host_routes r where r::text like $1',
      [`%${token}%`],
    )
    assert.is(n, 0)
    const stolen = routeOf('Site/site-b', keys.gateToken('app-a'))
    await query(
      database.url,
      `insert into host_routes (host, id, owner, hostnames, handle) values ('local', $1, $2, $3, $4)`,
      [stolen.id, stolen.owner, stolen.hostnames, JSON.stringify(routeOf('Site/site-b', '').handle)],
    )
    assert.not.match(JSON.stringify(await rows.get('local', stolen.id)), token, 'of nobody else')
  })
})
