import {
  type AppPreviews,
  makeAppPreviews,
  makePreviewLedger,
  type PreviewLedger,
} from '../../../../controllers/store/app/publishing/previews.ts'
import { takeEpoch } from '../../../../controllers/store/pg/fence.ts'
import { makePg, type Pg } from '../../../../controllers/store/pg/pg.ts'
import { query } from '../../../../hack/platform/postgres.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type Database, makeDatabase } from '../../../support/stage/stage.ts'

const AT = '2026-11-22T10:00:00.000Z'
const END = '2026-11-29T10:00:00.000Z'
const LIMIT = 3

spec('previews on record', (t) => {
  let database: Database
  let pg: Pg
  let previews: AppPreviews
  let ledger: PreviewLedger
  const take = async (app: string, ref: string, change: object = {}) => {
    const request = { app, parent: 'app-shop', account: 'demo', ref, limit: LIMIT, expiresAt: END, at: AT, ...change }
    const { outcome, held } = await previews.take(request)
    return outcome === 'other' ? `other: ${held}` : outcome
  }
  const end = (app: string, at = AT) => {
    const event = { kind: 'App', account: 'demo', type: 'app.preview_ended' as const, data: { app: { id: app } } }
    return ledger.end(app, 'expired', event, at)
  }
  const comes = (app: string, account = 'demo') =>
    query(
      database.url,
      `insert into mirror (kind, name, account, uid, generation, observed_generation, view, created_at, updated_at)
       values ('App', $1, $2, $1, 1, 1, '{}', now(), now())`,
      [app, account],
    )
  const told = async (app: string) =>
    (await query(database.url, "select 1 from outbox where channel = 'event' and resource = $1", [app])).length

  t.before(async () => {
    database = await makeDatabase()
    pg = makePg({ url: database.url, max: 8 })
    const epoch = await takeEpoch(pg, 'a test')
    previews = makeAppPreviews({ pg })
    ledger = makePreviewLedger({ pg, epoch: () => epoch })
    await comes('app-shop')
    await comes('app-theirs', 'other')
  })
  t.after(async () => {
    await pg.close()
    await database.drop()
  })

  t('are one of a branch and no more than so many of an app, however many ask at once', async () => {
    const same = await Promise.all(['a', 'b', 'c', 'd'].map((name) => take(`app-${name}`, 'main')))
    assert.is(same.filter((one) => one === 'taken').length, 1)
    const [main] = (await previews.list('app-shop', { limit: 9, offset: 0 })).previews
    assert.is(same.filter((one) => one === `other: ${main?.app}`).length, 3)
    const more = await Promise.all([1, 2, 3, 4, 5].map((n) => take(`app-more-${n}`, `branch-${n}`)))
    assert.equal(more.sort(), ['full', 'full', 'full', 'taken', 'taken'])
    await comes(main?.app ?? '')
  })

  t('are of apps of the same account, that are none themselves', async () => {
    const main = (await previews.ofBranch('app-shop', 'main'))?.app ?? ''
    assert.is(await take('app-x', 'main', { parent: 'app-theirs' }), 'orphan')
    assert.is(await take('app-x', 'main', { parent: 'app-nobody' }), 'orphan')
    assert.is(await take('app-x', 'deeper', { parent: main }), 'nested')
    assert.is(await take('app-shop', 'self', { parent: 'app-shop' }), 'nested')
  })

  t('take another end, and keep when they were asked for', async () => {
    const one = await previews.ofBranch('app-shop', 'main')
    const later = '2026-12-01T10:00:00.000Z'
    assert.is(await take(one?.app ?? '', 'main', { expiresAt: later, at: later }), 'held')
    const after = await previews.one('app-shop', one?.app ?? '')
    assert.equal([after?.expiresAt, after?.createdAt], [later, AT])
    const seen = await ledger.observe('app-shop')
    assert.equal([seen.own, seen.open.length], [null, 3])
    assert.is((await ledger.observe(one?.app ?? '')).own?.ref, 'main')
  })

  t('of an app that never came are free again: at once when they are given back, else after a while', async () => {
    const waiting = (await ledger.observe('app-shop')).open.filter(({ ref }) => ref !== 'main')
    const [given, left] = waiting.map(({ app }) => app)
    await previews.giveBack(given ?? '')
    assert.is(await take('app-next', 'next'), 'taken')
    assert.is(await take('app-full', 'full'), 'full')
    await query(database.url, "update app_previews set taken_at = now() - interval '11 minutes' where app = $1", [left])
    assert.is(await take('app-full', 'full'), 'taken')
    const main = (await previews.ofBranch('app-shop', 'main'))?.app ?? ''
    await previews.giveBack(main)
    assert.is((await previews.ofBranch('app-shop', 'main'))?.app, main, 'one that came is nobody’s to give back')
  })

  t('end once, are told once, stand in the list, and leave the branch to another', async () => {
    const main = (await previews.ofBranch('app-shop', 'main'))?.app ?? ''
    await end(main)
    await end(main, END)
    const row = await previews.one('app-shop', main)
    assert.equal([row?.endedAt, row?.reason], [AT, 'expired'])
    assert.is(await told(main), 1)
    assert.is(await take('app-again', 'main'), 'taken')
    assert.is((await previews.list('app-shop', { limit: 9, offset: 0 })).total, 4)
    // a month later nobody asks any more
    await end('app-again', '2026-12-24T10:00:00.000Z')
    assert.is(await previews.one('app-shop', main), null)
  })
})
