import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { type Ledger, makeLedger } from '../../controllers/store/ledger/ledger.ts'
import { takeEpoch } from '../../controllers/store/pg/fence.ts'
import { migrate } from '../../controllers/store/pg/migrate.ts'
import { makePg } from '../../controllers/store/pg/pg.ts'
import { removeData } from '../platform/pgfiles.ts'
import { query, startPostgres } from '../platform/postgres.ts'
import { type BenchContext, median } from './sides/figure.ts'
import { ensurePgbench, pgbench } from './sides/pgbench.ts'

/**
 * Gap-free numbers on one series through our ledger, beside (a) a row lock per commit, which is what most systems do,
 * and (b) a gappy sequence, which is what the others do. One PostgreSQL with fsync on, alternating rounds, medians.
 */

const ROUNDS = 3
const SECONDS = 6
const PEER_SECONDS = 3
const CALLERS = [1, 64, 512]

const PEER_TABLES = `
create table peer_series (id int primary key, last bigint not null) with (fillfactor = 40);
insert into peer_series values (1, 0);
create sequence peer_sequence;
create table peer_invoice (
  number bigint primary key, resource text not null unique, total_cents bigint not null, issued_at timestamptz not null
);
create table peer_outbox (id bigint generated always as identity primary key, number bigint not null, body text not null);
`
const INVOICE = (number: string) => `values (${number}, 'ns/inv-' || ${number}, 192000, now())`
const ROW_LOCK = `begin;
update peer_series set last = last + 1 where id = 1 returning last \\gset
insert into peer_invoice ${INVOICE(':last')};
insert into peer_outbox (number, body) values (:last, 'mail');
commit;
`
const ROW_LOCK_CTE = `with n as (update peer_series set last = last + 1 where id = 1 returning last),
i as (insert into peer_invoice select last, 'ns/inv-' || last, 192000, now() from n returning number)
insert into peer_outbox (number, body) select number, 'mail' from i;
`
const SEQUENCE = `with n as (select nextval('peer_sequence') as last),
i as (insert into peer_invoice select last, 'ns/inv-' || last, 192000, now() from n returning number)
insert into peer_outbox (number, body) select number, 'mail' from i;
`
/** Which of the two spellings is faster differs by machine: the better one is the peer. */
const ROW_LOCKS = [
  { name: 'row lock per commit', script: ROW_LOCK },
  { name: 'row lock in one statement', script: ROW_LOCK_CTE },
]
const rowLocks = (clients: number) =>
  ROW_LOCKS.map(({ name, script }) => ({
    name: `${name}, ${clients} ${clients === 1 ? 'client' : 'clients'}`,
    script,
    clients,
  }))
/** One caller is measured beside one client, many beside many. */
const LONE = rowLocks(1)
const MANY = rowLocks(16)
const GAPPY = { name: 'gappy sequence, 16 clients', script: SEQUENCE, clients: 16 }

const SERIES = { id: 'bench', account: 'bench', prefix: 'INV-026-' }
let claims = 0

