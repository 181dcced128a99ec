import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { makeAuth } from '../../api/auth/auth.ts'
import { makeTokenStore, type TokenStore } from '../../api/auth/token-store.ts'
import { keysOfOne } from '../../controllers/base/keys.ts'
import { migrate } from '../../controllers/store/pg/migrate.ts'
import { makePg } from '../../controllers/store/pg/pg.ts'
import { removeData } from '../platform/pgfiles.ts'
import { query, startPostgres } from '../platform/postgres.ts'
import { type BenchContext, median } from './sides/figure.ts'
import { measureGate } from './sides/gate.ts'

/**
 * What it costs to find out who calls, and to let a visitor of a private app in: warm (remembered) and cold (looked up), beside the read of one row by
 * its key, on the same pool.
 */

/** One row by its key: what a look-up costs at the least. */
const BARE = 'select id, account, secret_hash from tokens where id = $1'
const WARM_GOAL_US = 100
const TOKENS = 100
const ACCOUNTS = 50
const WARM = 20_000
const COLD = 200
const ROUNDS = 10
const FILLER = 100_000

/** Tables as big as those of a service that is used, so that an index is worth something. */
const FILL = `
insert into tokens (id, account, name, secret_hash)
  select 'filler-' || n, 'account-' || n, 'filler', decode(repeat('00', 32), 'hex') from generate_series(1, ${FILLER}) n;
insert into mirror (kind, name, account, uid, generation, observed_generation, view, created_at, updated_at)
  select 'Account', 'account-' || n, 'account-' || n, 'uid-' || n, 1, 1, '{"role":"member","capabilities":[],"teams":[]}',
    now(), now()
  from generate_series(1, ${FILLER}) n;
`

async function mintAll(store: TokenStore): Promise<string[]> {
  const made: string[] = []
  for (let n = 0; n < TOKENS; n += 1) {
    const account = `account-${(n % ACCOUNTS) + 1}`
    const minted = await store.mint({
      account,
      name: 'bench',
      scopes: ['invoices:read'],
      preset: null,
      expiresAt: null,
    })
    if (minted) made.push(`Bearer ${minted.secret}`)
  }
  return made
}

/** Milliseconds of each turn, one after another. */
async function timed(turns: number, run: (turn: number) => Promise<unknown>): Promise<number[]> {
  const took: number[] = []
  for (let turn = 0; turn < turns; turn += 1) {
    const startedMs = performance.now()
    await run(turn)
    took.push(performance.now() - startedMs)
  }
  return took
}

async function measure({ figure, progress }: BenchContext, url: string): Promise<void> {
  let statements = 0
  const pg = makePg({
    url,
    around: (_call, run) => {
      statements += 1
      return run()
    },
  })
  try {
    const keys = keysOfOne(randomBytes(32))
    const auth = makeAuth({ pg, keys, nowMs: () => performance.now() })
    const headers = await mintAll(makeTokenStore({ pg, keys }))
    const check = (turn: number) => auth.authenticate({ authorization: headers[turn % headers.length] })

    // In turns, so that both meet the same weather.
    const bare: number[] = []
    const cold: number[] = []
    const before = statements
    for (let round = 0; round < ROUNDS; round += 1) {
      bare.push(...(await timed(COLD, () => pg.query('bench_bare', BARE, [`filler-${bare.length + 1}`]))))
      const forgetful = (turn: number) => {
        auth.forget(null)
        return check(turn)
      }
      cold.push(...(await timed(COLD, forgetful)))
    }
    const perCold = (statements - before - bare.length) / cold.length
    if (perCold !== 1) throw new Error(`a cold check took ${perCold} statements`)
    await timed(headers.length, check)
    const warmed = statements
    const warm = await timed(WARM, check)
    if (statements !== warmed) throw new Error('a warm check asked the database')

    progress.line('  one statement per cold check, none per warm one')
    const goal = { value: median(warm) * 1000, unit: 'µs', peer: 'goal', peerValue: WARM_GOAL_US, goal: { atMost: 1 } }
    figure({ name: 'token check, warm, p50', ...goal })
    figure({
      name: 'token check, cold, p50',
      value: median(cold),
      unit: 'ms',
      peer: 'one row by its key',
      peerValue: median(bare),
      goal: { atMost: 3 },
    })
  } finally {
    await pg.close()
  }
}

export async function bench(context: BenchContext): Promise<void> {
  const dataDir = join(context.scratch, 'pg')
  const postgres = await startPostgres({ dataDir, owner: `bench-${process.pid}`, durable: true })
  try {
    await migrate(postgres.url)
    await query(postgres.url, FILL)
    // Else the server tidies up by itself while we measure.
    await query(postgres.url, 'vacuum analyze')
    await measure(context, postgres.url)
    await measureGate(context, postgres.url)
  } finally {
    await postgres.stop()
    removeData(dataDir)
  }
}
