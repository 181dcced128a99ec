import { StaleEpoch } from '../../../../controllers/base/errors.ts'
import { type Ledger, makeLedger } from '../../../../controllers/store/ledger/ledger.ts'
import {
  makeOutbox,
  type Outbox,
  type OutboxRow,
  type Settlement,
  type TurnRequest,
} from '../../../../controllers/store/ledger/outbox.ts'
import { takeEpoch } from '../../../../controllers/store/pg/fence.ts'
import { makePg, type Pg } from '../../../../controllers/store/pg/pg.ts'
import type { MailDelivery } from '../../../../crds/invoice/facts/deliveries.ts'
import { frozenInvoice } from '../../../support/builders/frozen.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { freezing, upTo } from '../../../support/stage/ledger.ts'
import { type Database, makeDatabase } from '../../../support/stage/stage.ts'

const startMs = Date.parse('2026-11-21T09:30:00.000Z')
const request = { channel: 'mail', limit: 100, leaseMs: 60_000 }

spec('outbox', (t) => {
  let database: Database
  let pg: Pg
  let epoch: number
  let ledger: Ledger
  let outbox: Outbox
  let nowMs: number
  t.before.each(async () => {
    database = await makeDatabase()
    pg = makePg({ url: database.url })
    epoch = await takeEpoch(pg, 'test')
    nowMs = startMs
    ledger = makeLedger({ pg, epoch: () => epoch })
    outbox = makeOutbox({ pg, epoch: () => epoch, now: () => new Date(nowMs) })
  })
  t.after.each(async () => {
    await pg.close()
    await database.drop()
  })

  const inMinutes = (minutes: number) => new Date(nowMs + minutes * 60_000).toISOString()
  const queue = (n: number) =>
    Promise.all(
      upTo(n).map((one) =>
        freezing({ pg, epoch: () => epoch })({
          resource: `ns/${one}`,
          n: 1,
          at: new Date(startMs).toISOString(),
          gate: 'password',
          frozen: frozenInvoice(),
          content: Buffer.from('pdf'),
          mail: {
            kind: 'Invoice',
            account: 'demo',
            purpose: 'invoice/1',
            channel: 'mail',
            messageId: `<${one}@test>`,
            payload: { to: one },
          },
        }),
      ),
    )
  const take = (of: Partial<TurnRequest> = {}, by = outbox) => by.turn([], { ...request, ...of })
  const settle = (results: Settlement[], by = outbox) => by.turn(results, { ...request, limit: 0 })
  const only = (rows: OutboxRow[]): OutboxRow => {
    assert.is(rows.length, 1)
    return rows[0] as OutboxRow
  }
  const shown = (changes: Partial<MailDelivery>): MailDelivery => ({
    purpose: 'invoice/1',
    state: 'queued',
    attempts: 0,
    unknowns: 0,
    lastError: null,
    nextAttemptAt: null,
    at: new Date(startMs).toISOString(),
    ...changes,
  })
  const delivery = async () => (await ledger.observe('ns/1')).deliveries[0]

  t('each row is taken by one sender, and not at all after it was sent', async () => {
    await queue(50)
    const shared = await Promise.all(upTo(3).map(() => take({ limit: 5 })))
    const apart = upTo(8).map(() => makeOutbox({ pg, epoch: () => epoch, now: () => new Date(nowMs) }))
    const claims = await Promise.all(apart.map((one) => take({ limit: 7 }, one)))
    const rows = [...shared.flat(), ...claims.flat(), ...(await take())]
    assert.is(rows.length, 50)
    assert.is(new Set(rows.map((row) => row.id)).size, 50)
    assert.ok(rows.every((row) => row.attempt === 1 && row.unknowns === 0 && /^<\d+@test>$/.test(row.messageId)))
    await settle(rows.map(({ id, attempt }) => ({ id, attempt, state: 'sent' })))
    nowMs += 86_400_000
    assert.equal(await take(), [])
    assert.equal(await outbox.backlog(), [])
    assert.equal(await delivery(), shown({ state: 'accepted', attempts: 1 }))
  })

  t('while no retry may be due first attempts go out all the same, and retries follow', async () => {
    let mayRetry = false
    const careful = makeOutbox({ pg, epoch: () => epoch, now: () => new Date(nowMs), mayRetry: () => mayRetry })
    await queue(1)
    const first = only(await take({}, careful))
    await settle([{ id: first.id, attempt: 1, state: 'queued', error: '451 later', dueAt: inMinutes(1) }], careful)
    nowMs += 86_400_000
    assert.equal(await take({}, careful), [])
    mayRetry = true
    assert.is(only(await take({}, careful)).attempt, 2)
  })

  t('other channels are left alone', async () => {
    await queue(1)
    assert.equal(await take({ channel: 'webhook' }), [])
  })

  t('a refused attempt comes again when it is due, under the same message id', async () => {
    await queue(1)
    const first = only(await take())
    await settle([{ id: first.id, attempt: 1, state: 'queued', error: '451 later\0', dueAt: inMinutes(1) }])
    const put = { state: 'deferred', attempts: 1, lastError: '451 later', nextAttemptAt: inMinutes(1) } as const
    assert.equal(await delivery(), shown(put))
    assert.equal(await take(), [])
    nowMs += 60_000
    const second = only(await take())
    assert.equal(second, { ...first, attempt: 2 })
    await settle([{ id: first.id, attempt: 2, state: 'bounced', error: '550 no such user' }])
    assert.equal(await delivery(), shown({ state: 'bounced', attempts: 2, lastError: '550 no such user' }))
    const [row] = (
      await pg.query<{ settled: boolean }>('settled', 'select settled_at is not null as settled from outbox', [])
    ).rows
    assert.is(row?.settled, true)
    assert.equal(await take(), [])
  })

  t('a lease that ran out is taken again, and the lost attempt is on record as unknown', async () => {
    await queue(1)
    const lost = only(await take())
    nowMs += 59_999
    assert.equal(await take(), [])
    nowMs += 1
    const again = only(await take())
    assert.equal(again, { ...lost, attempt: 2, unknowns: 1 })
    assert.is((await delivery())?.state, 'unknown')
    assert.match((await delivery())?.lastError ?? '', 'the outcome of attempt 1 is unknown')
    // The first sender comes back late: its word no longer counts, the second attempt decides.
    await settle([{ id: lost.id, attempt: 1, state: 'failed', error: 'late' }])
    assert.is((await delivery())?.state, 'unknown')
    await settle([{ id: lost.id, attempt: 2, state: 'sent' }])
    await settle([{ id: lost.id, attempt: 2, state: 'failed', error: 'twice' }])
    const found = await delivery()
    assert.equal([found?.state, found?.unknowns], ['accepted', 1])
  })

  t('what a former leader left half done is taken by the next one at once', async () => {
    await queue(1)
    const lost = only(await take())
    epoch = await takeEpoch(pg, 'next')
    const again = only(await take())
    assert.equal([again.id, again.attempt, again.unknowns], [lost.id, 2, 1])
  })

  t('an unknown outcome is repeated when asked for, and otherwise rests', async () => {
    await queue(2)
    const rows = await take()
    await settle(
      rows.map(({ id, attempt }, index) => ({
        id,
        attempt,
        state: 'unknown',
        error: 'no answer after DATA',
        dueAt: index === 0 ? inMinutes(1) : null,
      })),
    )
    assert.is((await delivery())?.state, 'unknown')
    nowMs += 60_000
    const again = only(await take())
    assert.equal([again.id, again.attempt, again.unknowns], [rows[0]?.id, 2, 1])
  })

  t('the backlog tells how many wait, and how late the oldest is', async () => {
    await queue(3)
    nowMs += 5000
    await take({ limit: 1 })
    assert.equal(await outbox.backlog(), [
      { channel: 'mail', state: 'queued', count: 2, lateMs: 5000 },
      { channel: 'mail', state: 'sending', count: 1, lateMs: 0 },
    ])
  })

  t('a stale leader takes and settles nothing', async () => {
    await queue(2)
    const [row] = await take({ limit: 1 })
    const stale = makeOutbox({ pg, epoch: () => 1, now: () => new Date(nowMs) })
    epoch = await takeEpoch(pg, 'next')
    await assert.rejects(take({}, stale), (error) => error instanceof StaleEpoch)
    const late = settle([{ id: row?.id ?? 0, attempt: 1, state: 'sent' }], stale)
    await assert.rejects(late, (error) => error instanceof StaleEpoch)
  })
})
