import { spawnSync } from 'node:child_process'
import { createHmac, randomBytes } from 'node:crypto'
import {
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import pg from 'pg'
import { freePort, isFree } from '../lib/ports.ts'
import { createService, endProcesses, type Service, startOf, tailOf, waitFor } from '../lib/processes.ts'
import { CommandRefusal, messageOf } from '../lib/refusal.ts'
import { dataPlace, type PostgresUser, postgresBinaries, postgresUser } from './pgfiles.ts'

export type PostgresOptions = {
  /** Desired data folder; see pgfiles.ts for where it really lies when the user postgres cannot enter it. */
  dataDir: string
  owner: string
  logDir?: string
  /** The port to try first; another one is drawn when it is taken, unless `fixedPort`. */
  port?: number
  /** False only for throw-away data: a crash of the machine may then lose or damage it. */
  durable?: boolean
  /** Beside loopback: an address of this machine to listen on, and the network that may call there (with the password). */
  reach?: { address: string; from: string }
}

export type Postgres = {
  /** The superuser's connection string, database `postgres`. */
  url: string
  port: number
  /** Different for every newly made cluster: what is kept elsewhere about its rows goes with this. */
  clusterId: string
  service: Service
  pid(): number | null
  start(): Promise<void>
  stop(): Promise<void>
  kill(): Promise<void>
}

const readyMs = 120_000
const portDraws = 5
const passwordFile = 'bottega.password'

const alwaysOn = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '300',
  shared_buffers: '128MB',
  max_wal_size: '2GB',
  log_line_prefix: '%m [%p] ',
}
/** synchronous_commit stays on: Bottega refuses to start without it, and with fsync off it costs next to nothing. */
const throwAway = { fsync: 'off', full_page_writes: 'off' }

/**
 * Starts the PostgreSQL that npm brought, on loopback only, with scram passwords; makes its data folder on first use and
 * ends what a crash left running on it. As root it runs as the user `postgres`.
 */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const user = postgresUser()
  const binaries = postgresBinaries(user)
  const dataDir = dataPlace(options.dataDir, user)
  mkdirSync(dirname(dataDir), { recursive: true })
  if (!existsSync(join(dataDir, 'PG_VERSION'))) initialise({ binaries, dataDir, user })
  await endLeftover(dataDir)
  const password = readFileSync(join(dataDir, passwordFile), 'utf8')
  for (let draw = 1; ; draw += 1) {
    const port = await freePort(draw === 1 ? options.port : undefined)
    const url = `postgresql://postgres:${password}@127.0.0.1:${port}/postgres`
    const service = postgresService(options, { binaries, dataDir, user, port, url })
    try {
      await service.start()
      const clusterId = await readClusterId(url)
      const { start, stop, kill, pid } = service
      return { url, port, clusterId, service, start, stop, kill, pid }
    } catch (error) {
      if (draw === portDraws || (await isFree(port)) || !tailOf(service.logFile).includes('Address already in use'))
        throw error
    }
  }
}

type Place = { binaries: string; dataDir: string; user: PostgresUser }

