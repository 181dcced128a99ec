import { connect } from 'node:net'
import { messageOf } from '../../../lib/refusal.ts'

/**
 * The client of the HTTP bench, so plain that the server is what is measured: a socket per connection, one request under
 * way on each, and the next one as soon as the answer is whole. `load.ts ORDER` says its result as one line of JSON.
 */

/** Where a server listens, and what is to be asked of it. */
export type Side = { port: number; path: string; token: string }
/** With a body it is a POST. */
export type LoadRequest = { path: string; token: string; body?: string }
/** One connection for each request, which it asks again and again. */
export type LoadOrder = { port: number; requests: readonly LoadRequest[]; seconds: number }
export type LoadResult = { answers: number; seconds: number; p99Ms: number; bodyBytes: number }

const HEADERS_END = Buffer.from('\r\n\r\n')

/** Length of the answer at the head of `bytes`; 0 while it is not whole. @throws unless it is a 200 */
const wholeAnswer = (bytes: Buffer): { total: number; body: number } => {
  const end = bytes.indexOf(HEADERS_END)
  if (end < 0) return { total: 0, body: 0 }
  const head = bytes.toString('latin1', 0, end)
  if (!head.startsWith('HTTP/1.1 200 ')) throw new Error(`not 200: ${bytes.toString().slice(0, 600)}`)
  const body = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1])
  const total = end + HEADERS_END.length + body
  return bytes.length >= total ? { total, body } : { total: 0, body: 0 }
}

type Run = { order: LoadOrder; endMs: number; times: number[]; bodyBytes: number }

/** Asks on one connection until the time is up. Rejects when an answer is not as it should be. */
const askOn = (run: Run, { path, token, body }: LoadRequest): Promise<void> => {
  const { port } = run.order
  const told =
    body === undefined ? [] : ['content-type: application/json', `content-length: ${Buffer.byteLength(body)}`]
  const first = `${body === undefined ? 'GET' : 'POST'} ${path} HTTP/1.1`
  const lines = [first, `host: 127.0.0.1:${port}`, `authorization: Bearer ${token}`, ...told, '', body ?? '']
  const question = Buffer.from(lines.join('\r\n'))
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  let rest: Buffer = Buffer.alloc(0)
  let askedMs = 0
  const ask = () => {
    askedMs = performance.now()
    socket.write(question)
  }
  const hear = (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    const { total, body } = wholeAnswer(rest)
    if (total === 0) return
    if (rest.length > total) throw new Error('an answer nobody asked for')
    rest = Buffer.alloc(0)
    run.bodyBytes = body
    run.times.push(performance.now() - askedMs)
    if (performance.now() < run.endMs) ask()
    else socket.destroy()
  }
  return new Promise((resolve, reject) => {
    socket
      .on('connect', ask)
      .on('error', reject)
      .on('close', () => resolve())
    socket.on('end', () => reject(new Error('the server closed the connection')))
    socket.on('data', (chunk: Buffer) => {
      try {
        hear(chunk)
      } catch (error) {
        reject(error)
        socket.destroy()
      }
    })
  })
}

const load = async (order: LoadOrder): Promise<LoadResult> => {
  const startMs = performance.now()
  const run: Run = { order, endMs: startMs + order.seconds * 1000, times: [], bodyBytes: 0 }
  await Promise.all(order.requests.map((request) => askOn(run, request)))
  const seconds = (performance.now() - startMs) / 1000
  const times = run.times.sort((a, b) => a - b)
  const p99Ms = times[Math.floor(times.length * 0.99)] ?? 0
  return { answers: times.length, seconds, p99Ms, bodyBytes: run.bodyBytes }
}

if (import.meta.main) {
  load(JSON.parse(process.argv[2] ?? '')).then(
    (result) => console.log(JSON.stringify(result)),
    (error) => {
      console.error(messageOf(error))
      process.exit(1)
    },
  )
}
