/** Connections as the package has them: their limits, and how values are read. */
import pg from 'pg'

const STATEMENT_TIMEOUT_MS = 15_000
const LOCK_TIMEOUT_MS = 5000
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 10_000
/**
 * How long a connection is kept that nobody needs. A new one costs a process of the server, a handshake (4,096 rounds of
 * PBKDF2) and every statement and function parsed and planned again: more than the statements of several sends.
 */
const IDLE_MS = 600_000
/** The client's own limit, for a server that stopped answering altogether. */
const ANSWER_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 3000

/**
 * Plans are kept for the life of a connection. A generic one spares planning each call anew (which costs more than a
 * commit), but it may have been made while a table was empty, so it must never rest on reading a whole table. What these
 * settings cannot forbid is a join that reads one: hot statements look rows up by key (any(array), lateral … limit 1).
 */
const SETTINGS = '-c jit=off -c plan_cache_mode=force_generic_plan -c enable_seqscan=off'

/** int8 as a number where that is exact; beyond 2^53 a bigint, so that nothing is ever rounded in silence. */
const readInt8 = (text: string): number | bigint => {
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : BigInt(text)
}
const readInstant = (text: string): string => {
  const at: Date = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ)(text)
  return at.toISOString()
}
const readAsIs = (text: string): string => text
const READERS: Record<number, (text: string) => unknown> = {
  [pg.types.builtins.INT8]: readInt8,
  [pg.types.builtins.TIMESTAMPTZ]: readInstant,
  [pg.types.builtins.DATE]: readAsIs,
}
const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    (format !== 'binary' && READERS[oid]) || pg.types.getTypeParser(oid, format),
} as pg.CustomTypesConfig

export type PgClient = pg.Client
export type ConnectionOptions = { url: string; applicationName: string; connectTimeoutMs: number }

const baseOf = ({ url, applicationName, connectTimeoutMs }: ConnectionOptions) => ({
  connectionString: url,
  application_name: applicationName,
  keepAlive: true,
  types,
  connectionTimeoutMillis: connectTimeoutMs,
})

/** A connection of its own, not connected yet. */
export const makeClient = (options: ConnectionOptions): PgClient =>
  new pg.Client({ ...baseOf(options), query_timeout: options.connectTimeoutMs })

/** At most `max` connections, none of them open yet. */
export const makePool = (
  options: ConnectionOptions,
  max: number,
  onConnectionError: (error: Error) => void,
): pg.Pool => {
  const pool = new pg.Pool({
    ...baseOf(options),
    max,
    options: SETTINGS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    lock_timeout: LOCK_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_MS,
  })
  // Both handlers are needed: without the first an idle connection that the server closes ends the process, without the
  // second a busy one does (57P01 arrives as an 'error' event).
  pool.on('error', onConnectionError)
  pool.on('connect', (client) => client.on('error', onConnectionError))
  return pool
}
