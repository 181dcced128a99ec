/** The receivers of the chaos run: they take HTTP apart by themselves, so that they can answer with anything. */
import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { isSameDigest, makeSigner } from '../../../crds/webhook/signature.ts'
import { portOf } from './egress.ts'

/** One request that was told whole. */
export type Hook = { id: string; body: string; isForged: boolean; sequence: number; atMs: number }

const END = '\r\n\r\n'
const HOOK_BYTES_MAX = 65_536

type Head = { headers: Map<string, string>; bodyAt: number; length: number }

const headOf = (text: string): Head | null => {
  const end = text.indexOf(END)
  if (end < 0) return null
  const lines = text.slice(0, end).split('\r\n').slice(1)
  const headers = new Map(
    lines.map((line) => {
      const at = line.indexOf(':')
      return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()]
    }),
  )
  return { headers, bodyAt: end + END.length, length: Number(headers.get('content-length')) }
}

/** Both schemes, by the endpoint's secret, within the tolerance of a receiver whose clock is right. */
const isForgedBy = (secret: string, { headers }: Head, id: string, body: string): boolean => {
  const t = Number(headers.get('webhook-timestamp'))
  if (!(Math.abs(Date.now() / 1000 - t) < 300)) return true
  const due = makeSigner([secret])({ id, body, at: new Date(t * 1000) })
  return (['x-service-signature', 'webhook-signature'] as const).some(
    (name) => !isSameDigest(headers.get(name) ?? '', due[name]),
  )
}

/** What is answered to the n-th request over all connections, from 0. `reset` ends the connection below TLS. */
export type Answer = (socket: Socket, nth: number, reset: () => void) => void
export type HookReceiver = { port: number; hooks: Hook[]; connections(): number; close(): Promise<void> }

export type ReceiverGiven = {
  secret: string
  answer: Answer
  keys?: { key: string; cert: string }
  /** Each so-manieth connection is answered before its handshake. */
  breaksTlsEvery?: number
}

export const startHookReceiver = async ({
  secret,
  answer,
  keys,
  breaksTlsEvery = 0,
}: ReceiverGiven): Promise<HookReceiver> => {
  const hooks: Hook[] = []
  const raws = new Map<number | undefined, Socket>()
  let connections = 0
  const serve = (socket: Socket) => {
    let text = ''
    const take = () => {
      const head = headOf(text)
      if (!head || head.length > HOOK_BYTES_MAX || text.length < head.bodyAt + head.length) return
      const body = Buffer.from(text.slice(head.bodyAt, head.bodyAt + head.length), 'latin1').toString('utf8')
      text = text.slice(head.bodyAt + head.length)
      const id = head.headers.get('webhook-id') ?? ''
      const isForged = isForgedBy(secret, head, id, body)
      hooks.push({ id, body, isForged, sequence: JSON.parse(body).sequence, atMs: performance.now() })
      answer(socket, hooks.length - 1, () => raws.get(socket.remotePort)?.resetAndDestroy())
    }
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      take()
    })
  }
  const server: Server = keys ? createTlsServer(keys, serve) : createServer(serve)
  server.on('connection', (socket: Socket) => {
    connections += 1
    const { remotePort } = socket
    raws.set(remotePort, socket)
    socket.on('error', () => {})
    socket.on('close', () => raws.delete(remotePort))
    if (breaksTlsEvery > 0 && connections % breaksTlsEvery === 0) socket.end('this is no TLS\r\n')
  })
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: portOf(server),
    hooks,
    connections: () => connections,
    close: async () => {
      for (const socket of raws.values()) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
