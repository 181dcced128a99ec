import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { isSameDigest, makeSigner, SERVICE_HEADER, STANDARD_HEADER } from '../../../../crds/webhook/signature.ts'

/**
 * The receivers of the webhook bench, in a process of their own: three ports on loopback that take what they are sent, check
 * one signature in CHECK_EVERY, and remember which events came and when. Speaks by messages with whoever forked it.
 */

/** How one receiver answers: at once; after one to three seconds; 500 and no answer at all by turns. */
export type Manner = 'good' | 'slow' | 'broken'
export type ReceiversOrder =
  | { manners: Manner[]; secrets: string[]; wanted: number }
  /** What came since the last order. */
  | 'report'
export type ReceiverReport = {
  /** Different events, and all requests. */
  events: number
  requests: number
  forged: number
  /** From the order until the wanted number of different events was there; null when they are not. */
  wantedMs: number | null
  /** From an event's created_at to the head of the request that told it, the first time. */
  latenciesMs: number[]
}
export type ReceiverSaid = { ports: number[] } | 'set' | { reports: ReceiverReport[] }

const COUNT = 3
const CHECK_EVERY = 50
const CREATED_AT = /"created_at":"([^"]+)"/

type Post = { manner: Manner; secret: string; wanted: number; setMs: number; ids: Set<string>; report: ReceiverReport }

const newPost = (manner: Manner, secret: string, wanted: number): Post => ({
  ...{ manner, secret, wanted, setMs: performance.now(), ids: new Set() },
  report: { events: 0, requests: 0, forged: 0, wantedMs: null, latenciesMs: [] },
})
let posts: Post[] = Array.from({ length: COUNT }, () => newPost('good', '', 0))

const isForged = ({ headers }: IncomingMessage, secret: string, body: string): boolean => {
  const id = String(headers['webhook-id'])
  const at = new Date(Number(headers['webhook-timestamp']) * 1000)
  const due = makeSigner([secret])({ id, body, at })
  const says = (name: keyof typeof due) => isSameDigest(String(headers[name]), due[name])
  return !says(SERVICE_HEADER) || !says(STANDARD_HEADER)
}

const note = (post: Post, request: IncomingMessage, body: string, atMs: number): void => {
  const { report, ids, secret, wanted } = post
  report.requests += 1
  if (secret !== '' && report.requests % CHECK_EVERY === 0 && isForged(request, secret, body)) report.forged += 1
  const id = String(request.headers['webhook-id'])
  if (ids.has(id)) return
  ids.add(id)
  report.events += 1
  if (report.events === wanted) report.wantedMs = performance.now() - post.setMs
  const createdAt = CREATED_AT.exec(body)?.[1]
  if (createdAt !== undefined) report.latenciesMs.push(atMs - Date.parse(createdAt))
}

const answer = async (post: Post, response: ServerResponse): Promise<void> => {
  const { manner, report } = post
  switch (manner) {
    case 'good':
      response.writeHead(200, { 'content-length': 2 }).end('ok')
      return
    case 'slow':
      await sleep(1_000 + ((report.requests * 613) % 2_000))
      response.writeHead(200, { 'content-length': 2 }).end('ok')
      return
    case 'broken':
      if (report.requests % 2 === 0) response.writeHead(500, { 'content-length': 0 }).end()
      return
    default:
      return manner satisfies never
  }
}

const listen = (index: number): Promise<number> => {
  const server = createServer((request, response) => {
    const atMs = performance.timeOrigin + performance.now()
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('error', () => {})
    request.on('end', () => {
      const post = posts[index]
      if (!post) return
      note(post, request, Buffer.concat(chunks).toString('utf8'), atMs)
      void answer(post, response)
    })
  })
  server.keepAliveTimeout = 30_000
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}

if (import.meta.main) {
  const say = (said: ReceiverSaid) => process.send?.(said)
  process.on('message', (order: ReceiversOrder) => {
    if (order === 'report') return void say({ reports: posts.map(({ report }) => report) })
    const { manners, secrets, wanted } = order
    posts = manners.map((manner, index) => newPost(manner, secrets[index] ?? '', wanted))
    say('set')
  })
  process.on('disconnect', () => process.exit(0))
  say({ ports: await Promise.all(Array.from({ length: COUNT }, (_, index) => listen(index))) })
}
