import { StaleEpoch } from '../../../controllers/base/errors.ts'
import {
  type Desires,
  makeAskDeletion,
  makeDesires,
  makeKeptGenerations,
  makeKeptReader,
  type NewDesire,
  readKeptGenerations,
} from '../../../controllers/store/ledger/desires.ts'
import { makeMirror, type NewMirrorRow } from '../../../controllers/store/mirror.ts'
import { takeEpoch } from '../../../controllers/store/pg/fence.ts'
import { makePg, type Pg } from '../../../controllers/store/pg/pg.ts'
import { makeSiteReservations } from '../../../controllers/store/site/sites.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { type Database, makeDatabase } from '../../support/stage/stage.ts'

const AT = '2026-11-23T08:00:00.000Z'
const aDesire = (change: Partial<NewDesire> = {}): NewDesire => ({
  kind: 'Site',
  name: 'site-a',
  uid: 'u1',
  generation: 1,
  account: 'demo',
  createdAt: AT,
  desire: { labels: {}, annotations: {}, spec: { title: 'first' } },
  ...change,
})
const aRow = ({ desire, ...of }: NewDesire): NewMirrorRow => ({
  ...of,
  observedGeneration: of.generation,
  view: { id: of.name },
  updatedAt: AT,
  desire,
})

spec('what is kept of desire', (t) => {
  let database: Database
  let pg: Pg
  let epoch: number
  let desires: Desires
  t.before.each(async () => {
    database = await makeDatabase()
    pg = makePg({ url: database.url })
    epoch = await takeEpoch(pg, 'test')
    desires = makeDesires({ pg, epoch: () => epoch, known: makeKeptGenerations() })
  })
  t.after.each(async () => {
    await pg.close()
    await database.drop()
  })
  const sql = (text: string) => query(database.url, text)
  const kept = () => sql('select name, uid, origin, generation::int, spec from desires order by name')
  const gone = (uid: string) => desires.see({ kind: 'Site', name: 'site-a', uid, generation: 1, how: 'seen' })

  t('is written with the view, once, and an older generation never replaces a newer one', async () => {
    const known = makeKeptGenerations()
    let sent = ''
    const around: Pg = {
      ...pg,
      query: (name, text, values) => {
        if (name === 'put_mirror') sent = String(values?.[2])
        return pg.query(name, text, values)
      },
    }
    const mirror = makeMirror({ pg: around, epoch: () => epoch, known })
    const second = aDesire({ generation: 2, desire: { ...aDesire().desire, spec: { title: 'second' } } })
    await mirror.put(aRow(second))
    assert.match(sent, 'second')
    await mirror.put(aRow(second))
    assert.not.match(sent, 'second')
    assert.not.ok((await readKeptGenerations(pg)).has('u1', 3))
    assert.ok((await readKeptGenerations(pg)).has('u1', 2))
    await desires.keep(aDesire())
    assert.equal(await kept(), [{ name: 'site-a', uid: 'u1', origin: 'u1', generation: 2, spec: { title: 'second' } }])
  })

  t('goes on as what it was before where nobody saw that deleted, and for the same account alone', async () => {
    await desires.keep(aDesire())
    const originOf = async (uid: string, account = 'demo') =>
      (await desires.originOf({ kind: 'Site', name: 'site-a', uid, account })).origin
    assert.equal([await originOf('u1'), await originOf('u2'), await originOf('u2', 'other')], ['u1', 'u1', 'u2'])
    await desires.keep(aDesire({ uid: 'u2' }))
    assert.equal([(await kept())[0]?.origin, await originOf('u3')], ['u1', 'u1'])
    await gone('u2')
    assert.equal([await originOf('u3'), await desires.stored({ kind: 'Site', name: 'site-a' })], ['u3', null])
    await desires.keep(aDesire({ uid: 'u3' }))
    assert.is((await kept())[0]?.origin, 'u3')
  })

  t('knows a deletion that was asked for, until it is taken back', async () => {
    await desires.keep(aDesire())
    const api = makePg({ url: database.apiUrl, max: 1 })
    const deletions = makeAskDeletion({ pg: api })
    const of = { kind: 'Site', name: 'site-a', uid: 'u1' }
    await deletions.ask('Site', [of])
    assert.equal((await makeKeptReader({ pg }).candidates())[0]?.deletion, 'asked')
    assert.equal(await desires.askedFor(60_000), [])
    assert.equal(await desires.askedFor(0), [of])
    await deletions.takeBack(of)
    assert.equal((await makeKeptReader({ pg }).candidates())[0]?.deletion, null)
    await gone('u1')
    await deletions.takeBack(of)
    assert.equal((await makeKeptReader({ pg }).candidates())[0]?.deletion, 'seen', 'what was seen stays')
    await api.close()
  })

  t('is kept sparsely: what is old and superseded or deleted goes, the newest never', async () => {
    await desires.keep(aDesire())
    await desires.keep(aDesire({ generation: 2 }))
    await desires.keep(aDesire({ name: 'site-b', uid: 'b' }))
    await desires.keep(aDesire({ name: 'inv-due', kind: 'Invoice', uid: 'due' }))
    await desires.see({ kind: 'Site', name: 'site-b', uid: 'b', generation: 1, how: 'seen' })
    await desires.see({ kind: 'Invoice', name: 'inv-due', uid: 'due', generation: 1, how: 'seen' })
    await sql(
      `insert into schedule (kind, resource, purpose, due_at, generation, fact_seq) values ('Invoice', 'inv-due', 'x', now(), 1, 0)`,
    )
    assert.is(await desires.prune(30), 0)
    await sql("update desire_history set superseded_at = now() - interval '31 days'")
    await sql("update deletions set seen_at = now() - interval '31 days'")
    await sql("update desires set recorded_at = now() - interval '400 days'")
    assert.is(await desires.prune(30), 2)
    assert.equal(
      (await kept()).map(({ name }) => name),
      ['inv-due', 'site-a'],
      'something is still due of the one',
    )
  })

  t('holds what was reserved for a resource though there is no view of it', async () => {
    const sites = makeSiteReservations({ pg })
    assert.is(await sites.takeSite('site-a', 'demo', 1), 'taken')
    await sql("update site_places set taken_at = now() - interval '1 day'")
    await desires.keep(aDesire())
    assert.is(await sites.takeSite('site-b', 'demo', 1), 'refused')
    await sites.giveBackSite('site-a')
    assert.is((await sites.used('demo', '2026-11-23')).sites, 1)
    await gone('u1')
    assert.is(await sites.takeSite('site-b', 'demo', 1), 'taken')
  })

  t('is no older leader’s to write', async () => {
    await takeEpoch(pg, 'another')
    for (const work of [() => desires.keep(aDesire()), () => gone('u1'), () => desires.prune(30)]) {
      assert.instance(await work().catch((error) => error), StaleEpoch)
    }
    assert.equal(await kept(), [])
  })
})
