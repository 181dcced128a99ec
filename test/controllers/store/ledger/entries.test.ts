/** What the register is told of a number after it was given: chained once, with what it follows from, behind whatever was last. */
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { StoredSnapshot } from '../../../../controllers/store/ledger/ledger.ts'
import { makeLedgerReader } from '../../../../controllers/store/ledger/ledger.ts'
import { migrate } from '../../../../controllers/store/pg/migrate.ts'
import { DatabaseRefused, makePg } from '../../../../controllers/store/pg/pg.ts'
import { query } from '../../../../hack/platform/postgres.ts'
import { frozenInvoice } from '../../../support/builders/frozen.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { aClaim, type Leader, type LedgerStage, makeLedgerStage, upTo } from '../../../support/stage/ledger.ts'
import { makeDatabase, scratchFolder } from '../../../support/stage/stage.ts'

const SERIES = 'demo/INV/026'
const AT = '2026-12-01T08:00:00.000Z'
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

const resend = (n: number | string, cents: number, send = 2) => ({
  resource: `bottega/inv-${n}`,
  n: send,
  at: AT,
  gate: 'password' as const,
  frozen: frozenInvoice({ totalCents: cents }),
  content: Buffer.from(`${n} ${cents}`),
  mail: null,
  entry: { entry: 'amended' as const, totalCents: cents, currency: 'EUR' },
})
const stamped = (n: number | string, id: string, entry: StoredSnapshot['entry']): StoredSnapshot => ({
  resource: `bottega/inv-${n}`,
  id,
  at: AT,
  frozen: frozenInvoice(),
  content: Buffer.from(`${n} ${id}`),
  mail: null,
  ...(entry && { entry }),
  fact: (stored) => ({
    resource: `bottega/inv-${n}`,
    resourceKind: 'Invoice',
    key: `snapshot:${id}`,
    kind: 'snapshot',
    body: stored,
    state: 'accepted',
    at: AT,
  }),
})
const voided = (n: number | string) =>
  stamped(n, 'void', { entry: 'voided', totalCents: 192_000, currency: 'EUR', reference: '' })
const credited = (n: number | string, note: string) =>
  stamped(n, note, { entry: 'credited', totalCents: 500, currency: 'EUR', reference: note })

spec('what became of a number', (t) => {
  let stage: LedgerStage
  let leader: Leader
  t.before.each(async () => {
    stage = await makeLedgerStage()
    leader = await stage.lead()
  })
  t.after.each(() => stage.end())
  const claim = (n: number | string) => leader.ledger.claimNumber(aClaim(n))
  const told = async () =>
    (await leader.ledger.entries(SERIES, { limit: 1000, offset: 0 })).map(
      ({ seq, step, entry, number }) => `${seq}.${step} ${entry} ${number.slice(-4)}`,
    )

  t('stands behind the newest number of its time, and numbers go on from 1 to n', async () => {
    await claim(1)
    await claim(2)
    await leader.freeze(resend(1, 900))
    await leader.ledger.freezeSnapshot(credited(1, 'CNINV-026-0001'))
    await claim(3)
    await leader.ledger.freezeSnapshot(voided(1))
    assert.equal(await told(), [
      ...['1.0 issued 0001', '2.0 issued 0002', '2.1 amended 0001', '2.2 credited 0001'],
      ...['3.0 issued 0003', '3.1 voided 0001'],
    ])
    const [, , amended] = await leader.ledger.entries(SERIES, { limit: 3, offset: 0 })
    assert.equal([amended?.totalCents, amended?.reference, amended?.issuedAt], [900, sha256('1 900'), AT])
    const found = await leader.ledger.verify(SERIES)
    assert.equal([found?.ok, found?.count, found?.last], [true, 3, 3])
    assert.is((await claim(4)).number, 'INV-026-0004')
    assert.is((await leader.ledger.observe('bottega/inv-1')).record?.number, 'INV-026-0001')
  })

  t('is entered once with what it follows from, however often that is tried', async () => {
    await claim(1)
    const all = await Promise.all(upTo(5).map(() => leader.freeze(resend(1, 900))))
    assert.is(all.filter((one) => one === 'new').length, 1)
    await Promise.all(upTo(5).map(() => leader.ledger.freezeSnapshot(voided(1))))
    assert.equal(await told(), ['1.0 issued 0001', '1.1 amended 0001', '1.2 voided 0001'])
    const twice = stamped(1, 'again', { entry: 'voided', totalCents: 1, currency: 'EUR', reference: '' })
    await assert.rejects(leader.ledger.freezeSnapshot(twice), /register_once|duplicate/)
    assert.equal((await leader.ledger.observe('bottega/inv-1')).facts.length, 1, 'and the fact with it or not at all')
  })

  t('is of a number: without one nothing is frozen', async () => {
    const settled = await Promise.allSettled([leader.freeze(resend('x', 1)), leader.ledger.freezeSnapshot(voided('x'))])
    assert.ok(settled.every((one) => one.status === 'rejected' && one.reason instanceof DatabaseRefused))
    const { sends, facts } = await leader.ledger.observe('bottega/inv-x')
    assert.equal([sends, facts], [[], []])
  })

  t('comes from all sides while numbers are claimed, and the chain holds', async () => {
    await Promise.all(upTo(40).map((n) => claim(n)))
    await Promise.all([
      ...upTo(40).map((n) => claim(n + 40)),
      ...upTo(40).flatMap((n) => [leader.freeze(resend(n, n)), leader.ledger.freezeSnapshot(voided(n))]),
      ...upTo(20).map((n) => leader.ledger.freezeSnapshot(credited(n, `CN-${n}`))),
    ])
    const found = await leader.ledger.verify(SERIES)
    assert.equal([found?.ok, found?.count, found?.last], [true, 80, 80])
    const all = await told()
    assert.equal(all.length, 180)
    assert.equal([await stage.sql('select last_seq, later from series')], [[{ last_seq: '80', later: '100' }]])
  })

  const tampers: [what: string, text: string][] = [
    ['what it says', "update register set entry = 'amended' where step = 2"],
    ['what it rests on', "update register set reference = 'x' where step = 1"],
    ['its amount', 'update register set total_cents = 1 where step = 1'],
    ['its place', 'update register set step = 7 where step = 2'],
    ['that it is there', 'delete from register where step = 1'],
    ['that it is the last', 'delete from register where step = 2'],
  ]
  for (const [what, text] of tampers)
    t(`cannot be changed unseen: ${what}`, async () => {
      await claim(1)
      await leader.freeze(resend(1, 900))
      await leader.ledger.freezeSnapshot(voided(1))
      assert.is((await leader.ledger.verify(SERIES))?.ok, true)
      await assert.rejects(stage.sql(text), /append-only/)
      await stage.sql(`alter table register disable trigger all; ${text}`)
      assert.is((await leader.ledger.verify(SERIES))?.ok, false)
    })
})

