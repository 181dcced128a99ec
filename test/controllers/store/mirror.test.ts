import { setTimeout as sleep } from 'node:timers/promises'
import { StaleEpoch } from '../../../controllers/base/errors.ts'
import {
  MIRROR_CHANNEL,
  type Mirror,
  makeMirror,
  makeShowRow,
  type NewMirrorRow,
} from '../../../controllers/store/mirror.ts'
import { takeEpoch } from '../../../controllers/store/pg/fence.ts'
import { makePg, type Pg } from '../../../controllers/store/pg/pg.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { upTo } from '../../support/stage/ledger.ts'
import { type Database, makeDatabase } from '../../support/stage/stage.ts'

const aRow = (name: string, over: Partial<NewMirrorRow> = {}): NewMirrorRow => ({
  kind: 'Invoice',
  name,
  account: 'demo',
  uid: `uid-${name}`,
  generation: 1,
  observedGeneration: 1,
  view: { id: name, status: 'sent' },
  createdAt: '2026-11-21T09:30:00.000Z',
  updatedAt: '2026-11-21T09:30:00.000Z',
  ...over,
})
/** Of any view: what stands in one is nothing to the mirror. */
const ofInvoice = { kind: 'Invoice' }
const invoices = { kind: ofInvoice, account: 'demo' }
const page = { limit: 50, offset: 0 }

