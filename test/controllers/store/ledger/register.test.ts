import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { StaleEpoch } from '../../../../controllers/base/errors.ts'
import { type Ledger, makeLedger } from '../../../../controllers/store/ledger/ledger.ts'
import type { NumberClaim, RegisterEntry } from '../../../../controllers/store/ledger/register.ts'
import { takeEpoch } from '../../../../controllers/store/pg/fence.ts'
import { DatabaseRefused, makePg } from '../../../../controllers/store/pg/pg.ts'
import { formatNumber } from '../../../../crds/invoice/order/number.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import {
  aClaim,
  type Leader,
  type LedgerStage,
  makeLedgerStage,
  somebodyWaits,
  upTo,
} from '../../../support/stage/ledger.ts'

const seriesId = 'demo/INV/026'
const isStale = (error: unknown) => error instanceof StaleEpoch
const isRefused = (error: unknown) => error instanceof DatabaseRefused
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** As the comments in sql/functions/register_entry.sql and register_line.sql tell an accountant to do it. */
const recompute = (series: string, entries: RegisterEntry[]): string =>
  entries.reduce(
    (prev, one) =>
      sha256(
        [
          ...[prev, one.number, one.resource, one.kind, one.totalCents, one.currency, one.issuedAt],
          ...(one.entry === 'issued' ? [] : [one.entry, one.reference]),
        ]
          .map(String)
          .join('\n'),
      ),
    sha256(series),
  )

