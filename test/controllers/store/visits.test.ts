import { takeEpoch } from '../../../controllers/store/pg/fence.ts'
import { makePg, type Pg } from '../../../controllers/store/pg/pg.ts'
import { makeSiteReservations, makeSiteRows } from '../../../controllers/store/site/sites.ts'
import { makeVisitReader, makeVisitStore, type VisitStore } from '../../../controllers/store/site/visits.ts'
import type { DayCounts } from '../../../crds/site/publishing/visits/fold.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { type Database, makeDatabase } from '../../support/stage/stage.ts'

/** Visits as PostgreSQL counts them: each once, whoever counts, and never more names than there may be. */

const DAY = '2026-11-23'
const SPAN = { from: DAY, to: DAY }
const hex = (n: number): string => n.toString(16).padStart(8, '0')
const counts = (site: string, change: Partial<DayCounts> = {}): DayCounts => ({
  site,
  day: DAY,
  visits: 1,
  robots: 0,
  visitors: [],
  pages: [{ name: '/', visits: 1 }],
  ...change,
})

spec('visits as they are counted', (t) => {
  let database: Database
  let pg: Pg
  let epoch: number
  let visits: VisitStore
  const reader = () => makeVisitReader({ pg })
  const sql = (text: string, values: unknown[] = []) => query(database.url, text, values)
  const dayOf = async (site: string) => (await reader().days(site, SPAN))[0]

  t.before(async () => {
    database = await makeDatabase()
    pg = makePg({ url: database.url, max: 8 })
    epoch = await takeEpoch(pg, 'a test')
    visits = makeVisitStore({ pg, epoch: () => epoch })
    const { takeSite } = makeSiteReservations({ pg })
    for (const site of ['once', 'names', 'race', 'gone', 'old', 'crowd']) await takeSite(site, 'a', 100)
  })
  t.after(async () => {
    await pg.close()
    await database.drop()
  })

  t('are counted once, however often the same part of a file is told', async () => {
    const read = [{ file: '1-a', from: 0, to: 100 }]
    const days = [counts('once', { visitors: [{ visitor: hex(1), referrer: 'a.test' }] })]
    assert.is(await visits.fold('h', read, days), true)
    assert.is(await visits.fold('h', read, days), false)
    assert.equal(await visits.places('h'), [{ file: '1-a', place: 100 }])
    assert.equal(await dayOf('once'), { date: DAY, visits: 1, visitors: 1, robots: 0 })
  })

  t('a visitor counts once on a day, and brings along only where he came from first', async () => {
    const again = [counts('once', { visits: 2, visitors: [{ visitor: hex(1), referrer: 'spam.test' }] })]
    assert.is(await visits.fold('h', [{ file: '1-a', from: 100, to: 200 }], again), true)
    assert.equal(await dayOf('once'), { date: DAY, visits: 3, visitors: 1, robots: 0 })
    assert.equal(await reader().names('once', SPAN, 50), [
      { sort: 'page', name: '/', visits: 2 },
      { sort: 'referrer', name: 'a.test', visits: 1 },
    ])
  })

  t('of ten who tell the same at once one is believed', async () => {
    const told = Array.from({ length: 10 }, () =>
      visits.fold(
        'h',
        [{ file: '2-b', from: 0, to: 9 }],
        [counts('race', { visitors: [{ visitor: hex(7), referrer: null }] })],
      ),
    )
    assert.is((await Promise.all(told)).filter((isKept) => isKept).length, 1)
    assert.equal(await dayOf('race'), { date: DAY, visits: 1, visitors: 1, robots: 0 })
  })

  t('one file that was read on from elsewhere has nothing of all that was read counted', async () => {
    const read = [
      { file: '3-c', from: 0, to: 5 },
      { file: '1-a', from: 0, to: 300 },
    ]
    assert.is(await visits.fold('h', read, [counts('race')]), false)
    assert.is((await dayOf('race'))?.visits, 1)
    assert.is(
      (await visits.places('h')).some(({ file }) => file === '3-c'),
      false,
    )
  })

  t('a leader that was replaced counts nothing any more', async () => {
    const later = await takeEpoch(pg, 'another')
    const refused = await visits.fold('h', [{ file: '4-d', from: 0, to: 5 }], [counts('race')]).then(
      () => null,
      (error) => error.name,
    )
    assert.is(refused, 'StaleEpoch')
    epoch = later
    assert.is((await dayOf('race'))?.visits, 1)
  })

  t('names beyond their number count together, also over many readings', async () => {
    for (let n = 0; n < 4; n++) {
      const pages = Array.from({ length: 100 }, (_, m) => ({ name: `/p${n}-${m}/`, visits: 1 }))
      await visits.fold('h', [{ file: '5-e', from: n, to: n + 1 }], [counts('names', { visits: 100, pages })])
    }
    const [row] = await sql("select count(*) as n, sum(visits) as sum from site_day_names where site = 'names'")
    assert.equal([Number(row?.n), Number(row?.sum)], [201, 400])
    const shown = await reader().names('names', SPAN, 50)
    assert.is(shown.length, 51)
    assert.equal(shown.at(-1), { sort: 'page', name: '', visits: 350 })
  })

  t('visitors beyond their number are not told apart', async () => {
    await visits.fold('h', [{ file: '6-f', from: 0, to: 1 }], [counts('crowd')])
    await sql("update site_days set visitors = 49999 where site = 'crowd'")
    const visitors = [1, 2, 3].map((n) => ({ visitor: hex(n), referrer: null }))
    await visits.fold('h', [{ file: '6-f', from: 1, to: 2 }], [counts('crowd', { visitors })])
    assert.is((await dayOf('crowd'))?.visitors, 50_000)
  })

  t('of a site that is gone nothing is counted, and nothing is left', async () => {
    await visits.fold(
      'h',
      [{ file: '7-a', from: 0, to: 1 }],
      [counts('gone', { visitors: [{ visitor: hex(1), referrer: 'a.test' }] })],
    )
    await makeSiteRows({ pg, epoch: () => epoch }).forget('gone')
    assert.is(await visits.fold('h', [{ file: '7-a', from: 1, to: 2 }], [counts('gone'), counts('never')]), true)
    const [row] = await sql(
      `select (select count(*) from site_days where site in ('gone', 'never')) as days,
        (select count(*) from site_day_names where site in ('gone', 'never')) as names,
        (select count(*) from site_visitors where site = 'gone') as visitors`,
    )
    assert.equal([row?.days, row?.names, row?.visitors].map(Number), [0, 0, 0])
  })

  t(
    'go when their time is over: who was seen first, then the counts; a file that is still read stays known',
    async () => {
      const visitors = [{ visitor: hex(1), referrer: 'a.test' }]
      const days = ['2026-11-23', '2026-11-10', '2025-01-01'].map((day) => counts('old', { day, visitors }))
      await visits.fold('h', [{ file: '8-a', from: 0, to: 1 }], days)
      await sql("update visit_places set read_at = now() - interval '9 days' where file = '8-a'")
      await sql("update visit_places set read_at = now() - interval '11 days' where file = '5-e'")
      assert.is(await visits.fold('h', [{ file: '8-a', from: 1, to: 1 }], []), true)
      await visits.sweep(DAY)
      const left = await sql("select to_char(day, 'YYYY-MM-DD') as day from site_days where site = 'old' order by day")
      assert.equal(left, [{ day: '2026-11-10' }, { day: '2026-11-23' }])
      const [seen] = await sql("select count(*) as n from site_visitors where site = 'old'")
      assert.is(Number(seen?.n), 1)
      const files = (await visits.places('h')).map(({ file }) => file)
      assert.equal([files.includes('8-a'), files.includes('5-e')], [true, false])
      await sql("update visit_places set read_at = now() - interval '9 days' where file = '8-a'")
      const [touched] = await sql(
        "select read_at > now() - interval '1 day' as fresh from visit_places where file = '8-a'",
      )
      assert.is(touched?.fresh, false)
    },
  )
})