/** Makes the cluster beside its final place, so that a folder with the final name is always a whole one. */
function initialise({ binaries, dataDir, user }: Place): void {
  const partial = `${dataDir}.partial`
  rmSync(partial, { recursive: true, force: true })
  rmSync(dataDir, { recursive: true, force: true })
  mkdirSync(partial, { mode: 0o700 })
  const password = randomBytes(18).toString('hex')
  const given = `${partial}.password`
  writeFileSync(given, password, { mode: 0o600 })
  if (user !== null) for (const path of [partial, given]) chownSync(path, user.uid, user.gid)
  const flags = [
    '-D',
    partial,
    '-U',
    'postgres',
    `--pwfile=${given}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C.UTF-8',
  ]
  const { status, stderr, error } = spawnSync(join(binaries, 'initdb'), flags, { ...user, cwd: '/', encoding: 'utf8' })
  if (status !== 0) {
    rmSync(given, { force: true })
    throw new CommandRefusal(`PostgreSQL could not make its data folder ${dataDir} (see above).`, {
      detail: error ? messageOf(error) : stderr.trim(),
    })
  }
  renameSync(given, join(partial, passwordFile))
  renameSync(partial, dataDir)
}

/** A SIGKILL of the process that started PostgreSQL leaves it running, and a second one refuses the data folder. */
async function endLeftover(dataDir: string): Promise<void> {
  const file = join(dataDir, 'postmaster.pid')
  if (!existsSync(file)) return
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0])
  const start = startOf(pid)
  if (start === null || !runsOn(pid, dataDir)) return
  await endProcesses([{ pid, start }])
}

/** The pid in postmaster.pid may belong to anything by now: a postmaster's working directory is its data folder. */
function runsOn(pid: number, dataDir: string): boolean {
  try {
    return (
      readlinkSync(`/proc/${pid}/cwd`) === dataDir && basename(readlinkSync(`/proc/${pid}/exe`)).startsWith('postgres')
    )
  } catch {
    return false
  }
}

function postgresService(options: PostgresOptions, place: Place & { port: number; url: string }): Service {
  const { dataDir, port, user, binaries, url } = place
  const { logDir = dirname(options.dataDir), durable = true, owner, reach } = options
  const logFile = join(logDir, 'postgres.log')
  const reached = reach && { ...reachedFrom(reach.from, place), listen_addresses: `127.0.0.1,${reach.address}` }
  const settings = { ...alwaysOn, port: String(port), ...(durable ? {} : throwAway), ...reached }
  const args = ['-D', dataDir, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
  return createService({
    name: 'postgres',
    logFile,
    stopSignal: 'SIGINT', // the fast shutdown: clients are cut off, the data is written
    launch: () => ({ name: 'postgres', command: join(binaries, 'postgres'), args, owner, logFile, cwd: '/', ...user }),
    ready: (signal) => waitFor('PostgreSQL', () => accepts(url), { timeoutMs: readyMs, signal }),
  })
}

/** Who may call is a file; the one that initdb made knows loopback only. */
function reachedFrom(network: string, { dataDir, user }: Place): { hba_file: string } {
  const file = join(dataDir, 'bottega.hba')
  const lines = ['127.0.0.1/32', network].map((from) => `host all all ${from} scram-sha-256\n`)
  writeFileSync(file, lines.join(''), { mode: 0o600 })
  if (user !== null) chownSync(file, user.uid, user.gid)
  return { hba_file: file }
}

async function accepts(url: string): Promise<boolean> {
  try {
    await query(url, 'select 1')
    return true
  } catch {
    return false
  }
}

async function readClusterId(url: string): Promise<string> {
  const [row] = await query(url, 'select system_identifier::text as id from pg_control_system()')
  return String(row?.id)
}

type Row = Record<string, unknown>
type RunStatement = (sql: string, values?: readonly unknown[]) => Promise<Row[]>

/** The two are there, and left out of the types: an open connection alone keeps no process alive. */
type Client = pg.Client & { ref(): void; unref(): void }

async function connect(url: string): Promise<Client> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 }) as Client
  client.on('error', () => {}) // the query fails when the server stops under us; without a handler this would end the process
  await client.connect()
  return client
}

/** Runs `work` on one connection, which ends with it (and with it the locks that the session holds). */
export async function withConnection<T>(url: string, work: (run: RunStatement) => Promise<T>): Promise<T> {
  const client = await connect(url)
  try {
    return await work(async (sql, values = []) => (await client.query(sql, [...values])).rows)
  } finally {
    await client.end()
  }
}

const apiRole = 'bottega_api'

/** The api's way to a database: its own role, whose password follows from the owner's, so that every start knows it. */
export function apiUrlOf(ownerUrl: string): string {
  const url = new URL(ownerUrl)
  url.password = createHmac('sha256', url.password).update(apiRole).digest('hex').slice(0, 36)
  url.username = apiRole
  return url.href
}

/** A connection costs its server a process; whoever waits for something asks every 50 ms. */
const IDLE_MS = 300
type Idle = { client: Client; timer: NodeJS.Timeout }
const idle = new Map<string, Idle>()

const taken = (url: string): Client | undefined => {
  const one = idle.get(url)
  if (!one) return undefined
  idle.delete(url)
  clearTimeout(one.timer)
  one.client.ref()
  return one.client
}

const leaves = (url: string, client: Client): void => {
  if (idle.get(url)?.client === client) idle.delete(url)
}

const rests = async (url: string, client: Client): Promise<void> => {
  if (idle.has(url)) return client.end()
  const timer = setTimeout(() => void taken(url)?.end(), IDLE_MS)
  timer.unref()
  client.unref()
  idle.set(url, { client, timer })
}

/** Nobody may be connected to a database that is copied, renamed or dropped. */
const OF_DATABASES = /^\s*(create|alter|drop)\s+database\b/i

const READS = /^\s*select\b/i
/** Not an answer to the statement. */
const isCut = (error: unknown): boolean => {
  const { code = '' } = error as { code?: string }
  return !/^[0-9A-Z]{5}$/.test(code) || code.startsWith('57P')
}

/** One statement; the next one to the same database, if it comes soon, goes over the same connection. */
export async function query(url: string, sql: string, values: readonly unknown[] = []): Promise<Row[]> {
  if (OF_DATABASES.test(sql)) await Promise.all([...idle.keys()].map((one) => taken(one)?.end()))
  const known = taken(url)
  const client = known ?? (await connect(url))
  if (!known) client.on('end', () => leaves(url, client))
  try {
    const { rows } = await client.query(sql, [...values])
    await rests(url, client)
    return rows
  } catch (error) {
    await client.end()
    // its server went while it rested, and what only reads may be asked twice
    if (known && isCut(error) && READS.test(sql)) return query(url, sql, values)
    throw error
  }
}