spec('mirror', (t) => {
  let database: Database
  let pg: Pg
  let epoch: number
  let mirror: Mirror
  let heard: string[]
  t.before.each(async () => {
    database = await makeDatabase()
    pg = makePg({ url: database.url })
    epoch = await takeEpoch(pg, 'test')
    mirror = makeMirror({ pg, epoch: () => epoch })
    heard = []
    await pg.listen(MIRROR_CHANNEL, (payload) => {
      assert.ok(Buffer.byteLength(payload) < 8000)
      heard.push(...JSON.parse(payload))
    })
  })
  t.after.each(async () => {
    await pg.close()
    await database.drop()
  })
  /** What was told so far: a marker sent after it has come back. */
  const told = async (): Promise<string[]> => {
    await query(database.url, `select pg_notify('${MIRROR_CHANNEL}', '["end"]')`)
    while (heard.at(-1) !== 'end') await sleep(5)
    return heard.splice(0).filter((key) => key !== 'end')
  }

  t('what is put is what is got, and a reader is told', async () => {
    assert.is(await mirror.put(aRow('a')), true)
    assert.equal(await mirror.get(ofInvoice, 'a'), { ...aRow('a'), archived: false })
    assert.is(await mirror.get({ kind: 'Account' }, 'a'), undefined)
    assert.equal(await told(), ['Invoice/a'])
  })

  t('what is asked is shown until a verdict takes its place, and never after it', async () => {
    const asked = aRow('a', { view: { id: 'a', status: 'draft' } })
    const known = { ...asked, view: { id: 'a', status: 'draft', number: 'INV-026-0001' } }
    await makeShowRow({ pg })(asked)
    assert.equal(await mirror.get(ofInvoice, 'a'), { ...asked, observedGeneration: 0, archived: false })
    assert.is((await mirror.list(invoices, { status: 'draft' }, page)).total, 1)
    assert.equal(await told(), ['Invoice/a'])

    await mirror.show(known)
    await makeShowRow({ pg })(asked)
    assert.equal((await mirror.get(ofInvoice, 'a'))?.view, known.view)
    assert.equal(await told(), ['Invoice/a'])

    assert.is(await mirror.put(aRow('a')), true)
    await mirror.show(known)
    assert.equal(await mirror.get(ofInvoice, 'a'), { ...aRow('a'), archived: false })
    assert.equal(await told(), ['Invoice/a'])
  })

  t('the same view again writes nothing and tells nobody', async () => {
    await mirror.put(aRow('a'))
    await told()
    const version = async () => (await query(database.url, 'select xmin::text, ctid::text from mirror'))[0]
    const before = await version()
    assert.is(await mirror.put(aRow('a', { updatedAt: '2026-11-22T00:00:00.000Z' })), false)
    assert.equal(await version(), before)
    assert.equal(await told(), [])
    assert.is(await mirror.put(aRow('a', { view: { status: 'paid' } })), true)
    assert.equal(await told(), ['Invoice/a'])
  })

  t('an older generation never replaces a newer view, but another object of that name does', async () => {
    await mirror.put(aRow('a', { generation: 3, view: { v: 3 } }))
    assert.is(await mirror.put(aRow('a', { generation: 2, view: { v: 2 } })), false)
    assert.equal((await mirror.get(ofInvoice, 'a'))?.view, { v: 3 })
    assert.is(await mirror.put(aRow('a', { uid: 'other', view: { v: 1 } })), true)
  })

  t('of several views in one batch the last one stands', async () => {
    const all = [0, 1, 2, 3].map((v) => mirror.put(aRow('a', { view: { v } })))
    await Promise.all([...all, mirror.put(aRow('b'))])
    assert.equal((await mirror.get(ofInvoice, 'a'))?.view, { v: 3 })
  })

  t('a thousand long names are told in pieces that PostgreSQL accepts', async () => {
    const names = upTo(1000).map((n) => `${'inv-'.repeat(50)}${n}`)
    await Promise.all(names.map((name) => mirror.put(aRow(name))))
    assert.ok(pg.stats().statements < 20, 'they were not put one by one')
    assert.equal((await told()).sort(), names.map((name) => `Invoice/${name}`).sort())
  })

  t('lists are newest first, filtered, paged and counted', async () => {
    const rows = upTo(30).map((n) =>
      aRow(`inv-${String(n).padStart(2, '0')}`, {
        createdAt: new Date(Date.UTC(2026, 10, 1 + Math.floor(n / 2))).toISOString(),
        view: {
          status: n % 3 === 0 ? 'paid' : 'sent',
          client_email: `c${n % 2}@test`,
          external_ref: `ref-${n}`,
          issuer_id: n > 20 ? 'second' : 'default',
        },
      }),
    )
    await Promise.all(
      [...rows, aRow('foreign', { account: 'other' }), aRow('acct', { kind: 'Account' })].map(mirror.put),
    )
    const names = async (filter: Parameters<Mirror['list']>[1], of = page) => {
      const found = await mirror.list(invoices, filter, of)
      return [found.total, ...found.rows.map((row) => Number(row.name.slice(4)))]
    }
    assert.equal(await names({}, { limit: 4, offset: 0 }), [30, 30, 29, 28, 27])
    assert.equal(await names({}, { limit: 4, offset: 28 }), [30, 2, 1])
    assert.equal(await names({}, { limit: 4, offset: 99 }), [30])
    assert.equal(await names({ status: 'paid', issuerId: 'second' }), [4, 30, 27, 24, 21])
    assert.equal(await names({ since: '2026-11-15' }), [3, 30, 29, 28])
    assert.equal(await names({ clientEmail: 'c1@test', since: '2026-11-14' }), [2, 29, 27])
    assert.equal(await names({ externalRef: 'ref-7' }), [1, 7])
    assert.equal(await names({ externalRef: "' or true --" }), [0])
  })

  t('a resource that is gone is removed, an archived one stays', async () => {
    await Promise.all(['a', 'b', 'c', 'd'].map((name) => mirror.put(aRow(name))))
    assert.is(await mirror.archive('Invoice', 'b', true), true)
    await told()
    assert.is(await mirror.remove('Invoice', 'a'), true)
    assert.is(await mirror.remove('Invoice', 'a'), false)
    assert.is(await mirror.remove('Invoice', 'b'), false)
    assert.equal(await told(), ['Invoice/a'])
    assert.is((await mirror.list(invoices, {}, page)).total, 3)
    assert.is((await mirror.get(ofInvoice, 'b'))?.archived, true)
  })

  t('after a full list it names the rows whose resource went away, except archived ones', async () => {
    await Promise.all(
      [...['a', 'b', 'c', 'd'].map((name) => aRow(name)), aRow('e', { kind: 'Account' })].map(mirror.put),
    )
    await mirror.archive('Invoice', 'b', true)
    assert.equal(await mirror.unknown('Invoice', ['uid-c', 'uid-x']), ['a', 'd'])
    assert.equal(await mirror.unknown('Invoice', []), ['a', 'c', 'd'])
  })

  t('a stale leader puts back no old view', async () => {
    const stale = makeMirror({ pg, epoch: () => 1 })
    epoch = await takeEpoch(pg, 'next')
    const isStale = (error: unknown) => error instanceof StaleEpoch
    await assert.rejects(stale.put(aRow('a')), isStale)
    await assert.rejects(stale.remove('Invoice', 'a'), isStale)
    await assert.rejects(stale.archive('Invoice', 'a', true), isStale)
  })
})
