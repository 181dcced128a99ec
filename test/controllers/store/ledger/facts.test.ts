import { StaleEpoch } from '../../../../controllers/base/errors.ts'
import { makeLog } from '../../../../controllers/base/log.ts'
import {
  type Appended,
  makeAppendFact,
  makeDecideFact,
  type NewFact,
  type PendingFact,
  readPending,
} from '../../../../controllers/store/ledger/facts.ts'
import { makeLedger, makeLedgerReader } from '../../../../controllers/store/ledger/ledger.ts'
import { takeEpoch } from '../../../../controllers/store/pg/fence.ts'
import { DatabaseRefused, makePg, type Pg } from '../../../../controllers/store/pg/pg.ts'
import { startOverdue } from '../../../../controllers/workers/pending-facts.ts'
import { query } from '../../../../hack/platform/postgres.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { aClaim, somebodyWaits, upTo } from '../../../support/stage/ledger.ts'
import { type Database, makeDatabase } from '../../../support/stage/stage.ts'

const at = '2026-11-21T09:30:00.000Z'
const aFact = (resource: string, key: string, over: Partial<NewFact> = {}): NewFact => ({
  resource,
  resourceKind: 'Invoice',
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
    const [written, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const first = pg.tx(async (run) => {
      await run('test_append_seq', text, values)
      written.resolve()
      await gate.promise
    })
    await written.promise
    assert.is((await report(aFact('ns/other', 'k'))).fact.seq, 1)
    const second = report(aFact('ns/w', 'second'))
    await somebodyWaits(database.url)
    gate.resolve()
    await first
    assert.is((await second).fact.seq, 2)
  })

  t('a report without a key of its own is the one that stands, until it can be seen what became of that', async () => {
    const other = makePg({ url: database.url })
    const elsewhere = makeAppendFact({ pg: other, epoch: null })
    const tell = (key: string, over: Partial<NewFact> = {}) => report(aFact('inv-once', key, { once: true, ...over }))
    const many = await Promise.all(
      upTo(16).map((n) =>
        (n % 2 === 0 ? tell : (key: string) => elsewhere(aFact('inv-once', key, { once: true })))(`r${n}`),
      ),
    )
    assert.equal(
      [new Set(many.map(({ fact }) => fact.seq)).size, many.filter(({ result }) => result === 'new').length],
      [1, 1],
    )
    // another amount, another kind, a key of its own, another resource
    const others = [
      await tell('more', { body: { amountCents: 101 } }),
      await tell('credit', { kind: 'credit' }),
      await report(aFact('inv-once', 'keyed')),
      await report(aFact('inv-other', 'r1', { once: true })),
    ]
    assert.equal(
      others.map(({ result }) => result),
      ['new', 'new', 'new', 'new'],
    )
    const decide = makeDecideFact({ pg, epoch: () => epoch })
    const show = (seq: number) =>
      query(
        database.url,
        `insert into mirror (kind, name, account, uid, generation, observed_generation, view, created_at, updated_at)
         values ('Invoice', 'inv-once', 'demo', 'u', 1, 1, json_build_object('fact_seq', $1::int), now(), now())
         on conflict (kind, name) do update set view = excluded.view`,
        [seq],
      )
    await show(0)
    for (const seq of upTo(4)) await decide({ resource: 'inv-once', seq, state: 'accepted', at })
    assert.equal((await tell('unseen')).fact.seq, 1)
    await show(4)
    const next = await tell('seen')
    assert.equal([next.result, next.fact.seq, next.fact.key], ['new', 5, 'seen'])
    await other.close()
  })

  t('what is undecided is found page by page, and nothing else', async () => {
    const mine = async () => {
      const found = []
      for (let page = await readPending({ pg }, null, 2); page.length > 0; ) {
        found.push(...page)
        page = await readPending({ pg }, page.at(-1) ?? null, 2)
      }
      return found.filter(({ resource }) => resource.startsWith('ns/page'))
    }
    for (const [resource, key] of [
      ['a', 1],
      ['b', 1],
      ['b', 2],
      ['b', 3],
      ['c', 1],
    ])
      await report(aFact(`ns/page-${resource}`, `k${key}`))
    await makeDecideFact({ pg, epoch: () => epoch })({ resource: 'ns/page-b', seq: 2, state: 'accepted', at })
    assert.equal(
      (await mine()).map(({ kind, resource, seq }) => `${kind} ${resource}/${seq}`),
      ['Invoice ns/page-a/1', 'Invoice ns/page-b/1', 'Invoice ns/page-b/3', 'Invoice ns/page-c/1'],
    )
  })

  t(
    'whoever begins to lead wakes what is undecided, later what it saw so twice, and goes on when the ledger was away',
    async () => {
      const woken: string[] = []
      const pages: (PendingFact[] | Error)[] = [
        [{ kind: 'Site', resource: 'a', seq: 1 }],
        new Error('away'),
        [
          { kind: 'Site', resource: 'a', seq: 1 },
          { kind: 'Site', resource: 'b', seq: 7 },
        ],
        [{ kind: 'Site', resource: 'b', seq: 8 }],
        [{ kind: 'Site', resource: 'b', seq: 8 }],
      ]
      const over = Promise.withResolvers<void>()
      const stop = startOverdue({
        read: async () => {
          const page = pages.shift()
          if (page === undefined) over.resolve()
          if (page instanceof Error) throw page
          return page ?? []
        },
        isHeld: () => true,
        settleAbsent: async () => {},
        wake: (kind, resource) => void woken.push(`${kind}/${resource}`),
        log: makeLog({ level: 'silent' }),
        lookMs: 1,
      })
      await over.promise
      stop()
      assert.equal(woken, ['Site/a', 'Site/a', 'Site/b'])
    },
  )

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
    const event = { kind: 'Site', account: 'demo', type: 'website.published' as const, data: { site: { id: 'a' } } }
    const told = async (resource: string) =>
      (
        await query(
          database.url,
          "select kind, account, purpose, message_id as id, payload from outbox where channel = 'event' and resource = $1 order by id",
          [resource],
        )
      ).map(({ kind, account, purpose, id, payload }) => ({ kind, account, purpose, id, payload }))
    const once = aFact('ns/ev', 'live', { state: 'accepted', event })
    await Promise.all([append(once), append(once), append(once)])
    await append(once)
    const first = await told('ns/ev')
    assert.is(first.length, 1)
    assert.equal(
      { ...first[0], id: '' },
      {
        ...{ kind: 'Site', account: 'demo', purpose: 'event:live', id: '' },
        payload: { type: event.type, data: event.data },
      },
    )
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
