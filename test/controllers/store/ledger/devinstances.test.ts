import { readFileSync } from 'node:fs'
import { makeDevInstanceLedger, makeDevInstances } from '../../../../controllers/store/devinstance/devinstances.ts'
import { makePg, type Pg } from '../../../../controllers/store/pg/pg.ts'
import { query } from '../../../../hack/platform/postgres.ts'
import { aDevInstance, after, later, minutes, T0 } from '../../../support/builders/devinstance.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type Database, makeDatabase } from '../../../support/stage/stage.ts'

/** What PostgreSQL knows of a dev instance beside its decisions. */

const SCHEMA = new URL('../../../../controllers/store/sql/schema/053_devinstance_wishes.sql', import.meta.url)

spec('the rows of dev instances', (t) => {
  let database: Database
  let pg: Pg
  t.before(async () => {
    database = await makeDatabase()
    pg = makePg({ url: database.url, max: 2, connectTimeoutMs: 20_000 })
  })
  t.after(async () => {
    await pg.close()
    await database.drop()
  })
  const sql = (text: string, values: unknown[] = []) => query(database.url, text, values)

  t('keep when it was used last, whatever later reports leave out, and no use that is still to come', async () => {
    const store = makeDevInstances({ pg })
    const { observe } = makeDevInstanceLedger({ pg, epoch: () => 1 })
    const at = (n: number) => later(minutes(n))
    const told = async (n: number, usedAt: string | null) => {
      await store.report('dev-used', { at: at(n), body: { n }, usedAt })
      return (await observe('dev-used')).lastReport?.usedAt
    }
    assert.is(await told(1, null), null)
    assert.is(await told(2, at(1)), at(1))
    assert.is(await told(3, null), at(1))
    assert.is(await told(4, at(0)), at(1), 'an older use is no later one')
    assert.is(await told(5, at(50)), at(5), 'a clock that is ahead')
  })

  t('of before know what their spec said, and what was spent until their month began', async () => {
    const row = after(aDevInstance(), 'provisioning', 'token', 'finalize')
    const { powerWish: _power, sizeWish: _size, meter, ...rest } = row
    const { beforeMonthMicroUsd: _before, ...old } = meter
    // resized over REST since: its spec says S still
    const since = '2026-11-22T10:00:00.000Z'
    const box = {
      ...rest,
      sizeClass: 'M',
      reservedAt: '2026-09-01T00:00:00.000Z',
      meter: { ...old, since, spentMicroUsd: 100_000_000 },
    }
    const spent = { ...box, reservedAt: T0, meter: { ...old, since: T0, spentMicroUsd: 0 } }
    for (const [resource, kept] of Object.entries({ 'dev-old': box, 'dev-new': spent })) {
      await sql(
        `insert into devboxes (resource, account, name, committed_micro_usd, pricing_version, box, reserved_at)
         values ($1, 'demo', $1, 1, 'v', $2, now())`,
        [resource, JSON.stringify(kept)],
      )
    }
    const said = { said: { spec: { account: 'demo', sizeClass: 'S', diskGb: 60 } } }
    await sql(
      `insert into facts (resource, resource_kind, seq, key, kind, body, state, at, decided_at, written_by)
       values ('dev-old', 'DevInstance', 1, 'reserve:0', 'devbox.reserve', $1, 'accepted', now(), now(), 'controller')`,
      [JSON.stringify(said)],
    )
    const text = readFileSync(SCHEMA, 'utf8')
    await sql(text)
    const boxOf = async (resource: string) =>
      (await sql('select box from devboxes where resource = $1', [resource]))[0]?.box as typeof row
    const { powerWish, sizeWish, meter: made } = await boxOf('dev-old')
    assert.equal([powerWish.power, powerWish.open], [null, false])
    assert.equal([sizeWish.sizeClass, sizeWish.diskGb, sizeWish.open, sizeWish.undoneAt], ['S', 60, null, null])
    // 21 days and 10 hours of 730 hours at that price
    const month = Math.round(((21 * 24 + 10) / 730) * made.monthlyMicroUsd)
    assert.is(made.beforeMonthMicroUsd, 100_000_000 - month)
    const second = await boxOf('dev-new')
    assert.equal([second.sizeWish.sizeClass, second.meter.beforeMonthMicroUsd], ['M', 0])
    await sql(text)
    assert.equal((await boxOf('dev-old')).meter, made, 'once')
  })
})
