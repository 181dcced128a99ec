import { randomBytes } from 'node:crypto'
import { keysOfOne } from '../../../controllers/base/keys.ts'
import { makeCertificateReader } from '../../../controllers/store/host/certificates.ts'
import { makeRouteRows, type RouteRows } from '../../../controllers/store/host/hosts.ts'
import { takeEpoch } from '../../../controllers/store/pg/fence.ts'
import { makePg, type Pg } from '../../../controllers/store/pg/pg.ts'
import { certificateNames } from '../../../crds/host/calimits.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { type Database, makeDatabase } from '../../support/stage/stage.ts'

/** A CA counts new certificates by registered domain and week. Who asks for more is refused before the CA is asked. */

const day = (n: number): string => new Date(Date.UTC(2026, 10, 1 + n)).toISOString()

spec('places under the limit of a CA', (t) => {
  let database: Database
  let pg: Pg
  let rows: RouteRows
  const order = (hostnames: string[], perWeek: number | null, at: string, ca = '', host = 'h1') =>
    rows.order({ host, ca, owner: 'Site/site-a', names: certificateNames(hostnames) }, perWeek, at)
  const serve = (...hostnames: string[]) =>
    rows.put('h1', { id: `app-${hostnames[0]?.split('.')[0]}`, owner: 'App/app-a', hostnames, handle: [] })

  t.before(async () => {
    database = await makeDatabase()
    pg = makePg({ url: database.url, max: 4 })
    const epoch = await takeEpoch(pg, 'a test')
    rows = makeRouteRows({ pg, epoch: () => epoch, keys: keysOfOne(randomBytes(32)) })
  })
  t.after(async () => {
    await pg.close()
    await database.drop()
  })

  t('are taken once, whoever asks again, and counted by what somebody registered', async () => {
    assert.equal(await order(['a.shop.example', 'shop.example'], 3, day(0)), [])
    assert.equal(await order(['a.shop.example', 'shop.example'], 3, day(1)), [])
    assert.equal(await order(['a.other.example'], 3, day(1)), [])
    assert.equal(await order(['b.shop.example'], 3, day(1)), [])
  })

  t('are refused all together when one is too many, with the day on which they fit', async () => {
    const one = { root: 'shop.example', fresh: 1, used: 3, freeAt: day(7) }
    assert.equal(await order(['c.shop.example', 'd.other.example'], 3, day(2)), [one])
    assert.equal(await order(['d.other.example'], 3, day(2)), [], 'the one that was refused took no place')
    const three = { root: 'shop.example', fresh: 3, used: 3, freeAt: day(8) }
    assert.equal(await order(['c.shop.example', 'd.shop.example', 'e.shop.example'], 3, day(2)), [three])
    const never = { root: 'new.example', fresh: 4, used: 0, freeAt: null }
    assert.equal(
      await order(
        ['a', 'b', 'c', 'd'].map((label) => `${label}.new.example`),
        3,
        day(2),
      ),
      [never],
    )
  })

  t('are free again after seven days; another CA has a count of its own', async () => {
    assert.equal(await order(['c.shop.example'], 3, day(2), 'https://ca.example/directory', 'h2'), [])
    assert.equal(await order(['c.shop.example'], 3, day(7)), [])
  })

  t('of two that ask at once for the last, one gets it', async () => {
    const asked = Array.from({ length: 8 }, (_, n) => order([`n${n}.race.example`], 3, day(0)))
    const answers = await Promise.all(asked)
    assert.is(answers.filter((refused) => refused.length === 0).length, 3)
  })

  t('need no name that has a route, however old its order is: its certificate is renewed', async () => {
    await order(['old.served.example', 'gone.served.example'], 2, day(0))
    await serve('old.served.example')
    const asked = await order(['old.served.example', 'gone.served.example'], 1, day(70))
    assert.equal(asked, [], 'one of the two is new again')
    assert.equal((await order(['more.served.example'], 1, day(71)))[0]?.used, 1)
  })

  t('are recorded beyond the limit too, for what has a route asks the CA all the same', async () => {
    assert.equal(await order(['x.full.example', 'y.full.example', 'z.full.example'], null, day(0)), [])
    assert.equal((await order(['w.full.example'], 2, day(1)))[0]?.used, 3)
  })

  t('are read by the api without being taken, by what the host says of its CA', async () => {
    const api = makePg({ url: database.apiUrl, max: 1 })
    const reader = makeCertificateReader({ pg: api })
    const seen = async (proxy: object) => {
      const text = `insert into mirror (kind, name, uid, account, view, created_at, updated_at, generation, observed_generation)
        values ('Host', 'h1', 'u', 'platform', $1, now(), now(), 1, 1) on conflict (kind, name) do update set view = excluded.view`
      await query(database.url, text, [JSON.stringify({ proxy })])
      return reader.use('h1', ['w.full.example', 'x.full.example'], new Date(day(1)))
    }
    const full = { root: 'full.example', fresh: 1, used: 3 }
    try {
      assert.equal(await seen({ certificates_per_week: 2 }), {
        ca: '',
        perWeek: 2,
        uses: [{ ...full, freeAt: day(7) }],
      })
      assert.equal(await seen({}), { ca: '', perWeek: 50, uses: [{ ...full, freeAt: null }] })
      const ca = 'https://ca.example/directory'
      const own = await seen({ acme: { directory: ca } })
      assert.equal(own, { ca, perWeek: null, uses: [{ ...full, used: 0, freeAt: null }] })
      assert.is((await seen({ acme: { directory: ca }, certificates_per_week: 9 })).perWeek, 9)
    } finally {
      await api.close()
    }
  })
})
