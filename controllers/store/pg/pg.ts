/**
 * The one door to PostgreSQL (the only importer of `pg`).
 * A restart of the database never ends the process: what was in flight fails with DatabaseUnavailable (its outcome is
 * unknown, so every statement of ours is safe to repeat), and the pool connects again by itself.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { STALE_EPOCH_STATE, StaleEpoch } from '../../base/errors.ts'
import { type ConnectionOptions, makeClient, makePool } from './client.ts'
import { type Listener, openListener } from './listen.ts'

/** How long a caller waits for a connection before it gets DatabaseUnavailable. */
export const CONNECT_TIMEOUT_MS = 2000
const START_WAIT_MS = 60_000
const START_PAUSE_MS = 500
const POOL_MAX = 10
/** Deadlocks and serialization failures are rolled back by the server, so repeating them is safe. */
const RETRIES_MAX = 3

/**
 * Runs one statement. With `values` it is prepared once per connection under its name, which must always stand for the
 * same text. Without, the simple protocol is used, which takes several statements at once (migrations).
 */
export type Query = <Row = Record<string, unknown>>(
  name: string,
  text: string,
  values?: unknown[],
) => Promise<{ rows: Row[] }>
/** Stands round every statement, `begin` and `commit` included: counts, measures, or (in the crash sweep) dies. */
export type AroundQuery = <R>(call: { name: string; text: string }, run: () => Promise<R>) => Promise<R>

export type PgStats = {
  /** Connections now: open, idle, and callers that wait for one. */
  total: number
  idle: number
  waiting: number
  max: number
  /** Since the start. */
  statements: number
  unavailable: number
}

export type Pg = {
  query: Query
  /** One transaction on one connection. `work` may be repeated after a deadlock, so it must have no other effect. */
  tx<R>(work: (query: Query) => Promise<R>): Promise<R>
  /**
   * Hears what is notified on a channel, over a connection of its own that comes back by itself. Resolves once it
   * listens. `onReconnect` follows every later connection: something may have been missed, so look.
   * @param opening a statement that each connection begins with, as to hold a lock for as long as it lives
   */
  listen(
    channel: string,
    onPayload: (payload: string) => void,
    onReconnect?: () => void,
    opening?: string,
  ): Promise<Listener>
  /**
   * Throws unless a commit is on disk when it is acknowledged. Call it before the first ledger write. It waits START_WAIT_MS
   * for a database that does not serve yet. @throws DatabaseUnavailable after that
   */
  assertDurable(options?: { allowUnsafe?: boolean }): Promise<void>
  /** Answers within CONNECT_TIMEOUT_MS whether the database serves. */
  ready(): Promise<boolean>
  stats(): PgStats
  close(): Promise<void>
}

export type PgOptions = {
  url: string
  max?: number
  applicationName?: string
  connectTimeoutMs?: number
  around?: AroundQuery
  /** Told about connections that broke; they are replaced without anybody's help. */
  onConnectionError?: (error: Error) => void
}

/** The database cannot serve now: down, starting, full, out of connections, or too slow. REST answers 503. */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable'
  /** Nothing was sent, or the server itself gave the statement up. Else nobody knows whether it was done. */
  isUndone = false
}

/** The database understood and said no. The message never holds values; `constraint` names the rule that was broken. */
export class DatabaseRefused extends Error {
  override name = 'DatabaseRefused'
  readonly state: string
  readonly constraint: string | undefined
  constructor(message: string, state: string, constraint: string | undefined) {
    super(message)
    this.state = state
    this.constraint = constraint
  }
}

/** True for a refusal caused by the values of one item (class 22, 23 or our own `raise`), not by the database's health. */
export const isItemFault = (error: unknown): boolean =>
  error instanceof DatabaseRefused && /^(22|23|P0)/.test(error.state)

// 08 connection, 53 resources (disk full, memory, connections), 57P shutdown, 57014 statement timeout, 55P03 lock
// timeout, 25006 a replica after a failover, 58 and XX the system itself.
const UNAVAILABLE_STATE = /^(08|53|57P|57014|55P03|25006|25P03|58|XX)/
const REPEATABLE_STATE = /^(40001|40P01)$/
/** Whoever says so goes on, without what was asked: no room, too slow. FATAL and PANIC end the session, maybe after a commit. */
const ROLLED_BACK = 'ERROR'
/** A pooler in between speaks of its connection in the server's words. */
const CONNECTION_STATE = /^08/
const SQLSTATE = /^[0-9A-Z]{5}$/

type ServerError = { code: string; message: string; severity?: string; constraint?: string }
const isServerError = (error: unknown): error is ServerError =>
  error instanceof pg.DatabaseError && typeof error.code === 'string' && SQLSTATE.test(error.code)

/** What a failure of the driver means to callers. Anything that is not an answer of the server is unavailability. */
const translate = (error: unknown): Error => {
  if (isServerError(error)) {
    if (error.code === STALE_EPOCH_STATE) return new StaleEpoch(error.message)
    if (!UNAVAILABLE_STATE.test(error.code)) return new DatabaseRefused(error.message, error.code, error.constraint)
  }
  const reason = error instanceof Error ? error.message || error.name : String(error)
  const unavailable = new DatabaseUnavailable(`The database does not serve at the moment: ${reason}`, { cause: error })
  unavailable.isUndone = isServerError(error) && error.severity === ROLLED_BACK && !CONNECTION_STATE.test(error.code)
  return unavailable
}

