import { cpSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { takeEpoch } from '../../../controllers/store/pg/fence.ts'
import { migrate } from '../../../controllers/store/pg/migrate.ts'
import { makePg, type Pg } from '../../../controllers/store/pg/pg.ts'
import { makeBaseStore } from '../../../controllers/store/site/bases.ts'
import { type DueName, makeNameLooks, type NameLooks } from '../../../controllers/store/site/names.ts'
import {
  makeSiteReservations,
  makeSiteRows,
  type SiteReservations,
  type SiteRows,
} from '../../../controllers/store/site/sites.ts'
import { lookedAt, type NameLook, type NameState } from '../../../crds/names/life.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { type AccountName, type NamesUnderTest, orderOf, runOrder } from '../../support/judges/nameorders.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { type Database, makeDatabase, scratchFolder } from '../../support/stage/stage.ts'

/** Whose a name is, as PostgreSQL keeps it: the life of crds/names/life.ts, by the clock of the platform. */

const ABSENT: NameLook = { found: null, answer: 'absent', detail: 'no record' }
const SEEN: NameLook = { found: 'txt' }
const SQL = join(import.meta.dirname, '..', '..', '..', 'controllers', 'store', 'sql')
const FULL = process.env.BOTTEGA_TEST_FULL !== undefined
const FAR = new Date('2100-01-01')

spec('whose a name is', (t) => {
  let database: Database
  let pg: Pg
  let looks: NameLooks
  let reservations: SiteReservations
  let rows: SiteRows
  const statements = new Map<string, string>()
  /** Over the pool: an order is some hundred statements. */
  const sql = async (text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> => {
    const known = statements.get(text) ?? `test_${statements.size}`
    statements.set(text, known)
    return (await pg.query<Record<string, unknown>>(known, text, values)).rows
  }
  const siteOf = (by: AccountName) => ({ site: `site-${by}`, account: by })
  /** All of it, due or not, by the clock that is given. */
  const dueOf = async (name: string, account: string, now: Date): Promise<DueName | undefined> => {
    await sql('update site_names set due_at = $3 where name = $1 and account = $2 and due_at is not null', [
      name,
      account,
      now,
    ])
    return (await looks.due(now, 1_000)).find((one) => one.name === name && one.account === account)
  }
  const lookAt = async (name: string, account: string, look: NameLook, now: string) => {
    const due = await dueOf(name, account, new Date(now))
    if (due === undefined) return 'none'
    return looks.keep(due, lookedAt(due, look, due, now), now, look.found !== null && due.holder !== null)
  }
  const setClock = (now: string) =>
    sql(
      `insert into dev_clock (offset_ms, moves) values (greatest(0, (extract(epoch from $1::timestamptz - now()) * 1000)::bigint), 1)
      on conflict (only_row) do update set offset_ms = excluded.offset_ms`,
      [now],
    )
  const stateOf = async (name: string, account: string): Promise<NameState> => {
    const [row] = await sql('select state from site_names where name = $1 and account = $2', [name, account])
    return (row?.state ?? 'free') as NameState
  }

  t.before(async () => {
    database = await makeDatabase()
    pg = makePg({ url: database.url, max: 8 })
    const epoch = await takeEpoch(pg, 'a test')
    looks = makeNameLooks({ pg, epoch: () => epoch })
    reservations = makeSiteReservations({ pg })
    rows = makeSiteRows({ pg, epoch: () => epoch })
  })
  t.after(async () => {
    await pg.close()
    await database.drop()
  })

  t('a claim of a domain blocks nobody: twelve accounts have one each, and who proves it has the name', async () => {
    const claims = Array.from({ length: 12 }, (_, n) =>
      reservations.claimName('www.many.example', { site: `site-${n}`, account: `m${n}` }, true),
    )
    assert.equal(new Set(await Promise.all(claims)), new Set(['taken']))
    assert.is(await reservations.claimName('www.many.example', { site: 'site-x', account: 'm3' }, false), 'refused')
    const at = '2030-01-01T00:00:00.000Z'
    const due = await looks.due(new Date(at), 100)
    const shown = due.filter(({ account }) => ['m3', 'm4', 'm5'].includes(account))
    const kept = await Promise.all(shown.map((one) => looks.keep(one, lookedAt(one, SEEN, one, at), at, false)))
    assert.equal(kept.sort(), ['held', 'held', 'kept'], 'of three at once one has it')
    await sql("delete from site_names where name = 'www.many.example'")
  })

  t(
    `in ${FULL ? 300 : 30} orders of claim, proof, lapse and release nobody is served who has not proven the name`,
    async () => {
      let served = 0
      for (let seed = 1; seed <= (FULL ? 300 : 30); seed++) {
        const name = `order-${seed}.example`
        // By the clock of the platform a release is judged, by the leader's a look: both are the order's.
        const names: NamesUnderTest = {
          claim: async (by) => (await reservations.claimName(name, siteOf(by), true)) !== 'refused',
          async release(by, now) {
            await setClock(now)
            await rows.releaseNames(`site-${by}`, [])
          },
          look: async (by, hasRecord, now) => void (await lookAt(name, by, hasRecord ? SEEN : ABSENT, now)),
          state: (by) => stateOf(name, by),
        }
        served += await runOrder(names, orderOf(seed, 24), `seed ${seed}`)
        await sql('delete from site_names where name = $1', [name])
      }
      assert.ok(served > 50, `somebody was served, ${served} times`)
    },
  )

  const baseOf = async (name: string, account: string, look: NameLook, now: string) =>
    lookAt(`*.${name}`, account, look, now)

  t(
    `in ${FULL ? 300 : 30} orders of two accounts, of whom one claims a base domain, what lies above or below a name is no other's`,
    async () => {
      const bases = makeBaseStore({ pg })
      let served = 0
      for (let seed = 1; seed <= (FULL ? 300 : 30); seed++) {
        const domain = `based-${seed}.example`
        // The other claims a part of it, itself, or what it lies below, by turns.
        const name = { a: `*.${domain}`, b: [`www.${domain}`, domain, `*.eu.${domain}`][seed % 3] ?? '' }
        const baseIn = (by: AccountName) => (name[by].startsWith('*.') ? name[by].slice(2) : null)
        const names: NamesUnderTest = {
          async claim(by) {
            const base = baseIn(by)
            if (base !== null) return (await bases.claim(base, by)) !== 'refused'
            await reservations.claimName(name[by], siteOf(by), true)
            return true
          },
          async release(by, now) {
            await setClock(now)
            const base = baseIn(by)
            if (base === null) await rows.releaseNames(`site-${by}`, [])
            else await bases.release(base, by)
          },
          look: async (by, hasRecord, now) => void (await lookAt(name[by], by, hasRecord ? SEEN : ABSENT, now)),
          state: (by) => stateOf(name[by], by),
        }
        served += await runOrder(names, orderOf(seed, 24), `base seed ${seed}`)
        await sql('delete from site_names where strpos(name, $1) > 0', [domain])
      }
      assert.ok(served > 50, `somebody was served, ${served} times`)
      await sql('delete from dev_clock')
    },
  )

  t('what is below a base domain is its account’s without a proof, and stands as the base does', async () => {
    const bases = makeBaseStore({ pg })
    const at = (hours: number) => new Date(Date.parse('2031-01-01T00:00:00Z') + hours * 3_600_000).toISOString()
    const claim = (name: string, by: AccountName, site = `site-${by}`) =>
      reservations.claimName(name, { site, account: by }, true)
    const there = async (name: string, by: string) =>
      (await sql('select state, proof from site_names where name = $1 and account = $2', [name, by])).map(
        ({ state, proof }) => `${state} ${proof ?? '-'}`,
      )[0] ?? 'free'
    assert.is(await bases.claim('partner.example', 'a'), 'taken')
    assert.is(await bases.claim('partner.example', 'a'), 'held')
    assert.is(await bases.claim('partner.example', 'b'), 'taken', 'a claim blocks nobody')
    await claim('early.partner.example', 'a')
    assert.is(await there('early.partner.example', 'a'), 'asked -', 'below what is not proven nothing is given')
    assert.is(await baseOf('partner.example', 'a', SEEN, at(0)), 'kept')
    assert.is(await there('early.partner.example', 'a'), 'verified base')
    await claim('shop.partner.example', 'a', 'site-two')
    assert.is(await there('shop.partner.example', 'a'), 'verified base')
    await claim('deep.er.partner.example', 'a', 'site-three')
    assert.is(await there('deep.er.partner.example', 'a'), 'asked -', 'one label, as the wildcard of a certificate')
    assert.is(await claim('shop.partner.example', 'a', 'site-four'), 'refused', 'one site each')
    // Another account has no part of it, whatever it shows.
    await claim('their.partner.example', 'b')
    assert.is(await there('their.partner.example', 'b'), 'asked -')
    await lookAt('their.partner.example', 'b', SEEN, at(1))
    assert.is(await there('their.partner.example', 'b'), 'asked -')
    assert.is(await bases.claim('eu.partner.example', 'b'), 'refused')
    assert.is(await bases.claim('partner.example', 'b'), 'refused')
    const put = (hostname: string, site: string) =>
      sql(
        "select changed from put_host_route('controllers', (select max(epoch) from epochs), 'h1', $1, $2, $3, '[]')",
        [`site-${site}`, `Site/${site}`, [hostname]],
      )
    await put('shop.partner.example', 'site-two')
    await assert.rejects(put('their.partner.example', 'site-b'), /is not proven/)
    assert.is(await bases.release('partner.example', 'a'), 'live', 'a site is served below it')
    assert.equal((await bases.list('a'))[0]?.names, ['early.partner.example', 'shop.partner.example'])

    await baseOf('partner.example', 'a', ABSENT, at(2))
    assert.is(await there('shop.partner.example', 'a'), 'missing base')
    await put('shop.partner.example', 'site-two')
    await baseOf('partner.example', 'a', ABSENT, at(2 + 3 * 24))
    assert.is(await there('shop.partner.example', 'a'), 'lapsed base')
    await sql("delete from host_names where hostname = 'shop.partner.example'")
    await sql("delete from host_routes where id = 'site-site-two'")
    await assert.rejects(put('shop.partner.example', 'site-two'), /is not proven/)
    await baseOf('partner.example', 'a', SEEN, at(3 + 3 * 24))
    assert.is(await there('shop.partner.example', 'a'), 'verified base')

    assert.is(await bases.release('partner.example', 'b'), 'given')
    assert.is(await bases.release('partner.example', 'a'), 'given')
    assert.is(await bases.release('partner.example', 'a'), 'none')
    assert.is(await there('shop.partner.example', 'a'), 'asked -', 'it is to be proven by itself now')
    await lookAt('their.partner.example', 'b', SEEN, at(5 + 3 * 24))
    assert.is(await there('their.partner.example', 'b'), 'verified txt')
    assert.is(await bases.claim('partner.example', 'a'), 'refused', 'a part of it is another account’s')
    await sql("delete from site_names where root = 'partner.example'")
  })

  t('a base domain that lapsed is another’s a week later, and what was below it is nobody’s meanwhile', async () => {
    const bases = makeBaseStore({ pg })
    const at = (days: number) => new Date(Date.parse('2032-01-01T00:00:00Z') + days * 86_400_000).toISOString()
    await bases.claim('moved.example', 'a')
    await baseOf('moved.example', 'a', SEEN, at(0))
    await reservations.claimName('shop.moved.example', siteOf('a'), true)
    await reservations.claimName('www.moved.example', siteOf('b'), true)
    await baseOf('moved.example', 'a', ABSENT, at(1))
    await baseOf('moved.example', 'a', ABSENT, at(4))
    await lookAt('www.moved.example', 'b', SEEN, at(5))
    assert.is(await stateOf('www.moved.example', 'b'), 'asked')
    await lookAt('www.moved.example', 'b', SEEN, at(12))
    const states = await sql("select name, account, state from site_names where root = 'moved.example' order by name")
    assert.equal(
      states.map(({ name, account, state }) => `${name} ${account} ${state}`),
      ['*.moved.example a asked', 'shop.moved.example a asked', 'www.moved.example b verified'],
    )
    await sql("delete from site_names where root = 'moved.example'")
  })

  t('the other of www and apex comes along, blocks no site of the account, and gives way with its route', async () => {
    const claim = (name: string, site: string, twin: string | null, account = 'a') =>
      reservations.claimName(name, { site, account, twin }, true)
    const there = async () =>
      (
        await sql(
          "select name, site, account, spare from site_names where root = 'pair.example' order by name, account",
        )
      ).map(({ name, site, account, spare }) => `${name} ${site} ${account}${spare ? ' spare' : ''}`)
    const put = (site: string, hostnames: string[]) =>
      sql(
        "select changed from put_host_route('controllers', (select max(epoch) from epochs), 'h1', $1, $2, $3, '[]')",
        [`site-${site}`, `Site/${site}`, hostnames],
      )
    const at = '2033-01-01T00:00:00.000Z'
    await claim('pair.example', 'one', 'www.pair.example')
    await claim('www.pair.example', 'two', 'pair.example', 'b')
    assert.equal(await there(), [
      'pair.example one a',
      'pair.example two b spare',
      'www.pair.example one a spare',
      'www.pair.example two b',
    ])
    await lookAt('pair.example', 'a', SEEN, at)
    await assert.rejects(put('one', ['pair.example', 'www.pair.example']), /is not proven/)
    await lookAt('www.pair.example', 'a', SEEN, at)
    await put('one', ['pair.example', 'www.pair.example'])
    await lookAt('www.pair.example', 'b', SEEN, at)
    await assert.rejects(put('two', ['www.pair.example']), /is not proven/)
    // Another site of the account asks for what only leads to the first.
    assert.is(await claim('www.pair.example', 'three', 'pair.example'), 'taken')
    assert.is(await claim('pair.example', 'three', null), 'refused', 'what a site has asked for gives way to none')
    assert.ok((await there()).includes('www.pair.example three a'))
    await put('three', ['www.pair.example'])
    await assert.rejects(put('one', ['pair.example', 'www.pair.example']), /is not proven/)
    await put('one', ['pair.example'])
    await sql("delete from host_routes where id in ('site-one', 'site-three')")
    await sql("delete from site_names where root = 'pair.example'")
  })

  t('a name that a site has left is kept for it, and gives way to another site of its account alone', async () => {
    const claim = (site: string, account: string) => reservations.claimName('left-label', { site, account }, true)
    assert.is(await claim('one', 'a'), 'taken')
    assert.is(await claim('two', 'a'), 'refused')
    await rows.releaseNames('one', ['left-label'], ['left-label'])
    assert.is(await claim('three', 'b'), 'refused')
    assert.is(await claim('two', 'a'), 'held')
    const [row] = await sql("select site, spare from site_names where name = 'left-label'")
    assert.equal(row, { site: 'two', spare: false })
    await sql("delete from site_names where name = 'left-label'")
  })

  t('a claim of a base domain is forgotten after seven days, and an account has five at most', async () => {
    const bases = makeBaseStore({ pg })
    await setClock('2000-01-01T00:00:00Z')
    await bases.claim('slow.example', 'c')
    await sql('update dev_clock set offset_ms = 6 * 86400000::bigint')
    await looks.sweep()
    assert.is((await bases.list('c')).length, 1)
    await sql('update dev_clock set offset_ms = 8 * 86400000::bigint')
    await looks.sweep()
    assert.equal(await bases.list('c'), [])
    await sql('delete from dev_clock')
    const now = new Date().toISOString()
    for (let n = 0; n < 5; n++) {
      assert.is(await bases.claim(`unproven-${n}.example`, 'c'), 'taken')
      assert.is((await bases.list('c')).length, n + 1, 'a claim gives way to the next')
      assert.is(await bases.claim(`many-${n}.example`, 'c'), 'taken')
      await baseOf(`many-${n}.example`, 'c', SEEN, now)
    }
    assert.is(await bases.claim('more.example', 'c'), 'full')
    assert.is((await bases.list('c'))[0]?.domain, 'many-4.example')
    await sql("delete from site_names where account = 'c'")
  })

  t(
    'a label that was given back is kept for its account for thirty days, also when it is reserved meanwhile',
    async () => {
      await setClock('2000-01-01T00:00:00Z')
      assert.is(await reservations.claimName('kept', siteOf('a'), true), 'taken')
      await rows.releaseNames('site-a', [])
      assert.is(await stateOf('kept', 'a'), 'quarantined')
      assert.is(await reservations.claimName('kept', siteOf('b'), false), 'kept')
      assert.is(await reservations.claimName('kept', { site: 'site-other', account: 'a' }, false), 'taken')
      await sql("update site_names set reserved_until = now() - interval '1 second' where name = 'kept'")
      assert.is(await reservations.claimName('kept', siteOf('b'), false), 'kept', 'its own account never came')
      assert.is(await reservations.claimName('kept', siteOf('a'), true), 'taken')
      await rows.forget('site-a')
      assert.is(await stateOf('kept', 'a'), 'quarantined')
      await sql('update dev_clock set offset_ms = 29 * 86400000::bigint')
      await looks.sweep()
      assert.is(await reservations.claimName('kept', siteOf('b'), true), 'kept')
      await sql('update dev_clock set offset_ms = 31 * 86400000::bigint')
      assert.is(await reservations.claimName('kept', siteOf('b'), true), 'taken')
      await sql('delete from dev_clock')
    },
  )

  t('one that was served before gives way to a proof, after it was asked for its own', async () => {
    const name = 'old.example'
    await sql(
      "insert into site_names (name, site, account, state, proof, due_at) values ($1, 'site-a', 'a', 'verified', 'before', $2)",
      [name, FAR],
    )
    await reservations.claimName(name, siteOf('b'), true)
    const at = (hours: number) => new Date(Date.parse('2030-01-01T00:00:00Z') + hours * 3_600_000).toISOString()
    assert.is(await lookAt(name, 'a', ABSENT, at(0)), 'kept')
    assert.is(await stateOf(name, 'a'), 'verified', 'nobody else has shown a proof')
    assert.is(await lookAt(name, 'b', SEEN, at(1)), 'kept')
    assert.is(await stateOf(name, 'b'), 'asked')
    assert.ok(
      (await looks.due(new Date(at(1)), 1_000)).some((one) => one.name === name && one.account === 'a'),
      'it is looked at now',
    )
    await lookAt(name, 'a', ABSENT, at(2))
    assert.is(await stateOf(name, 'a'), 'missing')
    await lookAt(name, 'a', ABSENT, at(2 + 3 * 24))
    assert.is(await stateOf(name, 'a'), 'lapsed')
    await lookAt(name, 'b', SEEN, at(2 + 5 * 24))
    assert.is(await stateOf(name, 'b'), 'asked', 'kept for a week')
    await lookAt(name, 'b', SEEN, at(2 + 11 * 24))
    assert.equal([await stateOf(name, 'b'), await stateOf(name, 'a')], ['verified', 'asked'])
  })

  t('every change of a life is a fact, and facts stay as they were written', async () => {
    const facts = await sql("select account, state, proof from site_name_facts where name = 'old.example' order by seq")
    assert.equal(
      facts.map(({ account, state, proof }) => `${account} ${state} ${proof ?? '-'}`),
      ['a verified before', 'b asked -', 'a missing before', 'a lapsed before', 'a asked -', 'b verified txt'],
    )
    await assert.rejects(sql('update site_name_facts set state = state'), /append-only/)
    await assert.rejects(sql('delete from site_name_facts'), /append-only/)
  })

  t('a site has no route under a name that is not proven, whoever asks for it', async () => {
    const put = (hostname: string) =>
      sql(
        "select changed from put_host_route('controllers', (select max(epoch) from epochs), 'h1', 'site-site-b', 'Site/site-b', $1, '[]')",
        [[hostname]],
      )
    await put('old.example')
    await assert.rejects(put('new.example'), /is not proven/)
    await reservations.claimName('new.example', siteOf('b'), true)
    await assert.rejects(put('new.example'), /is not proven/)
    await reservations.claimName('label', siteOf('b'), false)
    await assert.rejects(put('label.sites.test'), /is not proven/)
    await reservations.claimName('label', siteOf('b'), true)
    await put('label.sites.test')
    const { names } = await rows.observe('site-b', 'b')
    assert.equal(
      names?.map(({ name, routed }) => [name, routed]).filter(([name]) => name === 'label' || name === 'old.example'),
      [
        ['label', true],
        ['old.example', false],
      ],
    )
  })

  t('is asked for by turns of the accounts, and soon when its owner asks again', async () => {
    const at = new Date('2040-01-01T00:00:00Z')
    for (let n = 0; n < 5; n++)
      await reservations.claimName(`busy-${n}.example`, { site: `s${n}`, account: 'busy' }, true)
    await reservations.claimName('calm.example', { site: 'calm', account: 'calm' }, true)
    const turns = (await looks.due(at, 4)).map(({ account }) => account)
    assert.ok(turns.includes('calm') && turns.filter((one) => one === 'busy').length <= 2, turns.join())
    await lookAt('calm.example', 'calm', ABSENT, new Date().toISOString())
    await sql("update site_names set due_at = $1 where name = 'calm.example'", [FAR])
    await reservations.claimName('calm.example', { site: 'calm', account: 'calm' }, false)
    const [row] = await sql(
      "select due_at < now() + interval '11 seconds' as soon from site_names where name = 'calm.example'",
    )
    assert.is(row?.soon, true)
  })

  t('what was served before proofs were asked for goes on, and what never was is asked', async () => {
    const folders = ['names-before', 'names-after'].map(scratchFolder)
    const [before = '', after = ''] = folders
    for (const folder of folders) cpSync(SQL, folder, { recursive: true })
    const schemas = ['030_name_proofs.sql', '037_base_domains.sql']
    for (const file of schemas) rmSync(join(before, 'schema', file))
    rmSync(join(before, 'functions', 'note_site_name.sql'))
    const triggers = join(before, 'functions', 'refuse_change.sql')
    const text = readFileSync(triggers, 'utf8')
    writeFileSync(triggers, text.slice(0, text.indexOf('create or replace trigger site_name_facts')))
    // the last one, whatever has come since
    for (const [n, file] of schemas.entries()) {
      renameSync(join(after, 'schema', file), join(after, 'schema', `99${n}_${file}`))
    }
    const server = new URL(database.url)
    const name = `${server.pathname.slice(1)}_names`
    await sql(`create database ${name}`)
    server.pathname = `/${name}`
    await migrate(server.href, { folder: pathToFileURL(`${before}/`) })
    const there = (statement: string) => query(server.href, statement)
    await there(`insert into site_names (name, site, account, reserved_until) values ('label', 's1', 'a', null),
      ('live.example', 's2', 'a', null), ('never.example', 's3', 'b', null), ('soon.example', 's4', 'b', now() + interval '1 minute')`)
    await there(`insert into facts (resource, resource_kind, seq, key, kind, body, written_by, state, at, decided_at)
      values ('s2', 'Site', 1, 'k', 'switch', '{"k": 1, "to": {"name": "live.example"}}', 'controller', 'accepted', now(), now())`)
    await migrate(server.href, { folder: pathToFileURL(`${after}/`) })
    const kept = await there('select name, state, proof, due_at is not null as due from site_names order by name')
    assert.equal(
      kept.map(({ name, state, proof, due }) => [name, state, proof, due]),
      [
        ['label', 'verified', 'platform', false],
        ['live.example', 'verified', 'before', true],
        ['never.example', 'asked', null, true],
        ['soon.example', 'claimed', null, false],
      ],
    )
    assert.is((await there('select from site_name_facts')).length, 4)
    await sql(`drop database ${name} with (force)`)
    for (const folder of folders) rmSync(folder, { recursive: true })
  })

  t('a leader that was replaced keeps no look', async () => {
    const [due] = await looks.due(FAR, 1)
    assert.ok(due)
    await takeEpoch(pg, 'another')
    const at = FAR.toISOString()
    await assert.rejects(looks.keep(due, lookedAt(due, SEEN, due, at), at, false), /stale/i)
    await assert.rejects(looks.sweep(), /stale/i)
  })
})
