/**
 * The end of the window, so that no request is lost with it. Nobody new is let in; every answer from now on says that its
 * connection ends with it (answer.ts), and only then does it. A connection that is silent is kept a little longer, for a
 * request may be on its way on it: to close it at once is what clients see as a reset.
 */
import type { Server as HttpServer } from 'node:http'
import { Server } from 'node:net'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'

/** So long a silent connection may bring one more request. */
const LINGER_MS = 2_000
/** What is not answered by then is cut. */
export const DRAIN_LIMIT_MS = 7_000
const LOOK_MS = 100

export type DrainOptions = { lingerMs?: number; limitMs?: number }

/** @returns whether every request was answered; false when some had to be cut */
export const drainServer = async (
  server: HttpServer,
  { lingerMs = LINGER_MS, limitMs = DRAIN_LIMIT_MS }: DrainOptions = {},
): Promise<boolean> => {
  // who has connected by now is taken in before the door is shut
  await turn()
  // not the server's own way, which closes what is silent at once
  const closed = new Promise<true>((resolve) => Server.prototype.close.call(server, () => resolve(true)))
  const within = (ms: number) => Promise.race([closed, sleep(ms, false, { ref: false })])
  const endMs = performance.now() + limitMs
  if (await within(Math.min(lingerMs, limitMs))) return true
  while (performance.now() < endMs) {
    server.closeIdleConnections()
    if (await within(LOOK_MS)) return true
  }
  server.closeAllConnections()
  await closed
  return false
}
