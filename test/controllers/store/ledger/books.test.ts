/** An account's books read out of PostgreSQL: months against a naive fold, exports of any length, what may leave. */
import fc from 'fast-check'
import { BOOKS_PAGE, type BookStore, makeBooks, quietInvoices } from '../../../../controllers/store/invoice/books.ts'
import { makePg, type Pg } from '../../../../controllers/store/pg/pg.ts'
import { monthSpan, type RollupRow } from '../../../../crds/invoice/money/reconciliation.ts'
import { query } from '../../../../hack/platform/postgres.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type Database, makeDatabase } from '../../../support/stage/stage.ts'

/** One invoice as the ledger and its view have it. Instants are ISO. */
type Invoice = {
  issuer: string
  currency: string
  test: boolean
  issuedAt: string
  totalCents: number
  /** What later sends changed it to, by their dates. */
  amended: { at: string; cents: number }[]
  status: 'sent' | 'partial' | 'overdue' | 'paid' | 'voided'
  voidedAt: string
  moves: {
    at: string
    cents: number
    sort: 'owner' | 'gateway' | 'credit' | 'refund'
    state: 'accepted' | 'refused' | 'pending'
  }[]
}

const ZONES: Record<string, string> = {
  'iss-default': 'UTC',
  'iss-madrid': 'Europe/Madrid',
  'iss-apia': 'Pacific/Apia',
}
const MONTHS = ['2025-12', '2026-02', '2026-03', '2026-10']
/** Around the ends of months, where zones part. */
const instant = fc
  .tuple(
    fc.constantFrom('2025-11', '2025-12', '2026-01', '2026-03', '2026-04', '2026-11'),
    fc.integer({ min: -16, max: 16 }),
  )
  .map(([month, hours]) => new Date(Date.parse(`${month}-01T00:00:00Z`) + hours * 3_600_000).toISOString())
const cents = fc.integer({ min: 1, max: 9_000_000_000 })
const invoice: fc.Arbitrary<Invoice> = fc.record({
  issuer: fc.constantFrom(...Object.keys(ZONES)),
  currency: fc.constantFrom('EUR', 'JPY'),
  test: fc.boolean(),
  issuedAt: instant,
  totalCents: cents,
  amended: fc.array(fc.record({ at: instant, cents }), { maxLength: 3 }),
  status: fc.constantFrom('sent', 'partial', 'overdue', 'paid', 'voided'),
  voidedAt: instant,
  moves: fc.array(
    fc.record({
      at: instant,
      cents,
      sort: fc.constantFrom('owner', 'gateway', 'credit', 'refund'),
      state: fc.constantFrom('accepted', 'accepted', 'refused', 'pending'),
    }),
    { maxLength: 4 },
  ),
})

const isIn = (month: string, zone: string, at: string): boolean =>
  Temporal.Instant.from(at).toZonedDateTimeISO(zone).toPlainDate().toString().startsWith(month)
const balanceOf = ({ totalCents }: Invoice): number => Math.ceil(totalCents / 3)

const NOTHING = {
  issued_count: 0,
  issued_cents: 0,
  voided_cents: 0,
  paid_gateway_cents: 0,
  paid_manual_cents: 0,
  received_on_voided_cents: 0,
  credited_cents: 0,
  refunded_cents: 0,
  outstanding_cents: 0,
  overdue_cents: 0,
  amended_cents: 0,
}
const sum = (amounts: readonly number[]): number => amounts.reduce((total, one) => total + one, 0)

/** What the n-th amendment changed. */
const differenceOf = ({ totalCents, amended }: Invoice, n: number): number =>
  (amended[n]?.cents ?? 0) - (amended[n - 1]?.cents ?? totalCents)
const lastTotal = ({ totalCents, amended }: Invoice): number => amended.at(-1)?.cents ?? totalCents
const later = (a: string, b: string): string => (a > b ? a : b)

