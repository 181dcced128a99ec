import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Caller } from '../../api/http/caller.ts'
import { makePipeline } from '../../api/http/pipeline.ts'
import { makeServer } from '../../api/http/server.ts'
import { bookRoutes } from '../../api/invoice/books/book-routes.ts'
import type { BooksNeeds } from '../../api/invoice/needs.ts'
import { listRoute } from '../../api/invoice/routes.ts'
import type { Route } from '../../api/wiring/route.ts'
import { makeStores } from '../../api/wiring/stores.ts'
import { keysOfOne } from '../../controllers/base/keys.ts'
import { makeLog } from '../../controllers/base/log.ts'
import { type MirrorFilter, makeMirrorReader } from '../../controllers/store/mirror.ts'
import { migrate } from '../../controllers/store/pg/migrate.ts'
import { makePg, type Pg } from '../../controllers/store/pg/pg.ts'
import type { AccountView } from '../../crds/account/view.ts'
import { INVOICE } from '../../crds/invoice/kind.ts'
import { removeData } from '../platform/pgfiles.ts'
import { query, startPostgres } from '../platform/postgres.ts'
import type { BenchContext } from './sides/figure.ts'
import { BENCH_KEY, makeStageParts } from './sides/stages.ts'

/**
 * Lists, filters, the export and a month of an account with 100,000 invoices, 5,000 of them open: over HTTP through every
 * stage but the look-up of the token, beside the same query alone on the same pool.
 */

const INVOICES = 100_000
const OPEN_EVERY = 20
const CLIENTS = 500
const TURNS = 300
const ROUNDS = 3
const LIST_GOAL = 5
const MONTH_GOAL_MS = 1_500
/** What an export may hold at once, beside what the process has anyway. */
const EXPORT_GOAL_MB = 64

/** The last view of each, as long as a real one with a few lines. */
const FILL = `
insert into series (id, account, prefix, last_seq, head_hash)
  values ('demo/iss-default/invoice/2026', 'demo', 'INV-026-', ${INVOICES}, sha256('x'));
insert into register (series_id, seq, number, resource, uid, kind, total_cents, currency, issued_at, claimed, hash)
  select 'demo/iss-default/invoice/2026', n, format_number('INV-026-', n), 'inv-' || n, 'uid-' || n, 'invoice', 144000, 'EUR',
    timestamptz '2026-01-01' + interval '5 minutes' * n, '{}', sha256(n::text::bytea)
  from generate_series(1, ${INVOICES}) n;
insert into facts (resource, resource_kind, seq, key, kind, body, written_by, state, at, decided_at, outcome)
  select 'inv-' || n, 'Invoice', 1, 'payment:1', 'payment', '{"declaredBy": "owner"}', 'api', 'accepted', r.issued_at, r.issued_at,
    '{"amountCents": 144000}'
  from generate_series(1, ${INVOICES}) n join register r on r.resource = 'inv-' || n and r.step = 0 where n % ${OPEN_EVERY} <> 0;
insert into mirror (kind, name, account, uid, generation, observed_generation, view, created_at, updated_at, archived, status,
    client_email, issuer_id)
  select 'Invoice', 'inv-' || n, 'demo', 'uid-' || n, 1, 1,
    json_build_object('id', 'inv-' || n, 'number', format_number('INV-026-', n), 'status', s.word, 'test', false,
      'issuer_id', 'iss-default', 'client_name', 'Client ' || n, 'client_email', s.email, 'currency', 'EUR',
      'subtotal_cents', 120000, 'discount_cents', 0, 'tax_cents', 24000, 'total_cents', 144000, 'paid_cents', 0,
      'credited_cents', 0, 'balance_cents', 144000, 'due_date', '2026-12-20', 'items', s.items),
    timestamptz '2026-01-01' + interval '5 minutes' * n, '2026-11-01', n % ${OPEN_EVERY} <> 0, s.word, s.email, 'iss-default'
  from generate_series(1, ${INVOICES}) n, lateral (
    select case when n % ${OPEN_EVERY} = 0 then 'sent' else 'paid' end as word, 'c' || n % ${CLIENTS} || '@acme.test' as email,
      (select json_agg(json_build_object('description', md5(n::text || i) || repeat(' work', 40), 'qty', 1.5,
        'unit_cents', 80000, 'amount_cents', 120000)) from generate_series(1, 4) i) as items
  ) s;
`

const p99 = (took: number[]): number => took.sort((a, b) => a - b)[Math.ceil(took.length * 0.99) - 1] ?? 0

