import { setTimeout as sleep } from 'node:timers/promises'
import { type Appended, makeAppendFact, makeDecideFact, type NewFact } from '../../controllers/runtime/facts.ts'
import { StaleEpoch, takeEpoch } from '../../controllers/runtime/fence.ts'
import { makeLedger, makeLedgerReader } from '../../controllers/runtime/ledger.ts'
import { DatabaseRefused, makePg, type Pg } from '../../controllers/runtime/pg.ts'
import { query } from '../../hack/lib/postgres.ts'
import { aClaim, upTo } from '../support/ledger.ts'
import { assert, spec } from '../support/spec.ts'
import { type Database, makeDatabase } from '../support/stage.ts'

const at = '2026-11-21T09:30:00.000Z'
const aFact = (resource: string, key: string, over: Partial<NewFact> = {}): NewFact => ({
  resource,
  key,
  kind: 'payment',
  body: { amountCents: 100 },
  state: 'pending',
  at,
  ...over,
})

spec('facts', (t) => {
  let database: Database
  let pg: Pg
  let epoch: number
  let append: (fact: NewFact) => Promise<Appended>
  let report: (fact: NewFact) => Promise<Appended>
  t.before(async () => {
    database = await makeDatabase()
    pg = makePg({ url: database.url })
    epoch = await takeEpoch(pg, 'test')
    append = makeAppendFact({ pg, epoch: () => epoch })
    report = makeAppendFact({ pg, epoch: null })
  })
  t.after(async () => {
    await pg.close()
    await database.drop()
  })

  t('a fact is written once; the same key again gives what stands there', async () => {
    const first = await append(aFact('ns/a', 'k1'))
    assert.equal(first, {
      result: 'new',
      fact: { seq: 1, key: 'k1', kind: 'payment', body: { amountCents: 100 }, state: 'pending', refusedCode: null, at },
    })
    const again = await append(aFact('ns/a', 'k1', { body: { amountCents: 999 } }))
    assert.equal(again, { ...first, result: 'old' })
    const many = await Promise.all(['warm', 'k2', 'k2', 'k2'].map((key) => append(aFact('ns/a', key))))
    assert.equal(
      many.map((one) => [one.result, one.fact.seq]),
      [
        ['new', 2],
        ['new', 3],
        ['old', 3],
        ['old', 3],
      ],
    )
  })

  t('writers in two pools count each resource without hole or repeat', async () => {
    const other = makePg({ url: database.url })
    const elsewhere = makeAppendFact({ pg: other, epoch: null })
    const facts = upTo(200).map((n) => aFact(`ns/c${n % 5}`, `k${n}`))
    await Promise.all(facts.map((fact, index) => (index % 3 === 0 ? elsewhere : report)(fact)))
    await other.close()
    const rows = await query(
      database.url,
      "select resource, array_agg(seq::int order by seq) as seqs from facts where resource like 'ns/c%' group by resource",
    )
    assert.is(rows.length, 5)
    for (const row of rows) assert.equal(row.seqs, upTo(40))
  })

  t('a second writer waits for the first of the same resource, and counts on', async () => {
    const text = "select seq from append_facts('controllers', null, $1)"
    const values = [JSON.stringify([{ ...aFact('ns/w', 'first'), writtenBy: 'api' }])]
    const first = pg.tx(async (run) => {
      await run('test_append_seq', text, values)
      await sleep(200)
    })
    await sleep(50)
    assert.is((await report(aFact('ns/other', 'k'))).fact.seq, 1)
    assert.is((await report(aFact('ns/w', 'second'))).fact.seq, 2)
    await first
  })

  t('the API reports without an epoch, but what only a controller may say is refused', async () => {
    assert.is((await report(aFact('ns/b', 'k'))).result, 'new')
    const adopted = { kind: 'adopted', body: { uid: 'u2' }, state: 'accepted' } as const
    await assert.rejects(report(aFact('ns/b', 'adopted/u2', adopted)), (error) => error instanceof DatabaseRefused)
    assert.is((await append(aFact('ns/b', 'adopted/u2', adopted))).result, 'new')
    const unfenced = pg.query('test_append', "select * from append_facts('controllers', null, $1)", [
      JSON.stringify([{ ...aFact('ns/b', 'sly'), writtenBy: 'controller' }]),
    ])
    await assert.rejects(unfenced, (error) => error instanceof StaleEpoch)
  })

  t('a pending fact is decided once: the first verdict stays', async () => {
    const decide = makeDecideFact({ pg, epoch: () => epoch })
    await Promise.all(['p1', 'p2'].map((key) => append(aFact('ns/d', key))))
    assert.is(await decide({ resource: 'ns/d', seq: 1, state: 'accepted', at }), 'accepted')
    const refusal = { resource: 'ns/d', state: 'refused', refusedCode: 'BAD_PAID_AMOUNT', at } as const
    assert.is(await decide({ ...refusal, seq: 1 }), 'accepted')
    assert.is(await decide({ ...refusal, seq: 2 }), 'refused')
    await assert.rejects(decide({ ...refusal, seq: 9 }), 'there is no fact 9 of ns/d')
    const { facts, factSeq } = await makeLedgerReader({ pg }).observe('ns/d')
    assert.equal(
      facts.map(({ seq, state, refusedCode }) => [seq, state, refusedCode]),
      [
        [1, 'accepted', null],
        [2, 'refused', 'BAD_PAID_AMOUNT'],
      ],
    )
    assert.is(factSeq, 2)
  })

  t('an accepted fact tells its event once, in its own transaction; a pending one when it is accepted', async () => {
    const event = { account: 'demo', type: 'website.published' as const, data: { site: { id: 'a' } } }
    const told = async (resource: string) =>
      (
        await query(
          database.url,
          "select purpose, message_id as id, payload from outbox where channel = 'event' and resource = $1 order by id",
          [resource],
        )
      ).map(({ purpose, id, payload }) => ({ purpose, id, payload }))
    const once = aFact('ns/ev', 'live', { state: 'accepted', event })
    await Promise.all([append(once), append(once), append(once)])
    await append(once)
    const first = await told('ns/ev')
    assert.is(first.length, 1)
    assert.equal({ ...first[0], id: '' }, { purpose: 'event:live', id: '', payload: event })
    assert.match(String(first[0]?.id), /^evt_[0-9a-f]{32}$/)

    const decide = makeDecideFact({ pg, epoch: () => epoch })
    for (const key of ['yes', 'no']) await append(aFact('ns/ev2', key))
    assert.equal(await told('ns/ev2'), [])
    await decide({ resource: 'ns/ev2', seq: 1, at, state: 'accepted', event })
    await decide({ resource: 'ns/ev2', seq: 1, at, state: 'accepted', event })
    await decide({ resource: 'ns/ev2', seq: 2, at, state: 'refused', refusedCode: 'NO' })
    assert.equal(
      (await told('ns/ev2')).map(({ purpose }) => purpose),
      ['event:yes'],
    )
    const deliveries = (await makeLedgerReader({ pg }).observe('ns/ev')).deliveries
    assert.equal(deliveries, [])
  })

  t('nothing else about a fact can change', async () => {
    for (const text of [
      "update facts set body = '{}' where state = 'pending'",
      "update facts set state = 'pending', decided_at = null where state = 'accepted'",
      'delete from facts',
      'truncate facts',
    ])
      await assert.rejects(query(database.url, text), /written once|append-only/)
  })

  t('who adopts a number is among its resources', async () => {
    await makeLedger({ pg, epoch: () => epoch }).claimNumber(aClaim('adopt'))
    await append(aFact('bottega/inv-adopt', 'adopted/u2', { kind: 'adopted', body: { uid: 'u2' }, state: 'accepted' }))
    const { record } = await makeLedgerReader({ pg }).observe('bottega/inv-adopt')
    assert.equal(record?.uids, ['uid-adopt', 'u2'])
  })

  t('a stale controller appends and decides nothing', async () => {
    const stale = epoch
    epoch = await takeEpoch(pg, 'next')
    const before = makeAppendFact({ pg, epoch: () => stale })
    await assert.rejects(before(aFact('ns/s', 'k')), (error) => error instanceof StaleEpoch)
    const decide = makeDecideFact({ pg, epoch: () => stale })
    const verdict = { resource: 'ns/b', seq: 1, state: 'accepted', at } as const
    await assert.rejects(decide(verdict), (error) => error instanceof StaleEpoch)
  })
})
