/**
 * What a piece of the public internet says, as a process in a name space of its own (public.ts): a server of names, and at each address
 * HTTP, TLS and, for what no gate leads on, another port and UDP. What comes in is told on stdout, a line each.
 */
import { createSocket } from 'node:dgram'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { createServer as createTcpServer } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { startNamesServer } from '../../doubles/namesserver.ts'

/** `server`: the name in its certificate. `files`: by their paths, as base64 with a type. */
export type PublicPlace = {
  address: string
  server: string
  key: string
  cert: string
  files?: Record<string, { type: string; base64: string }>
}
export type PublicOrder = { names: string; zone: Record<string, string[]>; places: PublicPlace[] }
/** `by`: plain, tls, another port, or udp. `name`: what the client says that it wants, '' where it says nothing. */
export type Seen = { at: string; by: 'plain' | 'tls' | 'port' | 'udp'; name: string }

const tell = (seen: Seen): void => {
  process.stdout.write(`${JSON.stringify(seen)}\n`)
}

const ANOTHER_PORT = 4443

const answering =
  ({ server, files = {} }: PublicPlace, by: 'plain' | 'tls') =>
  (request: IncomingMessage, response: ServerResponse): void => {
    const { remoteAddress, localAddress, servername } = request.socket as TLSSocket
    if (remoteAddress === undefined) return
    const said = by === 'tls' ? String(servername || '') : String(request.headers.host ?? '')
    tell({ at: localAddress ?? '', by, name: said })
    const file = files[request.url ?? '']
    if (file) {
      const bytes = Buffer.from(file.base64, 'base64')
      const head = { 'content-type': file.type, 'content-length': bytes.length }
      response.writeHead(200, head).end(request.method === 'HEAD' ? undefined : bytes)
    } else response.writeHead(200, { 'content-type': 'text/plain' }).end(`reached ${server}\n`)
  }

const open = (place: PublicPlace): void => {
  const { address, key, cert, server } = place
  createServer(answering(place, 'plain')).listen(80, address)
  createTlsServer({ key, cert }, answering(place, 'tls'))
    .on('tlsClientError', () => undefined)
    .on('connection', () => tell({ at: address, by: 'tls', name: '' }))
    .listen(443, address)
  createTcpServer((socket) => {
    tell({ at: address, by: 'port', name: '' })
    socket.on('error', () => undefined).end(`reached ${server}\n`)
  }).listen(ANOTHER_PORT, address)
  const udp = createSocket('udp4')
  udp.on('message', (_, from) => {
    tell({ at: address, by: 'udp', name: '' })
    udp.send(`reached ${server}\n`, from.port, from.address)
  })
  udp.bind(443, address)
}

const order = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as PublicOrder
const zone = Object.entries(order.zone).map(([name, a]) => [name, () => ({ a })] as const)
await startNamesServer(Object.fromEntries(zone), { address: order.names, port: 53 })
for (const place of order.places) open(place)
process.stdout.write('ready\n')