/** Whoever asks, found without a look-up. */
const profile: AccountView = {
  ...{ id: 'demo', email: 'owner@demo.test', name: 'Demo', plan: 'team', role: 'member', capabilities: [], teams: [] },
  ...{ cost_cap_usd: null, template_lock: null, rails: [], ai_per_day: null, limits: {}, version: 1 },
  created_at: '2026-01-01T00:00:00Z',
}
const caller: Caller = { account: 'demo', by: { kind: 'token', id: 'bench' }, scopes: null, profile }

/** What is asked: lists, the export and the month. */
const routes: Route<BooksNeeds>[] = [...bookRoutes, listRoute]

const serve = async (pg: Pg) => {
  const stages = makeStageParts({ pg, keys: keysOfOne(BENCH_KEY) })
  const stores = makeStores({ pg, keys: stages.keys })
  const more = { mirror: makeMirrorReader({ pg }), cards: null, authenticate: async () => caller }
  const deps = { ...stages, ...stores, ...more }
  const pipeline = makePipeline(deps, routes)
  const log = makeLog({ level: 'error' })
  const server = makeServer({ routes, deps, pipeline, log, observe: () => undefined })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, base: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/invoices` }
}

const timed = async (took: number[], run: () => Promise<unknown>): Promise<void> => {
  const startedMs = performance.now()
  await run()
  took.push(performance.now() - startedMs)
}
const read = async (url: string): Promise<string> => {
  const response = await fetch(url)
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${url} answered ${response.status}: ${text}`)
  return text
}

/** In turns, so that both meet the same weather. */
async function lists({ figure }: BenchContext, pg: Pg, base: string): Promise<void> {
  const mirror = makeMirrorReader({ pg })
  const asks: [string, string, MirrorFilter, number][] = [
    ['list of 50 among 100,000, p99', '', {}, INVOICES],
    ['list by status, p99', 'status=sent', { status: 'sent' }, INVOICES / OPEN_EVERY],
    ['list by client_email, p99', 'client_email=c7@acme.test', { clientEmail: 'c7@acme.test' }, INVOICES / CLIENTS],
  ]
  for (const [name, search, filter, total] of asks) {
    const alone = () => mirror.list({ kind: INVOICE, account: 'demo' }, filter, { limit: 50, offset: 0 })
    const over = () => read(`${base}?${search}`)
    const found = JSON.parse(await over()).total
    if (found !== total) throw new Error(`${name}: ${found} instead of ${total}`)
    const [ours, bare]: [number[], number[]] = [[], []]
    for (let turn = 0; turn < TURNS; turn++) {
      await timed(bare, alone)
      await timed(ours, over)
    }
    const peerValue = p99(bare)
    figure({ name, value: p99(ours), unit: 'ms', peer: 'the same query alone', peerValue, goal: { atMost: LIST_GOAL } })
  }
}

async function wholes({ figure }: BenchContext, base: string): Promise<void> {
  const months: number[] = []
  for (let round = 0; round < ROUNDS; round++) await timed(months, () => read(`${base}/reconciliation?month=2026-06`))
  const month = { value: p99(months), unit: 'ms', peer: 'goal', peerValue: MONTH_GOAL_MS }
  figure({ name: 'a month of 100,000 invoices, slowest', ...month, goal: { atMost: 1 } })

  globalThis.gc?.()
  const before = process.memoryUsage.rss()
  let [most, lines] = [0, 0]
  const { body } = await fetch(`${base}/export.csv`)
  for await (const chunk of body ?? []) {
    lines += chunk.reduce((count: number, byte: number) => count + (byte === 10 ? 1 : 0), 0)
    most = Math.max(most, process.memoryUsage.rss() - before)
  }
  if (lines !== INVOICES + 1) throw new Error(`the export has ${lines} lines`)
  const memory = { value: most / 1e6, unit: 'MB', peer: 'goal', peerValue: EXPORT_GOAL_MB }
  figure({ name: 'export of 100,000 invoices, memory', ...memory, goal: { atMost: 1 } })
}

export async function bench(context: BenchContext): Promise<void> {
  const dataDir = join(context.scratch, 'pg')
  const postgres = await startPostgres({ dataDir, owner: `bench-${process.pid}`, durable: true })
  const pg = makePg({ url: postgres.url })
  try {
    await migrate(postgres.url)
    context.progress.line(`  ${INVOICES} invoices are written`)
    await query(postgres.url, FILL)
    await query(postgres.url, 'vacuum analyze')
    const { server, base } = await serve(pg)
    await lists(context, pg, base)
    await wholes(context, base)
    server.close()
  } finally {
    await pg.close()
    await postgres.stop()
    removeData(dataDir)
  }
}