spec('numbers', (t) => {
  let stage: LedgerStage
  let leader: Leader
  t.before.each(async () => {
    stage = await makeLedgerStage()
    leader = await stage.lead()
  })
  t.after.each(() => stage.end())
  const claimAll = (claims: NumberClaim[]) => Promise.all(claims.map((claim) => leader.ledger.claimNumber(claim)))

  t('two hundred at once on one series get 1..200, and the register verifies', async () => {
    const claimed = await claimAll(upTo(200).map((n) => aClaim(n)))
    assert.equal(
      claimed.map((one) => one.seq).sort((a, b) => a - b),
      upTo(200),
    )
    assert.is(claimed[0]?.number, 'INV-026-0001')
    const found = await leader.ledger.verify(seriesId)
    assert.is(found?.ok, true)
    assert.is(found?.count, 200)
  })

  t('a resource keeps its number, alone, in one batch with itself, and under another series', async () => {
    const first = await leader.ledger.claimNumber(aClaim('a'))
    const again = await leader.ledger.claimNumber(aClaim('a', { issuedAt: '2026-12-01T00:00:00.000Z' }))
    assert.equal(again, { ...first, replayed: true })
    const inOneBatch = await claimAll(['w1', 'w2', 'c', 'c', 'c'].map((name) => aClaim(name)))
    assert.equal(
      inOneBatch.slice(2).map((one) => one.replayed),
      [false, true, true],
    )
    const many = await claimAll(upTo(20).map(() => aClaim('b')))
    assert.equal([...new Set(many.map((one) => one.seq))], [5])
    assert.is(many.filter((one) => !one.replayed).length, 1)
    const elsewhere = { id: 'demo/INV/027', account: 'demo', prefix: 'INV-027-' }
    const moved = await leader.ledger.claimNumber(aClaim('a', { series: elsewhere }))
    assert.equal(moved, { ...first, replayed: true })
  })

  t('one batch serves many series, each from 1', async () => {
    const series = (n: number) => ({ id: `s${n % 7}`, account: `a${n % 7}`, prefix: `P${n % 7}-026-` })
    const before = leader.pg.stats().statements
    await claimAll(upTo(140).map((n) => aClaim(n, { series: series(n) })))
    assert.ok(leader.pg.stats().statements - before < 10, 'they were not claimed one by one')
    for (const n of upTo(7)) {
      const found = await leader.ledger.verify(`s${n % 7}`)
      assert.equal([found?.ok, found?.count], [true, 20])
    }
    assert.equal(
      (await leader.ledger.seriesOf('a3')).map(({ id, prefix, last }) => ({ id, prefix, last })),
      [{ id: 's3', prefix: 'P3-026-', last: 20 }],
    )
  })

  t('a series keeps the prefix it began with, also when two meet in one batch', async () => {
    const other = { id: seriesId, account: 'demo', prefix: 'ACME-026-' }
    const claims = upTo(40).map((n) => aClaim(n, n % 2 === 0 ? { series: other } : {}))
    const claimed = await claimAll(claims)
    assert.equal(
      claimed.map((one) => one.seq).sort((a, b) => a - b),
      upTo(40),
    )
    for (const { number, seq } of claimed) assert.is(number, `INV-026-${String(seq).padStart(4, '0')}`)
    assert.is((await leader.ledger.verify(seriesId))?.ok, true)
  })

  t('a claim that breaks a rule fails alone and leaves no hole', async () => {
    const bad = [aClaim('bad1', { currency: 'EURO' }), aClaim('bad2', { kind: 'x' as 'invoice' })]
    const stranger = aClaim('bad3', { series: { id: seriesId, account: 'other', prefix: 'INV-026-' } })
    const claims = [aClaim('warm'), ...bad, stranger, ...upTo(10).map((n) => aClaim(n))]
    const settled = await Promise.allSettled(claims.map((claim) => leader.ledger.claimNumber(claim)))
    const failed = settled.filter((one) => one.status === 'rejected')
    assert.is(failed.length, 3)
    assert.ok(failed.every((one) => isRefused(one.reason)))
    const found = await leader.ledger.verify(seriesId)
    assert.equal([found?.ok, found?.count, found?.last], [true, 11, 11])
  })

  t('random ends of connections and a change of leader in between leave 1..n', async () => {
    const successor = await stage.lead() // the first leader's epoch is stale from here on
    const stale = await Promise.allSettled(upTo(50).map((n) => leader.ledger.claimNumber(aClaim(n))))
    assert.ok(stale.every((one) => one.status === 'rejected' && isStale(one.reason)))
    let done = false
    const saboteur = (async () => {
      while (!done) {
        await stage.sql(`select pg_terminate_backend(pid) from pg_stat_activity
          where application_name = 'bottega' and datname = current_database() and random() < 0.5`)
        await sleep(5)
      }
    })()
    let failures = 0
    const insist = async (claim: NumberClaim) => {
      for (;;) {
        try {
          return await successor.ledger.claimNumber(claim)
        } catch {
          failures++
          await sleep(5)
        }
      }
    }
    let claims = 0
    while (failures < 5) await Promise.all(upTo(200).map(() => insist(aClaim(++claims))))
    done = true
    await saboteur
    const found = await leader.ledger.verify(seriesId)
    assert.equal([found?.ok, found?.count, found?.last], [true, claims, claims])
  })

  t('two committers with one epoch in two pools never share a number', async () => {
    const pg = makePg({ url: stage.database.url })
    const other = makeLedger({ pg, epoch: () => leader.epoch })
    const claimed = await Promise.all(
      upTo(200).map((n) => (n % 2 === 0 ? other : leader.ledger).claimNumber(aClaim(n % 150))),
    )
    await pg.close()
    assert.equal(
      [...new Set(claimed.map((one) => one.seq))].sort((a, b) => a - b),
      upTo(150),
    )
    assert.is((await leader.ledger.verify(seriesId))?.ok, true)
  })

  t('a new leader waits for the effect in flight, and the old one writes nothing after it', async () => {
    const pg = makePg({ url: stage.database.url })
    const order: string[] = []
    const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const effect = pg.tx(async (run) => {
      await run('test_fence', 'select fence($1, $2)', ['controllers', leader.epoch])
      begun.resolve()
      await gate.promise
      order.push('effect')
    })
    await begun.promise
    const next = takeEpoch(pg, 'next').then(() => order.push('taken'))
    await somebodyWaits(stage.database.url)
    gate.resolve()
    await Promise.all([effect, next])
    assert.equal(order, ['effect', 'taken'])
    await assert.rejects(leader.ledger.claimNumber(aClaim(1)), isStale)
    await pg.close()
  })

  t('SQL spells a number as crds does, also past 9999', async () => {
    const seqs = [1, 9, 10, 99, 100, 999, 1000, 9999, 10_000, 123_456, Number.MAX_SAFE_INTEGER]
    for (const seq of seqs)
      for (const [prefix, year] of [
        ['INV', 2026],
        ['TEST', 2099],
        ['A', 2100],
        ['CNACME', 3007],
      ] as const) {
        const expected = formatNumber(prefix, year, seq)
        const ready = formatNumber(prefix, year, 1).slice(0, -'0001'.length)
        const text = 'select format_number($1, $2) as number'
        const { rows } = await leader.pg.query<{ number: string }>('test_format', text, [ready, seq])
        assert.is(rows[0]?.number, expected)
      }
  })
})

