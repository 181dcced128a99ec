import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/**
 * A proxy before a real PostgreSQL that breaks what a network and a server break: it is away, it hangs, or it goes in the very
 * moment between a commit and its answer. It reads the protocol (version 3.0, without TLS) as far as it must for that.
 */

export type LedgerProxy = {
  /** Of the same database, through the proxy. @param url the direct way */
  through(url: string): string
  /** Refuses connections, and ends those there are, until `up`. */
  down(): Promise<void>
  up(): Promise<void>
  /** Connections are taken and kept, and no byte goes either way, until `flow`. */
  stall(): void
  flow(): void
  /**
   * The next matching statement is done, and committed; its answer is passed on when `work` is through, or lost if that has
   * taken the proxy down. @param matches is given its text
   */
  after(matches: (text: string) => boolean, work: () => Promise<void>): void
  /** @returns whether it had come to what was waited for */
  disarm(): boolean
  close(): Promise<void>
}

type Armed = { matches: (text: string) => boolean; work: () => Promise<void> }
type ProxyState = { to: { host: string; port: number }; armed: Armed | null; stalled: boolean; links: Set<Link> }
type Link = {
  client: Socket
  server: Socket
  /** Prepared statements by their names. */
  texts: Map<string, string>
  /** What is done before the answer of the statement under way is passed on. */
  before: Armed['work'] | null
}
type Message = { type: string; whole: Buffer; body: Buffer }

/** Cuts a stream into messages. @param untyped how many have no letter before their length: the first of a client */
const makeCutter = (untyped: number) => {
  let kept = Buffer.alloc(0)
  let left = untyped
  return (chunk: Buffer): Message[] => {
    kept = Buffer.concat([kept, chunk])
    const messages: Message[] = []
    for (;;) {
      const at = left > 0 ? 0 : 1
      if (kept.length < at + 4) return messages
      const end = at + kept.readUInt32BE(at)
      if (kept.length < end) return messages
      const whole = kept.subarray(0, end)
      messages.push({ type: at === 0 ? '' : String.fromCharCode(whole[0] ?? 0), whole, body: whole.subarray(at + 4) })
      kept = kept.subarray(end)
      left = Math.max(0, left - 1)
    }
  }
}

/** The text of what a message has executed. */
const statementOf = ({ texts }: Link, { type, body }: Message): string | undefined => {
  const words = body.toString('latin1').split('\0', 2)
  if (type === 'P') texts.set(words[0] ?? '', body.toString('utf8').split('\0', 2)[1] ?? '')
  if (type === 'B') return texts.get(words[1] ?? '')
  return type === 'Q' ? words[0] : undefined
}

/** The server is ready again, and no transaction is open. */
const isCommitted = ({ type, body }: Message): boolean => type === 'Z' && body.toString('latin1') === 'I'

const answer = async (link: Link, messages: Message[]): Promise<void> => {
  for (const message of messages) {
    if (link.before !== null && isCommitted(message)) {
      const { before } = link
      link.before = null
      await before()
    }
    if (!link.client.destroyed) link.client.write(message.whole)
  }
}

const end = ({ client, server }: Link): void => {
  client.resetAndDestroy()
  server.destroy()
}

const serve = (proxy: ProxyState, client: Socket): void => {
  const link: Link = { client, server: connect(proxy.to), texts: new Map(), before: null }
  const { server } = link
  proxy.links.add(link)
  const [fromClient, fromServer] = [makeCutter(1), makeCutter(0)]
  let answered = Promise.resolve()
  client.on('data', (chunk: Buffer) => {
    for (const message of fromClient(chunk)) {
      const text = statementOf(link, message)
      if (text === undefined || !proxy.armed?.matches(text)) continue
      link.before = proxy.armed.work
      proxy.armed = null
    }
    server.write(chunk)
  })
  server.on('data', (chunk: Buffer) => {
    const messages = fromServer(chunk)
    answered = answered.then(() => answer(link, messages))
  })
  for (const socket of [client, server]) {
    socket.on('error', () => end(link))
    socket.on('close', () => {
      proxy.links.delete(link)
      end(link)
    })
    if (proxy.stalled) socket.pause()
  }
}

/** @param url of the server, or of a database on it */
export async function startLedgerProxy(url: string): Promise<LedgerProxy> {
  const { hostname: host, port: there } = new URL(url)
  const proxy: ProxyState = { to: { host, port: Number(there) }, armed: null, stalled: false, links: new Set() }
  const server = createServer((client) => serve(proxy, client))
  const up = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const down = async () => {
    const closed = new Promise((resolve) => server.close(resolve))
    for (const link of proxy.links) end(link)
    await closed
  }
  const each = (of: (socket: Socket) => void) => {
    for (const { client, server: other } of proxy.links) for (const socket of [client, other]) of(socket)
  }
  await up(0)
  const { port } = server.address() as AddressInfo

  return {
    through: (direct) => Object.assign(new URL(direct), { hostname: '127.0.0.1', port: String(port) }).href,
    down,
    up: () => up(port),
    stall: () => {
      proxy.stalled = true
      each((socket) => socket.pause())
    },
    flow: () => {
      proxy.stalled = false
      each((socket) => socket.resume())
    },
    after: (matches, work) => {
      proxy.armed = { matches, work }
    },
    disarm: () => {
      const has = proxy.armed === null
      proxy.armed = null
      return has
    },
    close: () => down().catch(() => undefined),
  }
}
