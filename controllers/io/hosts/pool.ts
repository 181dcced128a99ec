/**
 * The connections to one host: one or two, a bounded number of channels on each, and a lane that long work never fills.
 * A connection is never cut under live channels: it is retired, and ends with the last of them. Each use shows its
 * health, so nothing is polled (rules/host.md#connections).
 */
import { ChannelLost, type Connection, SshRefused } from './ssh.ts'

export const CONNECTIONS_MAX = 2
/** OpenSSH allows 10 sessions on a connection; others may use the same account. */
export const CHANNELS_MAX = 8
/** Of each connection's channels these are for looking and cancelling alone. */
const STATUS_CHANNELS = 1
const IDLE_MS = 300_000
/** After the second connection was refused the first one serves alone for so long. */
const REFUSED_MS = 10_000

export type Lane = 'work' | 'status'

export type Pool = {
  /**
   * Lends a connection with room for one more channel. What was lost before it started is tried once more, because a
   * connection that broke while nobody used it is found out only now.
   * @throws SshRefused, ChannelLost, or what `work` throws
   */
  use<T>(lane: Lane, signal: AbortSignal, work: (connection: Connection) => Promise<T>): Promise<T>
  /** Nothing new is lent; each connection ends with its last channel. Resolves when all have ended. */
  drain(): Promise<void>
  stats(): { connections: number; channels: number; waiting: number }
}

type Member = { connection: Connection; live: number; limit: number; idle: NodeJS.Timeout | undefined }
type Waiter = { lane: Lane; resolve: (member: Member) => void; reject: (error: unknown) => void }

export type PoolOptions = {
  connect: (signal: AbortSignal) => Promise<Connection>
  connectionsMax?: number
  channelsMax?: number
  idleMs?: number
  nowMs?: () => number
}

type PoolState = Required<PoolOptions> & {
  members: Set<Member>
  waiting: Waiter[]
  ending: AbortController
  /** Every connection has ended after `ending`. */
  drained: PromiseWithResolvers<void>
  isOpening: boolean
  refusedUntilMs: number
}

const roomFor = ({ members }: PoolState, lane: Lane): Member | undefined => {
  const spare = lane === 'status' ? 0 : STATUS_CHANNELS
  return [...members].find(({ connection, live, limit }) => connection.isOpen() && live < limit - spare)
}

const resolveDrained = ({ ending, members, isOpening, drained }: PoolState): void => {
  if (ending.signal.aborted && members.size === 0 && !isOpening) drained.resolve()
}

const drop = (pool: PoolState, member: Member): void => {
  clearTimeout(member.idle)
  pool.members.delete(member)
  member.connection.end()
  resolveDrained(pool)
}

const settle = (pool: PoolState, member: Member): void => {
  if (member.live > 0) return
  if (!member.connection.isOpen() || pool.ending.signal.aborted) {
    drop(pool, member)
    return
  }
  member.idle = setTimeout(() => drop(pool, member), pool.idleMs)
  member.idle.unref()
}

const lendWaiting = (pool: PoolState): void => {
  const left: Waiter[] = []
  for (const waiter of pool.waiting) {
    const member = roomFor(pool, waiter.lane)
    if (!member) {
      left.push(waiter)
      continue
    }
    clearTimeout(member.idle)
    member.live += 1
    waiter.resolve(member)
  }
  pool.waiting = left
}

const refuseAll = (pool: PoolState, error: unknown): void => {
  const refused = pool.waiting
  pool.waiting = []
  for (const { reject } of refused) reject(error)
}

const open = async (pool: PoolState): Promise<void> => {
  pool.isOpening = true
  try {
    const connection = await pool.connect(pool.ending.signal)
    const member: Member = { connection, live: 0, limit: pool.channelsMax, idle: undefined }
    pool.members.add(member)
    connection.onEnd(() => {
      // Its channels end by themselves; the last of them drops it.
      if (member.live === 0) drop(pool, member)
      pump(pool)
    })
    settle(pool, member)
  } catch (error) {
    pool.refusedUntilMs = pool.nowMs() + REFUSED_MS
    if (pool.members.size === 0) refuseAll(pool, error)
  } finally {
    pool.isOpening = false
    pump(pool)
    resolveDrained(pool)
  }
}

const pump = (pool: PoolState): void => {
  const { members, nowMs } = pool
  lendWaiting(pool)
  if (pool.waiting.length === 0 || pool.isOpening || members.size >= pool.connectionsMax) return
  if (members.size > 0 && nowMs() < pool.refusedUntilMs) return
  void open(pool)
}

const borrow = (pool: PoolState, lane: Lane, signal: AbortSignal): Promise<Member> =>
  new Promise((resolve, reject) => {
    if (pool.ending.signal.aborted) return reject(closedError())
    const waiter: Waiter = { lane, resolve, reject }
    signal.addEventListener(
      'abort',
      () => {
        pool.waiting = pool.waiting.filter((one) => one !== waiter)
        reject(signal.reason)
      },
      { once: true },
    )
    pool.waiting.push(waiter)
    pump(pool)
  })

const closedError = () => new SshRefused('unreachable', 'the connections to the host are closed')

/** The host takes fewer channels than we thought: this connection gets no more than it has. */
const lowerLimit = ({ members }: PoolState, member: Member): void => {
  if (member.connection.isOpen()) member.limit = Math.max(1 + STATUS_CHANNELS, member.live - 1)
  else members.delete(member)
}

const useOnce = async <T>(
  pool: PoolState,
  lane: Lane,
  signal: AbortSignal,
  work: (connection: Connection) => Promise<T>,
): Promise<T> => {
  const member = await borrow(pool, lane, signal)
  try {
    return await work(member.connection)
  } catch (error) {
    if (error instanceof ChannelLost && error.outcome === 'unstarted') lowerLimit(pool, member)
    throw error
  } finally {
    member.live -= 1
    settle(pool, member)
    pump(pool)
  }
}

const drain = (pool: PoolState): Promise<void> => {
  pool.ending.abort()
  refuseAll(pool, closedError())
  for (const member of [...pool.members]) settle(pool, member)
  resolveDrained(pool)
  return pool.drained.promise
}

export const makePool = (options: PoolOptions): Pool => {
  const pool: PoolState = {
    connectionsMax: CONNECTIONS_MAX,
    channelsMax: CHANNELS_MAX,
    idleMs: IDLE_MS,
    nowMs: () => performance.now(),
    ...options,
    members: new Set(),
    waiting: [],
    ending: new AbortController(),
    drained: Promise.withResolvers(),
    isOpening: false,
    refusedUntilMs: 0,
  }
  return {
    use: (lane, signal, work) =>
      useOnce(pool, lane, signal, work).catch((error) => {
        if (!(error instanceof ChannelLost) || error.outcome !== 'unstarted' || signal.aborted) throw error
        return useOnce(pool, lane, signal, work)
      }),
    drain: () => drain(pool),
    stats: () => ({
      connections: pool.members.size,
      channels: [...pool.members].reduce((sum, { live }) => sum + live, 0),
      waiting: pool.waiting.length,
    }),
  }
}
