/**
 * LISTEN on a connection of its own that never stays dead. PostgreSQL drops what is notified while nobody listens, so
 * after every reconnect the listener is told to look for itself.
 */
import { backoffMs, sleep } from '../../base/backoff.ts'
import type { PgClient } from './client.ts'

const BACKOFF = { minMs: 100, maxMs: 5000 }
/** A half-open connection brings no error and no notification: only asking finds it. */
const PING_EVERY_MS = 15_000

type ListenHandlers = {
  /** One that throws ends nothing: what it could not read is told as something that was missed. */
  onPayload: (payload: string) => void
  onReconnect: () => void
  onConnectionError: (error: Error) => void
}
export type Listener = { close(): Promise<void> }

/**
 * @param connectable gives a fresh, unconnected client
 * @param channel a plain lower-case identifier
 * @returns once the first connection listens, however long that takes
 */
export const openListener = async (
  connectable: () => PgClient,
  channel: string,
  handlers: ListenHandlers,
): Promise<Listener> => {
  if (!/^[a-z_][a-z0-9_]*$/.test(channel)) throw new Error(`not a channel name: ${channel}`)
  const closing = new AbortController()
  const first = Promise.withResolvers<void>()
  let connections = 0
  const failed = (error: unknown) =>
    handlers.onConnectionError(error instanceof Error ? error : new Error(String(error)))
  /** Anybody who may connect may notify: an error that nobody catches here would end the process. */
  const onNote = (payload: string) => {
    try {
      handlers.onPayload(payload)
    } catch (error) {
      failed(error)
      handlers.onReconnect()
    }
  }

  /** Listens until close() is called; throws when the connection breaks. */
  const session = async (): Promise<void> => {
    const client = connectable()
    const over = Promise.withResolvers<void>()
    over.promise.catch(() => {}) // a break before anybody waits for it is told by connect() or query()
    client.on('error', over.reject)
    client.on('end', () => over.reject(new Error('the connection ended')))
    client.on('notification', (note) => onNote(note.payload ?? ''))
    const onClose = () => over.resolve()
    closing.signal.addEventListener('abort', onClose, { once: true })
    const ping = setInterval(() => client.query('select 1').catch(over.reject), PING_EVERY_MS)
    try {
      await client.connect()
      await client.query(`listen ${channel}`)
      connections++
      if (connections === 1) first.resolve()
      else handlers.onReconnect()
      await over.promise
    } finally {
      clearInterval(ping)
      closing.signal.removeEventListener('abort', onClose)
      client.end().catch(() => {})
    }
  }

  /** One session, and the wait that is due after it broke. Gives how many in a row never came to listen. */
  const sessionAndWait = async (failures: number): Promise<number> => {
    const before = connections
    try {
      await session()
      return 0
    } catch (error) {
      if (closing.signal.aborted) return 0
      failed(error)
      const inRow = connections > before ? 0 : failures + 1
      await sleep(backoffMs(BACKOFF, inRow, Math.random), closing.signal)
      return inRow
    }
  }
  const run = async (): Promise<void> => {
    for (let failures = 0; !closing.signal.aborted; ) failures = await sessionAndWait(failures)
  }
  const running = run()
  await first.promise
  return {
    async close() {
      closing.abort()
      await running
    },
  }
}
