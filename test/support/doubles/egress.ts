/** What stands round the egress guard in its tests: listeners that count, attempts that are seen, keys, raw receivers. */
import { spawnSync } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'
import type { EgressAnswer, EgressRequest } from '../../../controllers/net/egress.ts'

/** A request as webhooks make it. */
export const posting = (url: string, more: Partial<EgressRequest> = {}): EgressRequest => ({
  method: 'POST',
  url,
  headers: { 'content-type': 'application/json' },
  body: '{"id":"evt_1"}',
  limitMs: 5_000,
  bytesMax: 64 * 1024,
  ...more,
})

/** `ok 200`, or the fault. */
export const outcomeOf = (answer: EgressAnswer): string => (answer.ok ? `ok ${answer.status}` : answer.fault)

/** Through a server of names: all addresses of both families. */
export const resolveBy = (server: string): ((hostname: string) => Promise<string[]>) => {
  const resolver = new Resolver({ timeout: 1_000, tries: 2 })
  resolver.setServers([server])
  return async (hostname) => {
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  }
}

/** Every address that any socket of this process begins to connect to, from now on. */
export const watchAttempts = (): { attempts: string[]; stop(): void } => {
  const attempts: string[] = []
  const onSocket = (message: unknown) => {
    const socket: unknown = Reflect.get(message as object, 'socket')
    if (socket instanceof Socket) socket.on('connectionAttempt', (address: string) => attempts.push(address))
  }
  subscribe('net.client.socket', onSocket)
  return { attempts, stop: () => void unsubscribe('net.client.socket', onSocket) }
}

export const portOf = (server: Server): number => (server.address() as AddressInfo).port

const listening = async (server: Server, port: number, address: string): Promise<Server> => {
  server.listen(port, address)
  await once(server, 'listening')
  return server
}

export type Trap = { port: number; connections(): number; close(): Promise<void> }

/** One port on several addresses of loopback, where every connection is counted and dropped. */
export const setTrap = async (addresses: readonly string[]): Promise<Trap> => {
  let count = 0
  const make = () =>
    createServer((socket) => {
      count += 1
      socket.on('error', () => {})
      socket.destroy()
    })
  const servers: Server[] = []
  for (const address of addresses) servers.push(await listening(make(), servers[0] ? portOf(servers[0]) : 0, address))
  const [first] = servers
  if (!first) throw new Error('A trap needs an address')
  return { port: portOf(first), connections: () => count, close: () => closeAll(servers) }
}

const closeAll = async (servers: readonly Server[]) => {
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
}

export type Receiver = {
  port: number
  /** What came in over each connection, in their order. */
  received: string[]
  /** Names asked for in the TLS handshake. */
  names: (string | false | null)[]
  close(): Promise<void>
}

type Keys = { key: string; cert: string }

/**
 * Bytes in, bytes out: nobody in between knows HTTP.
 * @param answer is called for each chunk that arrives, with all that came over this connection
 */
export const startReceiver = async (
  answer: (socket: Socket, text: string) => void,
  { address = '127.0.0.1', port = 0, keys }: { address?: string; port?: number; keys?: TlsOptions } = {},
): Promise<Receiver> => {
  const received: string[] = []
  const names: (string | false | null)[] = []
  const sockets = new Set<Socket>()
  const serve = (socket: Socket) => {
    const index = received.push('') - 1
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      received[index] += chunk.toString('latin1')
      answer(socket, received[index] ?? '')
    })
  }
  const server = keys
    ? createTlsServer(keys, (socket) => {
        names.push(socket.servername)
        serve(socket)
      })
    : createServer(serve)
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  await listening(server, port, address)
  return {
    port: portOf(server),
    received,
    names,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await closeAll([server])
    },
  }
}

/** Answers each whole request of `posting` with the same bytes. */
export const always =
  (bytes: string | Buffer) =>
  (socket: Socket, text: string): void => {
    if (text.endsWith('{"id":"evt_1"}')) socket.write(bytes)
  }

export const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

/** Made by openssl: one authority, and keys for `hook.test`, `localhost` and 127.0.0.1 in each state. */
export type TestKeys = { ca: string; good: Keys; expired: Keys; otherName: Keys; selfSigned: Keys; unknown: Keys }

const openssl = (cwd: string, ...args: string[]) => {
  const { status, stderr } = spawnSync('openssl', args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`openssl ${args[0]}: ${stderr}`)
}

const NAMES = 'DNS:hook.test,DNS:localhost,IP:127.0.0.1'

export const makeTestKeys = (): TestKeys => {
  const folder = mkdtempSync(join(tmpdir(), 'bottega-egress-'))
  const read = (name: string) => readFileSync(join(folder, name), 'utf8')
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const selfSigned = (name: string) =>
    openssl(
      folder,
      'req',
      '-x509',
      ...newKey,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.crt`,
      '-subj',
      `/CN=${name}`,
      '-days',
      '30',
      '-addext',
      `subjectAltName=${NAMES}`,
    )
  const signed = (name: string, by: string, { names = NAMES, days = '30' } = {}): Keys => {
    openssl(folder, 'req', ...newKey, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`)
    writeFileSync(join(folder, `${name}.ext`), `subjectAltName=${names}\n`)
    openssl(
      folder,
      'x509',
      '-req',
      '-in',
      `${name}.csr`,
      '-CA',
      `${by}.crt`,
      '-CAkey',
      `${by}.key`,
      '-CAcreateserial',
      '-days',
      days,
      '-extfile',
      `${name}.ext`,
      '-out',
      `${name}.crt`,
    )
    return { key: read(`${name}.key`), cert: read(`${name}.crt`) }
  }
  try {
    for (const name of ['ca', 'strange', 'self']) selfSigned(name)
    return {
      ca: read('ca.crt'),
      good: signed('good', 'ca'),
      expired: signed('expired', 'ca', { days: '-1' }),
      otherName: signed('other', 'ca', { names: 'DNS:other.test' }),
      selfSigned: { key: read('self.key'), cert: read('self.crt') },
      unknown: signed('unknown', 'strange'),
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