/** So many callers claim one after another for so long. Gives claims per second. */
async function claimLoad(ledger: Ledger, callers: number, seconds: number): Promise<number> {
  const startMs = performance.now()
  const endMs = startMs + seconds * 1000
  let done = 0
  const caller = async () => {
    while (performance.now() < endMs) {
      claims += 1
      await ledger.claimNumber({
        resource: `bench/inv-${claims}`,
        uid: `uid-${claims}`,
        series: SERIES,
        kind: 'invoice',
        totalCents: 192_000,
        currency: 'EUR',
        issuedAt: new Date().toISOString(),
        payload: {
          totalCents: 192_000,
          currency: 'EUR',
          clientEmail: 'billing@acme.test',
          issuerId: 'default',
          test: false,
          send: true,
        },
      })
      done += 1
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  return (done * 1000) / (performance.now() - startMs)
}

type Rounds = Map<string, number[]>
type Setup = BenchContext & { url: string }

/** Each load on a database of its own, so that both sides begin on empty tables and nobody pays for what stood before. */
async function oneRound({ url, scratch }: Setup, rounds: Rounds): Promise<void> {
  const note = (name: string, value: number) => void rounds.set(name, [...(rounds.get(name) ?? []), value])
  for (const [index, peer] of [...LONE, ...MANY, GAPPY].entries()) {
    await query(url, 'truncate peer_invoice, peer_outbox')
    await query(url, 'checkpoint')
    note(peer.name, await pgbench({ url, folder: scratch, ...peer, name: `peer-${index}`, seconds: PEER_SECONDS }))
  }
  for (const callers of CALLERS) {
    const seconds = callers === 1 ? PEER_SECONDS : SECONDS
    note(`ours ${callers}`, await onEmptyLedger(url, (ledger) => claimLoad(ledger, callers, seconds)))
  }
}

async function onEmptyLedger(serverUrl: string, load: (ledger: Ledger) => Promise<number>): Promise<number> {
  const name = `ledger_${randomUUID().replaceAll('-', '')}`
  await query(serverUrl, `create database ${name}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  await migrate(url.href)
  const pg = makePg({ url: url.href })
  try {
    await pg.assertDurable()
    const epoch = await takeEpoch(pg, 'bench')
    const ledger = makeLedger({ pg, epoch: () => epoch })
    await query(serverUrl, 'checkpoint')
    const before = claims
    const rate = await load(ledger)
    await demandGapFree(url.href, ledger, claims - before)
    return rate
  } finally {
    await pg.close()
    await query(serverUrl, `drop database ${name} with (force)`)
  }
}

/** The whole point of the exercise: as fast as this, and still 1..n. */
async function demandGapFree(url: string, ledger: Ledger, wanted: number): Promise<void> {
  const [row] = await query(
    url,
    'select count(*)::int as count, count(distinct number)::int as numbers, max(seq)::int as last from register',
  )
  const found = await ledger.verify(SERIES.id)
  const whole = row?.count === wanted && row.numbers === wanted && row.last === wanted && found?.ok === true
  if (!whole) throw new Error(`the register is not whole: ${JSON.stringify({ wanted, row, found })}`)
}

function report({ figure, progress }: BenchContext, rounds: Rounds): void {
  const of = (name: string) => median(rounds.get(name) ?? [])
  for (const { name } of [...LONE, ...MANY, GAPPY]) progress.line(`  ${name}: ${Math.round(of(name))} /s`)
  const best = (peers: { name: string }[]) =>
    peers
      .map(({ name }) => ({ peer: name, peerValue: of(name) }))
      .reduce((first, one) => (one.peerValue > first.peerValue ? one : first))
  const ours = (callers: number) => ({
    name: `gap-free numbers on one series, ${callers} ${callers === 1 ? 'caller' : 'callers'}`,
    value: of(`ours ${callers}`),
    unit: '/s',
  })
  // Alone, a caller pays one commit, like everybody, and Node's share. The goals are about many: then numbers are scarce.
  figure({ ...ours(1), ...best(LONE), goal: { atLeast: 0.25 } })
  figure({ ...ours(64), ...best(MANY), goal: { atLeast: 5 } })
  figure({ ...ours(512), ...best(MANY), goal: { atLeast: 12 } })
  figure({ ...ours(512), peer: GAPPY.name, peerValue: of(GAPPY.name), goal: { atLeast: 2 } })
}

export async function bench(context: BenchContext): Promise<void> {
  const { progress, scratch } = context
  ensurePgbench()
  const dataDir = join(scratch, 'pg')
  const postgres = await startPostgres({ dataDir, owner: `bench-${process.pid}`, durable: true })
  const { url } = postgres
  try {
    await query(url, PEER_TABLES)
    const rounds: Rounds = new Map()
    const step = progress.step(`numbering: ${ROUNDS} rounds, about two minutes`)
    for (let round = 1; round <= ROUNDS; round += 1) {
      step.update(`round ${round} of ${ROUNDS}`, (round - 1) / ROUNDS)
      await oneRound({ ...context, url }, rounds)
    }
    step.done(`${claims} numbers, no hole, no repeat, the chain verifies`)
    report(context, rounds)
  } finally {
    await postgres.stop()
    removeData(dataDir)
  }
}
