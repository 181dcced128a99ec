/**
 * LISTEN on a connection of its own that never stays dead. PostgreSQL drops what is notified while nobody listens, so
 * after every reconnect the listener has to look for itself.
 */
import { backoffMs, sleep } from '../../base/backoff.ts'
import type { PgClient } from './client.ts'

const BACKOFF = { minMs: 100, maxMs: 5000 }
/** A half-open connection brings no error and no notification: only asking finds it. */
const PING_EVERY_MS = 15_000

type ListenHandlers = {
  /** One that throws ends nothing: what it could not read counts as something that was missed. */
  onPayload: (payload: string) => void
  onReconnect: () => void
  onConnectionError: (error: Error) => void
}
export type Listener = { close(): Promise<void> }

/** What the sessions of one listener share. */
type Listening = {
  connectable: () => PgClient
  channel: string
  /** A statement that each connection begins with. */
  opening: string
  handlers: ListenHandlers
  closing: AbortController
  first: PromiseWithResolvers<void>
  connections: number
}

const report = ({ handlers }: Listening, error: unknown): void =>
  handlers.onConnectionError(error instanceof Error ? error : new Error(String(error)))

/** Anybody who may connect may notify: an error that nobody catches here would end the process. */
const onNotification = (listening: Listening, payload: string): void => {
  try {
    listening.handlers.onPayload(payload)
  } catch (error) {
    report(listening, error)
    listening.handlers.onReconnect()
  }
}

/** Listens until close() is called; throws when the connection breaks. */
const session = async (listening: Listening): Promise<void> => {
  const { closing, handlers } = listening
  const client = listening.connectable()
  const over = Promise.withResolvers<void>()
  over.promise.catch(() => {}) // connect() or query() report a break before anybody waits for it
  client.on('error', over.reject)
  client.on('end', () => over.reject(new Error('the connection ended')))
  client.on('notification', (note) => onNotification(listening, note.payload ?? ''))
  const onClose = () => over.resolve()
  closing.signal.addEventListener('abort', onClose, { once: true })
  const ping = setInterval(() => client.query('select 1').catch(over.reject), PING_EVERY_MS)
  try {
    await client.connect()
    if (listening.opening !== '') await client.query(listening.opening)
    await client.query(`listen ${listening.channel}`)
    listening.connections++
    if (listening.connections === 1) listening.first.resolve()
    else handlers.onReconnect()
    await over.promise
  } finally {
    clearInterval(ping)
    closing.signal.removeEventListener('abort', onClose)
    client.end().catch(() => {})
  }
}

/** One session, and the wait that is due after it broke. Gives how many in a row never came to listen. */
const sessionAndWait = async (listening: Listening, failures: number): Promise<number> => {
  const { closing, connections: before } = listening
  try {
    await session(listening)
    return 0
  } catch (error) {
    if (closing.signal.aborted) return 0
    report(listening, error)
    const inRow = listening.connections > before ? 0 : failures + 1
    await sleep(backoffMs(BACKOFF, inRow, Math.random), closing.signal)
    return inRow
  }
}

const listenUntilClosed = async (listening: Listening): Promise<void> => {
  for (let failures = 0; !listening.closing.signal.aborted; ) failures = await sessionAndWait(listening, failures)
}

/**
 * @param connectable gives a fresh, unconnected client
 * @param channel a plain lower-case identifier
 * @returns once the first connection listens, however long that takes
 */
export const openListener = async (
  connectable: () => PgClient,
  channel: string,
  handlers: ListenHandlers,
  opening = '',
): Promise<Listener> => {
  if (!/^[a-z_][a-z0-9_]*$/.test(channel)) throw new Error(`not a channel name: ${channel}`)
  const closing = new AbortController()
  const first = Promise.withResolvers<void>()
  const running = listenUntilClosed({ connectable, channel, opening, handlers, closing, first, connections: 0 })
  await first.promise
  return {
    async close() {
      closing.abort()
      await running
    },
  }
}