spec('the chain', (t) => {
  let stage: LedgerStage
  let ledger: Ledger
  t.before(async () => {
    stage = await makeLedgerStage()
    ;({ ledger } = await stage.lead())
    await Promise.all(
      upTo(20).map((n) => ledger.claimNumber(aClaim(n, { issuedAt: `2026-11-21T09:30:00.0${n + 10}Z` }))),
    )
  })
  t.after(() => stage.end())

  t('can be recomputed from the entries by anybody, page by page', async () => {
    const pages = [await ledger.entries(seriesId, { limit: 15, offset: 0 })]
    pages.push(await ledger.entries(seriesId, { limit: 15, offset: 15 }))
    const entries = pages.flat()
    assert.is(entries.length, 20)
    assert.is(entries[15]?.prevHash, entries[14]?.hash)
    assert.is(entries[0]?.prevHash, sha256(seriesId))
    const found = await ledger.verify(seriesId)
    assert.is(recompute(seriesId, entries), found?.headHash)
  })

  t('the register refuses to be changed', async () => {
    for (const text of [
      'update register set total_cents = 1 where seq = 3',
      'delete from register where seq = 20',
      'truncate register',
    ])
      await assert.rejects(stage.sql(text), /append-only/)
  })

  /** Does something forbidden, as somebody who owns the database could, and takes it back. */
  const tampered = async (text: string) => {
    const pg = makePg({ url: stage.database.url })
    let found: Awaited<ReturnType<Ledger['verify']>> = null
    const undo = new Error('undo')
    await assert.rejects(
      pg.tx(async (run) => {
        await run('test_tamper', `alter table register disable trigger all; ${text}`)
        const inside = makeLedger({ pg: { ...pg, query: run }, epoch: () => 0 })
        found = await inside.verify(seriesId)
        throw undo
      }),
      (error) => error === undo,
    )
    await pg.close()
    return found as Awaited<ReturnType<Ledger['verify']>>
  }

  const tampers: [what: string, text: string, firstBad: number][] = [
    ['an altered total', 'update register set total_cents = 1 where seq = 7', 7],
    ['an altered date', "update register set issued_at = issued_at + interval '1 ms' where seq = 8", 8],
    ['an altered number', "update register set number = 'INV-026-0099' where seq = 5", 5],
    ['another recipient of a number', "update register set resource = 'bottega/inv-x' where seq = 9", 9],
    ['an altered hash', "update register set hash = sha256('x') where seq = 4", 4],
    ['a missing entry', 'delete from register where seq = 11', 11],
    ['a missing first entry', 'delete from register where seq = 1', 1],
    ['a tail that was cut off', 'delete from register where seq > 17', 18],
    [
      'a tail cut off with the head moved back',
      'delete from register where seq > 17; update series set last_seq = 17',
      18,
    ],
    [
      'two entries that changed places',
      'update register set seq = case seq when 6 then 1000006 when 7 then 6 end where seq in (6, 7); update register set seq = 7 where seq = 1000006',
      6,
    ],
  ]
  for (const [what, text, firstBad] of tampers)
    t(`shows ${what}`, async () => {
      const found = await tampered(text)
      assert.equal([found?.ok, found?.firstBad], [false, firstBad])
    })

  t('is whole again afterwards, and an unknown series has none', async () => {
    assert.is((await ledger.verify(seriesId))?.ok, true)
    assert.is(await ledger.verify('nothing'), null)
  })
})
