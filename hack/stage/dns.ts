import { join } from 'node:path'
import { freePort, isListening } from '../lib/ports.ts'
import { createService, type Service, waitFor } from '../lib/processes.ts'

/** A server of names whose answers are set: every name is 127.0.0.1, and has the records that it was told to have. */
export type SettableDns = {
  /** For `BOTTEGA_DNS_SERVERS`. */
  server: string
  /** POST `/set-txt` with `{"host": "NAME.", "value": …}`, `/clear-txt`, `/set-cname`, `/add-a`, `/set-servfail` and the like. */
  controlUrl: string
}

export type DnsOptions = { owner: string; logDir: string; tool(name: string): string }

const readyMs = 60_000
const name = 'pebble-challtestsrv'

/** Not started yet. */
export async function makeDns({ owner, logDir, tool }: DnsOptions): Promise<SettableDns & { service: Service }> {
  const [dns, control] = [await freePort(), await freePort()]
  const server = `127.0.0.1:${dns}`
  const off = ['-http01', '', '-https01', '', '-tlsalpn01', '', '-doh', '']
  const answers = ['-defaultIPv4', '127.0.0.1', '-defaultIPv6', '']
  const args = [...answers, '-dnsserver', server, '-management', `127.0.0.1:${control}`, ...off]
  const logFile = join(logDir, `${name}.log`)
  const service = createService({
    name,
    logFile,
    launch: () => ({ name, owner, logFile, command: tool(name), args }),
    ready: (signal) =>
      waitFor(`${name} (its log is ${logFile})`, () => isListening(control), { timeoutMs: readyMs, signal }),
  })
  return { server, controlUrl: `http://127.0.0.1:${control}`, service }
}