/** What one invoice adds to a month. */
const partOf = (one: Invoice, month: string): typeof NOTHING => {
  const isNow = (at: string) => isIn(month, ZONES[one.issuer] ?? '', at)
  const moved = (...sorts: string[]) =>
    sum(
      one.moves.flatMap(({ at, cents: c, sort, state }) =>
        state === 'accepted' && isNow(at) && sorts.includes(sort) ? [c] : [],
      ),
    )
  const isVoided = one.status === 'voided'
  const amended = sum(one.amended.map(({ at }, n) => (isNow(at) ? differenceOf(one, n) : 0)))
  const received = one.moves.filter(
    ({ sort, state }) => state === 'accepted' && (sort === 'gateway' || sort === 'owner'),
  )
  const onVoided = received.filter(({ at }) => isVoided && isNow(later(at, one.voidedAt)))
  const isOpen = !isVoided && one.status !== 'paid'
  return {
    issued_count: isNow(one.issuedAt) ? 1 : 0,
    issued_cents: (isNow(one.issuedAt) ? one.totalCents : 0) + amended,
    voided_cents: isVoided && isNow(one.voidedAt) ? lastTotal(one) : 0,
    paid_gateway_cents: moved('gateway'),
    paid_manual_cents: moved('owner'),
    received_on_voided_cents: sum(onVoided.map(({ cents: c }) => c)),
    credited_cents: moved('credit', 'refund'),
    refunded_cents: moved('refund'),
    outstanding_cents: isOpen ? balanceOf(one) : 0,
    overdue_cents: one.status === 'overdue' ? balanceOf(one) : 0,
    amended_cents: amended,
  }
}

/** Only what moved or stands is a row; one that came to nothing (a refused payment) may be one of zeros. */
const withoutZeros = (rows: readonly RollupRow[]): RollupRow[] =>
  rows.filter(({ currency: _, issuer_id: __, ...figures }) => Object.values(figures).some((figure) => figure !== 0))

/** What the rollup says, in the plainest way. */
const fold = (invoices: readonly Invoice[], month: string): RollupRow[] => {
  const real = invoices.filter(({ test }) => !test)
  const keys = [...new Set(real.map(({ currency, issuer }) => `${currency} ${issuer}`))].sort()
  const rows = keys.map((key) => {
    const [currency = '', issuer_id = ''] = key.split(' ')
    const parts = real.filter((one) => `${one.currency} ${one.issuer}` === key).map((one) => partOf(one, month))
    const figures = Object.keys(NOTHING).map((name) => [name, sum(parts.map((part) => Reflect.get(part, name)))])
    return { currency, issuer_id, ...(Object.fromEntries(figures) as typeof NOTHING) }
  })
  return withoutZeros(rows)
}

