import { randomUUID } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { Agent, request as httpsRequest } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { KubeConfig } from '@kubernetes/client-node'

/**
 * A proxy before a real API server that breaks what a network and a server break: bytes that stop, connections that are
 * cut, refusals, garbage in a stream, a server that is away. It also counts what passes through it.
 */

export type Seen = { method: string; path: string; query: URLSearchParams }
export type Canned = { status: number; headers?: Record<string, string>; body?: string }
type Matches = (seen: Seen) => boolean

export type FaultProxy = {
  /** Path of a kubeconfig that leads through the proxy, with the rights of the one it was made from. */
  kubeconfig: string
  seen: Seen[]
  writes(): Seen[]
  connections(): number
  /** Watches whose stream has begun. */
  open(): number
  /** The next `times` matching requests get this answer; the server does not see them. */
  answer(matches: Matches, canned: Canned, times?: number): void
  /** Open watches get no more bytes, and keep their connections; so do new ones until `flow`. */
  stall(): void
  flow(): void
  /** Matching requests reach nobody and get no answer, and keep their connections, until `flow` cuts those: half-open. */
  hang(matches: Matches): void
  /** Ends all connections by a reset. */
  cut(): void
  /** A line of our own in each open watch. */
  inject(line: string): void
  /** The next matching request is done, and its answer passed on when `work` is through. No other comes over its connection. */
  after(matches: Matches, work: (asking: Socket) => Promise<void>): void
  /** @returns whether it had come to what was waited for */
  disarm(): boolean
  /** Refuses connections until `up`. @param spared the one over which an answer is still to go */
  down(spared?: Socket): Promise<void>
  up(): Promise<void>
  close(): Promise<void>
}

export const isWatch: Matches = ({ query }) => query.get('watch') === 'true'
export const isList: Matches = ({ method, query }) => method === 'GET' && query.has('limit')
export const status = (code: number, reason: string, message = reason): Canned => ({
  status: code,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message }),
})

type ProxyState = {
  target: Awaited<ReturnType<typeof targetOf>>
  seen: Seen[]
  canned: { matches: Matches; answer: Canned; left: number }[]
  sockets: Set<Socket>
  watches: Set<ServerResponse>
  hanging: Set<Socket>
  connections: number
  stalled: boolean
  hung: Matches
  armed: { matches: Matches; work: (asking: Socket) => Promise<void> } | null
}

/** What is done before a request is answered. */
const takeArmed = (proxy: ProxyState, one: Seen): ((asking: Socket) => Promise<void>) | null => {
  if (!proxy.armed?.matches(one)) return null
  const { work } = proxy.armed
  proxy.armed = null
  return work
}

const forward = (proxy: ProxyState, request: IncomingMessage, response: ServerResponse, one: Seen) => {
  const { target, watches } = proxy
  const before = takeArmed(proxy, one)
  const { host: _ours, ...rest } = request.headers
  const headers = { ...rest, ...(target.token && { authorization: `Bearer ${target.token}` }) }
  const { method, url } = request
  const onward = httpsRequest(target.origin + url, { method, headers, agent: target.agent }, async (answer) => {
    await before?.(request.socket)
    response.writeHead(answer.statusCode ?? 502, { ...answer.headers, ...(before && { connection: 'close' }) })
    if (!isWatch(one)) return void answer.pipe(response)
    response.flushHeaders()
    watches.add(response)
    answer.on('data', (chunk) => void (proxy.stalled || response.write(chunk)))
    answer.on('end', () => response.end())
  })
  onward.on('error', () => response.destroy())
  response.on('close', () => {
    watches.delete(response)
    onward.destroy()
  })
  request.pipe(onward)
}

const serve = (proxy: ProxyState, request: IncomingMessage, response: ServerResponse) => {
  const url = new URL(request.url ?? '/', 'http://proxy')
  const one: Seen = { method: request.method ?? '', path: url.pathname, query: url.searchParams }
  proxy.seen.push(one)
  if (proxy.hung(one)) return void proxy.hanging.add(request.resume().socket)
  const found = proxy.canned.find(({ matches, left }) => left > 0 && matches(one))
  if (!found) return forward(proxy, request, response, one)
  found.left -= 1
  request.resume()
  response.writeHead(found.answer.status, found.answer.headers).end(found.answer.body ?? '')
}

const keepSocket = (proxy: ProxyState, socket: Socket) => {
  proxy.connections += 1
  proxy.sockets.add(socket)
  socket.on('close', () => proxy.sockets.delete(socket))
}

const cut = ({ sockets }: ProxyState, spared?: Socket) => {
  for (const socket of sockets) if (socket !== spared) socket.resetAndDestroy()
}

const flow = (proxy: ProxyState) => {
  proxy.stalled = false
  proxy.hung = () => false
  for (const socket of proxy.hanging) socket.resetAndDestroy()
  proxy.hanging.clear()
}

export async function startFaultProxy(kubeconfig: string): Promise<FaultProxy> {
  const proxy: ProxyState = {
    target: await targetOf(kubeconfig),
    seen: [],
    canned: [],
    sockets: new Set(),
    watches: new Set(),
    hanging: new Set(),
    connections: 0,
    stalled: false,
    hung: () => false,
    armed: null,
  }
  const server = createServer((request, response) => serve(proxy, request, response))
  server.on('connection', (socket) => keepSocket(proxy, socket))
  const up = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const down = async (spared?: Socket) => {
    const closed = new Promise((resolve) => server.close(resolve))
    cut(proxy, spared)
    if (!spared) await closed
  }
  await up(0)
  const { port } = server.address() as AddressInfo
  const file = writeKubeconfig(`http://127.0.0.1:${port}`)

  return {
    kubeconfig: file,
    seen: proxy.seen,
    writes: () => proxy.seen.filter(({ method }) => method !== 'GET'),
    connections: () => proxy.connections,
    open: () => proxy.watches.size,
    answer: (matches, answer, times = 1) => void proxy.canned.push({ matches, answer, left: times }),
    stall: () => {
      proxy.stalled = true
    },
    flow: () => flow(proxy),
    hang: (matches) => {
      proxy.hung = matches
    },
    cut: () => cut(proxy),
    inject: (line) => {
      for (const watch of proxy.watches) watch.write(`${line}\n`)
    },
    after: (matches, work) => {
      proxy.armed = { matches, work }
    },
    disarm: () => {
      const has = proxy.armed === null
      proxy.armed = null
      return has
    },
    down,
    up: () => up(port),
    close: async () => {
      rmSync(file, { force: true })
      cut(proxy)
      proxy.target.agent.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function targetOf(kubeconfig: string): Promise<{ origin: string; agent: Agent; token: string | undefined }> {
  const config = new KubeConfig()
  config.loadFromFile(kubeconfig)
  const found: { ca?: Buffer; cert?: Buffer; key?: Buffer } = {}
  await config.applyToHTTPSOptions(found)
  const { ca, cert, key } = found
  return {
    origin: config.getCurrentCluster()?.server ?? '',
    token: config.getCurrentUser()?.token,
    agent: new Agent({ keepAlive: true, ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) }),
  }
}

/** client-node takes plain HTTP only with TLS verification off. */
function writeKubeconfig(server: string): string {
  const file = join(tmpdir(), `bottega-proxy-${randomUUID()}.json`)
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'proxy', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'proxy', user: {} }],
    contexts: [{ name: 'proxy', context: { cluster: 'proxy', user: 'proxy' } }],
    'current-context': 'proxy',
  }
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 })
  return file
}