const SQL = fileURLToPath(new URL('../../../../controllers/store/sql/', import.meta.url))
const NEWER = '020_entries.sql'

spec('a register of before entries said what they are', (t) => {
  const folder = scratchFolder('sql')
  t.after(() => rmSync(folder, { recursive: true }))

  t('goes on to verify, and is told once what had become of its numbers', async () => {
    const database = await makeDatabase()
    const run = (text: string, values: unknown[] = []) => query(database.url, text, values)
    await run('drop schema public cascade')
    await run('create schema public')
    mkdirSync(`${folder}/functions`, { recursive: true })
    const isOlder = (path: string) => !path.endsWith('.sql') || basename(path) < NEWER
    cpSync(`${SQL}schema`, `${folder}/schema`, { recursive: true, filter: isOlder })
    await migrate(database.url, { folder: pathToFileURL(`${folder}/`) })
    const issuedAt = '2026-10-01T00:00:00.000Z'
    const hashes: string[] = []
    for (const [index, number] of ['INV-026-0001', 'INV-026-0002'].entries()) {
      const line = [number, `inv-${index + 1}`, 'invoice', 1000, 'EUR', issuedAt].join('\n')
      hashes.push(sha256(`${hashes.at(-1) ?? sha256(SERIES)}\n${line}`))
    }
    await run('insert into series (id, account, prefix, last_seq, head_hash) values ($1, $2, $3, 2, $4)', [
      ...[SERIES, 'demo', 'INV-026-', Buffer.from(hashes[1] ?? '', 'hex')],
    ])
    for (const [index, hash] of hashes.entries())
      await run(
        `insert into register (series_id, seq, number, resource, uid, kind, total_cents, currency, issued_at, claimed, hash)
        values ($1, $2, $3, $4, 'u', 'invoice', 1000, 'EUR', $5, '{}', $6)`,
        [SERIES, index + 1, `INV-026-000${index + 1}`, `inv-${index + 1}`, issuedAt, Buffer.from(hash, 'hex')],
      )
    await run("insert into blobs (sha256, bytes) values (sha256('pdf'), 1)")
    const frozen = (cents: number, more = {}) => ({ totalCents: cents, currency: 'EUR', kind: 'invoice', ...more })
    for (const [n, cents] of [1000, 1000, 1500].entries())
      await run(
        "insert into sends (resource, n, at, gate, frozen, sha256, bytes) values ('inv-1', $1, $2, 'password', $3, sha256('pdf'), 1)",
        [n + 1, `2026-10-0${n + 2}T00:00:00.000Z`, frozen(cents)],
      )
    const snapshot =
      "insert into snapshots (resource, id, at, frozen, sha256, bytes) values ($1, $2, $3, $4, sha256('pdf'), 1)"
    const note = frozen(300, { kind: 'credit_note', number: 'CNINV-026-0001' })
    await run(snapshot, ['inv-1', 'cn-1', '2026-11-01T00:00:00.000Z', note])
    await run(snapshot, ['inv-2', 'void', '2026-10-20T00:00:00.000Z', frozen(1000)])
    await run(snapshot, ['inv-2', 'paid', '2026-10-21T00:00:00.000Z', frozen(1000)])

    await migrate(database.url)
    const pg = makePg({ url: database.url, max: 2 })
    const ledger = makeLedgerReader({ pg })
    const found = await ledger.verify(SERIES)
    assert.equal([found?.ok, found?.count, found?.last], [true, 2, 2])
    const entries = await ledger.entries(SERIES, { limit: 10, offset: 0 })
    assert.equal(
      entries.map(({ seq, step, entry, number, totalCents, reference }) => [
        seq,
        step,
        entry,
        number,
        totalCents,
        reference,
      ]),
      [
        [1, 0, 'issued', 'INV-026-0001', 1000, ''],
        [2, 0, 'issued', 'INV-026-0002', 1000, ''],
        [2, 1, 'amended', 'INV-026-0001', 1500, sha256('pdf')],
        [2, 2, 'voided', 'INV-026-0002', 1000, ''],
        [2, 3, 'credited', 'INV-026-0001', 300, 'CNINV-026-0001'],
      ],
    )
    assert.is(entries[3]?.issuedAt, '2026-10-20T00:00:00.000Z')
    await pg.close()
    await database.drop()
  })
})
