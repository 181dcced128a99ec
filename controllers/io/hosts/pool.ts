/**
 * The connections to one host: one or two, a bounded number of channels on each, and a lane that long work never fills.
 * A connection is never cut under live channels: it is retired, and ends with the last of them. Its health is told by its
 * use, so nothing is polled (rules/host.md#connections).
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

export const makePool = (options: {
  connect: (signal: AbortSignal) => Promise<Connection>
  connectionsMax?: number
  channelsMax?: number
  idleMs?: number
  nowMs?: () => number
}): Pool => {
  const { connect, connectionsMax = CONNECTIONS_MAX, channelsMax = CHANNELS_MAX, idleMs = IDLE_MS } = options
  const nowMs = options.nowMs ?? (() => performance.now())
  const members = new Set<Member>()
  const ending = new AbortController()
  const { promise: drained, resolve: tellDrained } = Promise.withResolvers<void>()
  let waiting: Waiter[] = []
  let opening = false
  let refusedUntilMs = 0

  const roomFor = (lane: Lane): Member | undefined => {
    const spare = lane === 'status' ? 0 : STATUS_CHANNELS
    return [...members].find(({ connection, live, limit }) => connection.isOpen() && live < limit - spare)
  }

  const drop = (member: Member): void => {
    clearTimeout(member.idle)
    members.delete(member)
    member.connection.end()
    if (ending.signal.aborted && members.size === 0 && !opening) tellDrained()
  }

  const settle = (member: Member): void => {
    if (member.live > 0) return
    if (!member.connection.isOpen() || ending.signal.aborted) {
      drop(member)
      return
    }
    member.idle = setTimeout(() => drop(member), idleMs)
    member.idle.unref()
  }

  const lendWaiting = (): void => {
    const left: Waiter[] = []
    for (const waiter of waiting) {
      const member = roomFor(waiter.lane)
      if (!member) {
        left.push(waiter)
        continue
      }
      clearTimeout(member.idle)
      member.live += 1
      waiter.resolve(member)
    }
    waiting = left
  }

  const refuseAll = (error: unknown): void => {
    const refused = waiting
    waiting = []
    for (const { reject } of refused) reject(error)
  }

  const open = async (): Promise<void> => {
    opening = true
    try {
      const connection = await connect(ending.signal)
      const member: Member = { connection, live: 0, limit: channelsMax, idle: undefined }
      members.add(member)
      connection.onEnd(() => {
        // Its channels end by themselves; the last of them drops it.
        if (member.live === 0) drop(member)
        pump()
      })
      settle(member)
    } catch (error) {
      refusedUntilMs = nowMs() + REFUSED_MS
      if (members.size === 0) refuseAll(error)
    } finally {
      opening = false
      pump()
      if (ending.signal.aborted && members.size === 0) tellDrained()
    }
  }

  const pump = (): void => {
    lendWaiting()
    if (waiting.length === 0 || opening || members.size >= connectionsMax) return
    if (members.size > 0 && nowMs() < refusedUntilMs) return
    void open()
  }

  const borrow = (lane: Lane, signal: AbortSignal): Promise<Member> =>
    new Promise((resolve, reject) => {
      if (ending.signal.aborted) return reject(new SshRefused('unreachable', 'the connections to the host are closed'))
      const waiter: Waiter = { lane, resolve, reject }
      signal.addEventListener(
        'abort',
        () => {
          waiting = waiting.filter((one) => one !== waiter)
          reject(signal.reason)
        },
        { once: true },
      )
      waiting.push(waiter)
      pump()
    })

  /** The host takes fewer channels than we thought: this connection gets no more than it has. */
  const learn = (member: Member): void => {
    if (member.connection.isOpen()) member.limit = Math.max(1 + STATUS_CHANNELS, member.live - 1)
    else members.delete(member)
  }

  const once = async <T>(lane: Lane, signal: AbortSignal, work: (connection: Connection) => Promise<T>): Promise<T> => {
    const member = await borrow(lane, signal)
    try {
      return await work(member.connection)
    } catch (error) {
      if (error instanceof ChannelLost && error.outcome === 'unstarted') learn(member)
      throw error
    } finally {
      member.live -= 1
      settle(member)
      pump()
    }
  }

  return {
    use: (lane, signal, work) =>
      once(lane, signal, work).catch((error) => {
        if (!(error instanceof ChannelLost) || error.outcome !== 'unstarted' || signal.aborted) throw error
        return once(lane, signal, work)
      }),
    drain() {
      ending.abort()
      refuseAll(new SshRefused('unreachable', 'the connections to the host are closed'))
      for (const member of [...members]) settle(member)
      if (members.size === 0 && !opening) tellDrained()
      return drained
    },
    stats: () => ({
      connections: members.size,
      channels: [...members].reduce((sum, { live }) => sum + live, 0),
      waiting: waiting.length,
    }),
  }
}
