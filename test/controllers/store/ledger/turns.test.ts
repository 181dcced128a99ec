import { makeOutbox, type Outbox, type OutboxRow } from '../../../../controllers/store/ledger/outbox.ts'
import { LEASE, takeEpoch } from '../../../../controllers/store/pg/fence.ts'
import { makePg, type Pg } from '../../../../controllers/store/pg/pg.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type Database, makeDatabase } from '../../../support/stage/stage.ts'

const NOW = '2026-11-21T09:30:00.000Z'

const PUT = `
insert into outbox (kind, resource, account, purpose, channel, message_id, payload, due_at, created_at)
select 'Invoice', coalesce($1, 'signin') || '-' || n, $1, 'invoice/1', $4, '<' || n || '@test>', '{}',
  $5::timestamptz + n * interval '1 millisecond', $5
from generate_series($3::int + 1, $3::int + $2::int) n`

spec('turns of the outbox', (t) => {
  let database: Database
  let pg: Pg
  let outbox: Outbox
  let epoch: number
  t.before.each(async () => {
    database = await makeDatabase()
    pg = makePg({ url: database.url })
    epoch = await takeEpoch(pg, 'test')
    outbox = makeOutbox({ pg, epoch: () => epoch, now: () => new Date(NOW) })
  })
  t.after.each(async () => {
    await pg.close()
    await database.drop()
  })

  /** Due in order, the first of them so many minutes ago. */
  const put = (account: string | null, count: number, minutesAgo: number, channel = 'mail', after = 0) =>
    pg.query('put', PUT, [
      account,
      count,
      after,
      channel,
      new Date(Date.parse(NOW) - minutesAgo * 60_000).toISOString(),
    ])
  const take = (limit: number, ended: readonly OutboxRow[] = [], channel = 'mail') =>
    outbox.turn(
      ended.map(({ id, attempt }) => ({ id, attempt, state: 'sent' })),
      { channel, limit, leaseMs: 60_000 },
    )
  const names = (rows: readonly OutboxRow[]) => rows.map(({ resource }) => resource)
  /** One after the other, each recorded with the turn that takes the next. */
  const order = async (count: number, channel = 'mail') => {
    const all: string[] = []
    let last: OutboxRow[] = []
    for (let n = 0; n < count; n += 1) {
      last = await take(1, last, channel)
      all.push(...names(last))
    }
    return all
  }

  for (const channel of ['mail', 'card']) {
    t(`a thousand of one account hold up nothing of another (${channel})`, async () => {
      await put('a', 1_000, 60, channel)
      await put('b', 2, 1, channel)
      await put('c', 1, 1, channel)
      await put(null, 1, 1, channel)
      const first = await order(7, channel)
      assert.equal(first.filter((name) => !name.startsWith('a-')).toSorted(), ['b-1', 'b-2', 'c-1', 'signin-1'])
      assert.equal(
        first.filter((name) => name.startsWith('a-')),
        ['a-1', 'a-2', 'a-3'],
        'in its own order',
      )
    })
  }

  t('several at once are of several accounts, and of one where no other waits', async () => {
    await put('a', 10, 60)
    await put('b', 1, 1)
    const both = await take(3)
    assert.equal(names(both).toSorted(), ['a-1', 'a-2', 'b-1'])
    assert.equal(names(await take(3, both)), ['a-3', 'a-4', 'a-5'])
  })

  t("what is not due, or is under way, takes nobody's turn", async () => {
    await put('a', 10, 60)
    await put('b', 3, -60)
    const [one] = await take(1)
    assert.is(one?.resource, 'a-1')
    assert.equal(await order(3), ['a-2', 'a-3', 'a-4'])
  })

  t('many that have nothing due keep neither those who have from it, nor a lane idle', async () => {
    for (let n = 0; n < 300; n += 1) await put(`later-${String(n).padStart(3, '0')}`, 1, -60)
    await put('a', 50, 60)
    await put('z', 1, 1)
    const all = await order(20)
    assert.is(all.length, 20)
    assert.ok(all.includes('z-1'))
  })

  t('all is taken once, however they mix', async () => {
    await put('a', 40, 60)
    await put('b', 7, 30)
    await put(null, 12, 10)
    const seen: string[] = []
    let last: OutboxRow[] = []
    do {
      last = await take(3, last)
      seen.push(...names(last))
    } while (last.length > 0)
    assert.is(seen.length, 59)
    assert.is(new Set(seen).size, 59)
    for (const account of ['a', 'b', 'signin']) {
      const own = seen.filter((name) => name.startsWith(`${account}-`)).map((name) => Number(name.split('-')[1]))
      assert.equal(
        own,
        own.toSorted((x, y) => x - y),
        `${account} in its order`,
      )
    }
  })

  t('a turn reads no more, however much waits', async () => {
    const blocks = async () => {
      const explained = await pg.query<{ 'QUERY PLAN': [{ Plan: { 'Shared Hit Blocks': number } }] }>(
        'explained',
        `explain (analyze, buffers, format json)
          select * from turn_outbox($1, $2, '{}', '{}', '{}', '{}', '{}', 'mail', $3, $4, 3, false, 'a')`,
        [LEASE, epoch, NOW, NOW],
      )
      return explained.rows[0]?.['QUERY PLAN'][0].Plan['Shared Hit Blocks'] ?? 0
    }
    await put('a', 200, 60)
    await put('b', 1, 1)
    for (let n = 0; n < 3; n += 1) await blocks()
    const few = await blocks()
    // in parts, each below the time that a statement has
    for (let n = 0; n < 100; n += 1) await put('c', 1_000, 60, 'mail', n * 1_000)
    await pg.query('analyze', 'analyze outbox', [])
    for (let n = 0; n < 3; n += 1) await blocks()
    const many = await blocks()
    assert.ok(many < few * 2, `${many} blocks against ${few}`)
  })
})
