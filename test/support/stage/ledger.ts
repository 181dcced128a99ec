import { makeFreezeSend } from '../../../controllers/store/invoice/look.ts'
import { type Ledger, makeLedger, type Send } from '../../../controllers/store/ledger/ledger.ts'
import type { NumberClaim } from '../../../controllers/store/ledger/register.ts'
import { takeEpoch } from '../../../controllers/store/pg/fence.ts'
import { makePg, type Pg } from '../../../controllers/store/pg/pg.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { eventually } from './invoicing.ts'
import { type Database, makeDatabase } from './stage.ts'

/** A claim with everything filled in; `number` makes its resource. */
export const aClaim = (number: number | string, over: Partial<NumberClaim> = {}): NumberClaim => ({
  resource: `bottega/inv-${number}`,
  uid: `uid-${number}`,
  series: { id: 'demo/INV/026', account: 'demo', prefix: 'INV-026-' },
  kind: 'invoice',
  totalCents: 192_000,
  currency: 'EUR',
  issuedAt: '2026-11-21T09:30:00.000Z',
  payload: { totalCents: 192_000, currency: 'EUR' },
  ...over,
})

/** 1..n, for comparing. */
export const upTo = (n: number): number[] => Array.from({ length: n }, (_, index) => index + 1)

/** Until a statement of this database waits for a lock that another transaction holds. */
export const somebodyWaits = async (url: string): Promise<void> => {
  const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
  await eventually('somebody to wait for a lock', async () => (await query(url, waiting)).length > 0)
}

/** Freezes a send of the account demo, and says whether it is new. */
export const freezing = (deps: { pg: Pg; epoch: () => number }) => {
  const freeze = makeFreezeSend(deps)
  return async (send: Send) => (await freeze(send, { account: 'demo', issuer: 'iss-default' })).result
}

export type Leader = { ledger: Ledger; freeze: ReturnType<typeof freezing>; pg: Pg; epoch: number }
export type LedgerStage = {
  database: Database
  lead(): Promise<Leader>
  sql: (text: string) => Promise<unknown>
  end(): Promise<void>
}

/** A database of its own; each leader has a pool of its own. */
export const makeLedgerStage = async (): Promise<LedgerStage> => {
  const database = await makeDatabase()
  const pools: Pg[] = []
  return {
    database,
    async lead() {
      const pg = makePg({ url: database.url })
      pools.push(pg)
      const epoch = await takeEpoch(pg, 'test')
      const deps = { pg, epoch: () => epoch }
      return { ledger: makeLedger(deps), freeze: freezing(deps), pg, epoch }
    },
    sql: (text) => query(database.url, text),
    async end() {
      for (const pg of pools) await pg.close()
      await database.drop()
    },
  }
}