/** A name or a text as it stands in a statement that takes no values (DDL). */
export const { escapeIdentifier, escapeLiteral } = pg

const NOT_DURABLE = `
select name, setting, source from pg_settings
where (name = 'synchronous_commit' and setting = 'off') or (name = 'fsync' and setting = 'off')
order by name`

/** What the functions of one pool share. */
type PoolState = {
  pool: pg.Pool
  around: AroundQuery
  counts: { statements: number; unavailable: number }
  onConnectionError: (error: Error) => void
}

const connect = async ({ pool, counts }: PoolState): Promise<pg.PoolClient> => {
  try {
    return await pool.connect()
  } catch (error) {
    counts.unavailable++
    const translated = translate(error)
    if (translated instanceof DatabaseUnavailable) translated.isUndone = true
    throw translated
  }
}

const queryOn =
  ({ around, counts }: PoolState, client: pg.PoolClient): Query =>
  <Row>(name: string, text: string, values?: unknown[]): Promise<{ rows: Row[] }> =>
    around({ name, text }, async () => {
      counts.statements++
      try {
        const { rows } = await client.query(values === undefined ? text : { name, text, values })
        return { rows: rows as Row[] }
      } catch (error) {
        const translated = translate(error)
        if (translated instanceof DatabaseUnavailable) counts.unavailable++
        throw translated
      }
    })

/** Lends a connection; one whose state is not known afterwards is thrown away, never reused. */
const lend = async <R>(state: PoolState, work: (query: Query) => Promise<R>): Promise<R> => {
  const client = await connect(state)
  let usable = false
  try {
    const result = await work(queryOn(state, client))
    usable = true
    return result
  } catch (error) {
    usable = error instanceof StaleEpoch || error instanceof DatabaseRefused
    throw error
  } finally {
    client.release(!usable)
  }
}

const repeating = async <R>(run: () => Promise<R>): Promise<R> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run()
    } catch (error) {
      const again = error instanceof DatabaseRefused && REPEATABLE_STATE.test(error.state) && attempt < RETRIES_MAX
      if (!again) throw error
      await sleep(5 * attempt + Math.random() * 10)
    }
  }
}

/** A process may be up before its database serves. */
const whenServing = async <R>({ onConnectionError }: PoolState, run: () => Promise<R>): Promise<R> => {
  for (const endMs = performance.now() + START_WAIT_MS; ; await sleep(START_PAUSE_MS)) {
    try {
      return await run()
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable) || performance.now() > endMs) throw error
      onConnectionError(error)
    }
  }
}

const inTransaction = async <R>(run: Query, work: (query: Query) => Promise<R>): Promise<R> => {
  await run('begin', 'begin')
  try {
    const result = await work(run)
    await run('commit', 'commit')
    return result
  } catch (error) {
    // A refusal leaves the connection usable once rolled back; after anything else `lend` throws it away.
    if (error instanceof StaleEpoch || error instanceof DatabaseRefused) await run('rollback', 'rollback')
    throw error
  }
}

const assertDurable = async (state: PoolState, query: Query): Promise<void> => {
  const { rows: weak } = await whenServing(state, () =>
    query<{ name: string; setting: string; source: string }>('assert_durable', NOT_DURABLE),
  )
  if (weak.length === 0) return
  const found = weak.map((row) => `${row.name}=${row.setting} (set by: ${row.source})`).join(' and ')
  throw new Error(
    `The ledger refuses to start: ${found} on this database. An acknowledged invoice number could be lost in a ` +
      'crash and given twice. Set it to on for the server, the database and the role, then start again.',
  )
}

/** Opens a pool lazily: the first statement connects. */
export const makePg = (options: PgOptions): Pg => {
  const { url, max = POOL_MAX, applicationName = 'bottega', connectTimeoutMs = CONNECT_TIMEOUT_MS } = options
  const { around = (_call, run) => run(), onConnectionError = () => {} } = options
  const connection: ConnectionOptions = { url, applicationName, connectTimeoutMs }
  const counts = { statements: 0, unavailable: 0 }
  const pool = makePool(connection, max, onConnectionError)
  const state: PoolState = { pool, around, counts, onConnectionError }
  const query: Query = (name, text, values) => repeating(() => lend(state, (run) => run(name, text, values)))

  return {
    query,
    tx: (work) => repeating(() => lend(state, (run) => inTransaction(run, work))),
    listen: (channel, onPayload, onReconnect = () => {}, opening = '') =>
      openListener(() => makeClient(connection), channel, { onPayload, onReconnect, onConnectionError }, opening),
    async assertDurable({ allowUnsafe = false } = {}) {
      if (!allowUnsafe) await assertDurable(state, query)
    },
    ready: () =>
      query('ready', 'select 1').then(
        () => true,
        () => false,
      ),
    stats: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount, max, ...counts }),
    close: () => pool.end(),
  }
}
