import { takeEpoch } from '../../../controllers/store/pg/fence.ts'
import { makePg, type Pg } from '../../../controllers/store/pg/pg.ts'
import {
  makeSiteReservations,
  makeSiteRows,
  type SiteReservations,
  type SiteRows,
} from '../../../controllers/store/site/sites.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { type Database, makeDatabase } from '../../support/stage/stage.ts'

/** What PostgreSQL keeps of sites: quota reservations and names that two can never both have, and the queue of each host. */

spec('what is reserved for sites', (t) => {
  let database: Database
  let pg: Pg
  let reservations: SiteReservations
  let rows: SiteRows
  const sql = (text: string, values: unknown[] = []) => query(database.url, text, values)

  t.before(async () => {
    database = await makeDatabase()
    pg = makePg({ url: database.url, max: 8 })
    const epoch = await takeEpoch(pg, 'a test')
    reservations = makeSiteReservations({ pg })
    rows = makeSiteRows({ pg, epoch: () => epoch })
  })
  t.after(async () => {
    await pg.close()
    await database.drop()
  })

  t('sites of an account never exceed its number, however many ask at once', async () => {
    const asked = Array.from({ length: 20 }, (_, n) => reservations.takeSite(`site-${n}`, 'a', 3))
    const outcomes = await Promise.all(asked)
    assert.is(outcomes.filter((outcome) => outcome === 'taken').length, 3)
    const [held] = await sql("select site from site_places where account = 'a' order by site limit 1")
    assert.is(await reservations.takeSite(String(held?.site), 'a', 3), 'held')
    assert.is((await reservations.used('a', '2026-11-22')).sites, 3)
  })

  t('a place is given back unless the site came after all, and lapses when it never came', async () => {
    await reservations.takeSite('site-back', 'b', 1)
    await reservations.giveBackSite('site-back')
    assert.is(await reservations.takeSite('site-next', 'b', 1), 'taken')
    assert.is(await reservations.takeSite('site-late', 'b', 1), 'refused')
    await sql("update site_places set taken_at = now() - interval '11 minutes' where site = 'site-next'")
    assert.is(await reservations.takeSite('site-late', 'b', 1), 'taken')
  })

  t(
    'names are kept below the base domains of the platform alone: an owner’s host keeps nobody from anything',
    async () => {
      const host = (name: string, account: string, base: string) =>
        sql(
          `insert into mirror (kind, name, account, uid, generation, observed_generation, view, created_at, updated_at)
         values ('Host', $1, $2, $1, 1, 1, $3, now(), now())`,
          [name, account, JSON.stringify({ base_domain: base, takes_sites: true })],
        )
      await host('ours', 'platform', 'sites.example.org')
      await host('theirs', 'a', 'gov.example')
      assert.equal(await reservations.baseDomains(), ['sites.example.org'])
    },
  )

  t('a name is one site’s: the second of many gets none', async () => {
    const claims = Array.from({ length: 12 }, (_, n) =>
      reservations.claimName('shop', { site: `site-${n}`, account: 'a' }, n % 2 === 0),
    )
    const outcomes = await Promise.all(claims)
    assert.equal(
      outcomes.filter((outcome) => outcome !== 'refused'),
      ['taken'],
    )
  })

  t('a name that a request reserved and never used is free again; one that is settled stays', async () => {
    const [one, two] = [
      { site: 'site-one', account: 'a' },
      { site: 'site-two', account: 'b' },
    ]
    assert.is(await reservations.claimName('soon', one, false), 'taken')
    assert.is(await reservations.claimName('soon', two, false), 'refused')
    await sql("update site_names set reserved_until = now() - interval '1 second' where name = 'soon'")
    assert.is(await reservations.claimName('soon', two, true), 'taken')
    // A later reservation of its own does not make a settled name lapse.
    assert.is(await reservations.claimName('soon', two, false), 'held')
    await rows.releaseNames('site-two', ['soon'])
    assert.is(await reservations.claimName('soon', one, true), 'refused')
    await rows.releaseNames('site-two', [])
    assert.is(await reservations.claimName('soon', one, true), 'kept', 'for the account that had it')
    assert.is(await reservations.claimName('soon', { site: 'site-three', account: 'b' }, true), 'taken')
  })

  t('publishes of a day never exceed the cap, and the same bytes take one place for ever', async () => {
    const request = { account: 'p', day: '2026-11-22', limit: 5 }
    const asked = Array.from({ length: 20 }, (_, n) =>
      reservations.takePublish({ ...request, site: 'site-p', digest: `d${n}` }),
    )
    const outcomes = await Promise.all(asked)
    assert.is(outcomes.filter((outcome) => outcome === 'taken').length, 5)
    const [held] = await sql("select digest from publish_places where site = 'site-p' limit 1")
    assert.is(
      await reservations.takePublish({ ...request, site: 'site-p', digest: String(held?.digest), day: '2026-11-23' }),
      'held',
    )
    assert.is(
      await reservations.takePublish({ ...request, site: 'site-p', digest: 'next', day: '2026-11-23' }),
      'taken',
    )
  })

  t('each host has a queue of its own, in the order of arrival; who is switched waits no longer', async () => {
    const turnOf = async (site: string) => (await rows.observe(site, 'q')).turn
    // One that a request let in keeps its place when the controllers learn its host.
    await reservations.arrive('q1')
    await rows.moveQueue('q2', { host: 'h1', digest: 'd2', stage: 'waiting' })
    await rows.moveQueue('q3', { host: 'h2', digest: 'd3', stage: 'waiting' })
    await rows.moveQueue('q1', { host: 'h1', digest: 'd1', stage: 'waiting' })
    assert.equal([(await turnOf('q1'))?.place, (await turnOf('q2'))?.place, (await turnOf('q3'))?.place], [1, 2, 1])
    assert.equal((await rows.heads()).sort(), ['q1', 'q3'])
    await rows.moveQueue('q1', { host: 'h1', digest: 'd1', stage: 'switched' })
    assert.is((await turnOf('q2'))?.place, 1)
    assert.equal((await rows.heads()).sort(), ['q2', 'q3'])
    // Other bytes after a switch come last.
    await rows.moveQueue('q1', { host: 'h1', digest: 'd9', stage: 'waiting' })
    assert.is((await turnOf('q1'))?.place, 2)
    await rows.leaveQueue('q2')
    assert.is((await turnOf('q1'))?.place, 1)
    assert.is(await turnOf('q2'), null)
  })

  t('nobody waits for a site that is lost, which keeps its place', async () => {
    const turnOf = async (site: string) => (await rows.observe(site, 'l')).turn
    for (const site of ['l1', 'l2', 'l3']) await rows.moveQueue(site, { host: 'h9', digest: 'd', stage: 'waiting' })
    await sql("insert into mirror_lost (kind, name, uid) values ('Site', 'l1', 'u1'), ('App', 'l2', 'u2')")
    assert.equal([(await turnOf('l2'))?.place, (await turnOf('l3'))?.place], [1, 2])
    assert.ok((await rows.heads()).includes('l2'))
    await sql('delete from mirror_lost')
    assert.equal([(await turnOf('l1'))?.place, (await turnOf('l2'))?.place], [1, 2])
  })

  t('a leader that was replaced moves nothing', async () => {
    await takeEpoch(pg, 'another')
    await assert.rejects(rows.leaveQueue('q1'), /stale/i)
    await assert.rejects(rows.forget('q1'), /stale/i)
  })
})