spec('the books of an account', (t) => {
  let database: Database
  let pg: Pg
  let books: BookStore
  t.before.each(async () => {
    database = await makeDatabase()
    pg = makePg({ url: database.url })
    books = makeBooks({ pg })
  })
  t.after.each(async () => {
    await pg.close()
    await database.drop()
  })
  const run = (text: string, values: unknown[] = []) => query(database.url, text, values)

  /** Writes invoices as the controllers leave them, one statement per table. */
  const write = async (account: string, invoices: readonly Invoice[]): Promise<void> => {
    const rows = invoices.map((one, place) => ({
      ...one,
      place,
      resource: `${account}-${place}`,
      series: `${account}/${one.test ? 'TEST' : one.issuer}/invoice/${one.issuedAt.slice(0, 4)}`,
      view: {
        number: `INV-${place}`,
        status: one.status,
        test: one.test,
        currency: one.currency,
        total_cents: 1,
        balance_cents: one.status === 'voided' ? 0 : balanceOf(one),
        voided_at: one.status === 'voided' ? one.voidedAt : null,
        issuer_id: one.issuer,
      },
    }))
    const json = JSON.stringify(rows)
    await run(
      `insert into series (id, account, prefix, head_hash)
      select distinct r.series, $2, r.series, '\\x00'::bytea from json_to_recordset($1) as r(series text)`,
      [json, account],
    )
    // the view's own total is what is owed now: it is not what counts
    const entries = rows.flatMap((one) => {
      const { series, resource, currency, place } = one
      const said = [
        { entry: 'issued', cents: one.totalCents, at: one.issuedAt, reference: '' },
        ...one.amended.map(({ cents: c, at }) => ({ entry: 'amended', cents: c, at, reference: 'sha256' })),
        ...one.moves.flatMap(({ sort, state, cents: c, at }, n) =>
          state === 'accepted' && (sort === 'credit' || sort === 'refund')
            ? [{ entry: 'credited', cents: c, at, reference: `CN-${n}` }]
            : [],
        ),
        ...(one.status === 'voided'
          ? [{ entry: 'voided', cents: lastTotal(one), at: one.voidedAt, reference: '' }]
          : []),
      ]
      return said.map((entry, step) => ({ ...entry, step, series, resource, currency, place }))
    })
    await run(
      `insert into register
        (series_id, seq, step, entry, number, resource, uid, kind, total_cents, currency, issued_at, reference, claimed, hash)
      select r.series, r.place + 1, r.step, r.entry, 'N', r.resource, 'u', 'invoice', r.cents, r.currency, r.at, r.reference,
        '{}', sha256('x')
      from json_to_recordset($1) as r(
        series text, place int, step int, entry text, resource text, cents bigint, currency text, at timestamptz, reference text
      )`,
      [JSON.stringify(entries)],
    )
    await run("insert into blobs (sha256, bytes) values (sha256('note'), 1) on conflict do nothing")
    const notes = entries.filter(({ entry }) => entry === 'credited')
    await run(
      `insert into snapshots (resource, id, at, frozen, sha256, bytes)
      select n.resource, split_part(n.reference, '-', 2), n.at, json_build_object('number', n.reference), sha256('note'), 1
      from json_to_recordset($1) as n(resource text, reference text, at timestamptz)`,
      [JSON.stringify(notes)],
    )
    await run(
      `insert into mirror (kind, name, account, uid, generation, observed_generation, view, created_at, updated_at, status, issuer_id)
      select 'Invoice', r.resource, $2, 'u', 1, 1, r.view, r."issuedAt", r."issuedAt", r.status, r.issuer
      from json_to_recordset($1) as r(resource text, view json, "issuedAt" timestamptz, status text, issuer text)`,
      [json, account],
    )
    const facts = rows.flatMap(({ resource, moves }) => moves.map((move, place) => ({ ...move, resource, place })))
    await run(
      `insert into facts (resource, resource_kind, seq, key, kind, body, written_by, state, refused_code, at, decided_at, outcome)
      select f.resource, 'Invoice', f.place + 1, case when f.sort in ('owner', 'gateway') then 'payment:' else 'credit:' end || f.place, case when f.sort in ('owner', 'gateway') then 'payment' else 'credit' end,
        jsonb_build_object('amountCents', case when f.place % 2 = 0 then f.cents end, 'declaredBy', f.sort, 'refund', f.sort = 'refund'),
        'api', f.state, case when f.state = 'refused' then 'X' end, f.at, case when f.state <> 'pending' then f.at end,
        case when f.place % 2 = 1 then jsonb_build_object('amountCents', f.cents) end
      from json_to_recordset($1) as f(resource text, place int, sort text, cents bigint, state text, at timestamptz)`,
      [JSON.stringify(facts)],
    )
  }

  const monthOf = (account: string, month: string) => {
    const spans = new Map(Object.entries(ZONES).map(([id, zone]) => [id, monthSpan(month, zone)]))
    return books.rollup(account, spans, monthSpan(month, 'UTC'))
  }

  t('a month equals the plainest fold over the same history, whatever happened', async () => {
    let account = 0
    await fc.assert(
      fc.asyncProperty(fc.array(invoice, { maxLength: 25 }), async (invoices) => {
        const name = `acc-${account++}`
        await write(name, invoices)
        for (const month of MONTHS) {
          assert.equal(withoutZeros(await monthOf(name, month)), fold(invoices, month), month)
        }
      }),
      { numRuns: 60 },
    )
  })

  t('a month that is over changes no more, whatever becomes of its invoices', async () => {
    const issued = { at: '2026-10-05T00:00:00.000Z', sort: 'owner' as const, state: 'accepted' as const }
    const plain: Invoice = {
      ...{ issuer: 'iss-default', currency: 'EUR', test: false, issuedAt: '2026-10-04T00:00:00.000Z' },
      ...{ totalCents: 100_000, amended: [], status: 'sent', voidedAt: '2026-11-09T00:00:00.000Z' },
      moves: [{ ...issued, cents: 30_000 }],
    }
    const credit = { at: '2026-11-08T00:00:00.000Z', cents: 5_000, sort: 'refund', state: 'accepted' } as const
    const lived: Invoice = {
      ...plain,
      amended: [{ at: '2026-11-07T00:00:00.000Z', cents: 80_000 }],
      status: 'voided',
      moves: [...plain.moves, credit],
    }
    await write('before', [plain])
    await write('after', [lived])
    const closed = async (account: string) =>
      (await monthOf(account, '2026-10')).map(({ outstanding_cents: _, overdue_cents: __, ...row }) => row)
    assert.equal(await closed('after'), await closed('before'))
    const [next] = await monthOf('after', '2026-11')
    assert.equal(
      [next?.issued_count, next?.issued_cents, next?.amended_cents, next?.voided_cents, next?.credited_cents],
      [0, -20_000, -20_000, 80_000, 5_000],
    )
    assert.equal([next?.refunded_cents, next?.received_on_voided_cents, next?.paid_manual_cents], [5_000, 30_000, 0])
  })

  t('is of one account alone, and nothing where there is nothing', async () => {
    const [first] = fc.sample(invoice, 1)
    await write('one', [{ ...(first as Invoice), test: false, status: 'overdue' }])
    assert.is((await monthOf('one', '2026-10')).length, 1)
    assert.equal(await monthOf('two', '2026-10'), [])
  })

  const seed = (count: number, change = '') =>
    run(
      `insert into mirror (kind, name, account, uid, generation, observed_generation, view, created_at, updated_at, archived, status)
      select 'Invoice', 'inv-' || n, 'demo', 'u-' || n, 1, 1,
        json_build_object('number', 'INV-' || n, 'status', 'paid', 'client_name', 'N' || n, 'items', repeat('x', 1000)${change}),
        timestamptz '2026-01-01' + interval '1 second' * (n / 3), '2026-01-01', n % 2 = 0,
        case when n % 5 = 0 then 'sent' else 'paid' end
      from generate_series(1, $1) n`,
      [count],
    )
  const exported = async (filter = {}) => {
    const numbers: unknown[] = []
    const pages: number[] = []
    for await (const rows of books.exported('demo', filter)) {
      pages.push(rows.length)
      numbers.push(...rows.map(({ number }) => number))
    }
    return { numbers, pages }
  }

  t('an export has every invoice once, archived ones too, newest first, in pages that stay small', async () => {
    const count = 2 * BOOKS_PAGE + 7
    await seed(count)
    const { numbers, pages } = await exported()
    assert.equal(pages, [BOOKS_PAGE, BOOKS_PAGE, 7])
    assert.is(new Set(numbers).size, count)
    const listed = await run("select view ->> 'number' as number from mirror order by created_at desc, place desc")
    assert.equal(
      numbers,
      listed.map(({ number }) => number),
    )
    assert.is((await exported({ status: 'sent' })).numbers.length, Math.floor(count / 5))
    assert.equal((await exported({ status: 'overdue' })).pages, [])
  })

  t('one that was created meanwhile is not in it, and none is left out for it', async () => {
    await seed(BOOKS_PAGE + 10)
    const numbers: unknown[] = []
    for await (const rows of books.exported('demo', {})) {
      if (numbers.length === 0) {
        await run(`update mirror set updated_at = now()`)
        await run(`insert into mirror (kind, name, account, uid, generation, observed_generation, view, created_at, updated_at)
          values ('Invoice', 'late', 'demo', 'late', 1, 1, '{"number": "late"}', now(), now())`)
      }
      numbers.push(...rows.map(({ number }) => number))
    }
    assert.is(numbers.length, BOOKS_PAGE + 10)
    assert.not.ok(numbers.includes('late'))
  })

  t('only an invoice to which nothing happened for long, with nothing under way, may leave', async () => {
    await seed(6)
    const known = [1, 2, 3, 4, 5, 6].map((n) => ({ name: `inv-${n}`, uid: n === 3 ? 'another' : `u-${n}` }))
    await run("update mirror set archived = name = 'inv-4'")
    await run("update mirror set updated_at = '2026-03-01' where name = 'inv-5'")
    const outbox = (name: string, channel: string, state: string, due: string | null) =>
      run(
        `insert into outbox (kind, resource, account, purpose, channel, message_id, payload, state, due_at, created_at)
        values ('Invoice', $1, 'demo', $2, $2, 'm', '{}', $3, $4, now())`,
        [name, channel, state, due],
      )
    const leaving = (before = '2026-02-01', limit = 10) => quietInvoices(pg, known, { before, limit })
    assert.equal(await leaving(), ['inv-1', 'inv-2', 'inv-6'])
    assert.equal(await leaving('2026-02-01', 2), ['inv-1', 'inv-2'])
    await outbox('inv-1', 'mail', 'queued', '2026-01-01')
    await outbox('inv-2', 'mail', 'sent', null)
    await outbox('inv-2', 'event', 'queued', '2026-01-01')
    await run(`insert into facts (resource, resource_kind, seq, key, kind, body, written_by, state, at)
      values ('inv-6', 'Invoice', 1, 'k', 'payment', '{}', 'api', 'pending', now())`)
    assert.equal(await leaving(), ['inv-2'])
    assert.equal(await leaving('2025-01-01'), [])
  })
})
