/**
 * The one way out to an address that a user chose (rules/platform.md#egress): webhooks, pictures by address. Where a
 * connection may go is decided in its socket (reach.ts); here is the exchange over it: one request, one bounded answer, no
 * redirect, no decompression, no proxy.
 */
import { Agent, type buildConnector, type Dispatcher, Pool } from 'undici'
import { type Chunks, makeChunks } from './chunks.ts'
import { makeConnector, makeReach, NotConnected, type Target, targetOf } from './reach.ts'

/** A kept connection was judged when it was opened: after so long it is opened, and judged, anew. */
const CONNECTION_MS = 60_000
/** Below the five seconds of the shortest servers, so that none closes while a request is on its way. */
const IDLE_MS = 4_000
const CONNECTIONS_PER_ORIGIN = 128
const ANSWER_HEADERS_BYTES_MAX = 16 * 1024
const JUDGE_MS = 2_000

export type EgressRequest = {
  method: 'GET' | 'POST'
  url: string
  headers: Record<string, string>
  body?: Buffer | string
  /** Over the whole exchange: look-up, connection, request, answer to its last byte. */
  limitMs: number
  /** Of the answer. */
  bytesMax: number
  signal?: AbortSignal
  /** Told of the bytes of the answer as they come. What it throws ends the exchange, and is thrown by it. */
  onBytes?(bytes: number): void
}

/** Why there is no answer. EGRESS_REFUSED: the address is not one that may be reached. */
export type EgressFault =
  | 'EGRESS_REFUSED'
  | 'BAD_URL'
  | 'NO_SUCH_NAME'
  | 'CONNECTION_FAILED'
  | 'TLS_FAILED'
  | 'TIMEOUT'
  | 'ANSWER_TOO_LARGE'
  | 'BROKEN_ANSWER'

export type EgressAnswer =
  /** `body` holds at most bytesMax; whole. latencyMs from the call to the last byte. */
  | { ok: true; status: number; headers: Record<string, string>; body: Buffer; latencyMs: number }
  /** `status` and `body` as far as they came. detail: continues "the address …"; for people, holds no address. */
  | { ok: false; fault: EgressFault; detail: string; status: number | null; body: Buffer; latencyMs: number }

export type Egress = {
  /**
   * Never throws for what the other side does; follows no redirect; adds no header of its own beside host, user-agent
   * Bottega, content-length and connection. What the caller breaks off is a TIMEOUT.
   * @throws TypeError for headers that cannot be sent; what `onBytes` throws
   */
  exchange(request: EgressRequest): Promise<EgressAnswer>
  /** Before an address is stored: what is wrong with it; null when nothing is, or when its name does not resolve within 2 s. */
  judge(url: string): Promise<string | null>
  /** Ends idle connections; waits for what is under way no longer than its limits. */
  close(): Promise<void>
}

export type EgressOptions = {
  /** The development exception: loopback may be reached, and without TLS it alone. */
  allowLoopback: boolean
  /** Resolves a name to all its addresses; the system's when left out. */
  resolve?: (hostname: string) => Promise<string[]>
  /** PEM, an authority beside those of the system. */
  ca?: string
  connectionsPerOrigin?: number
}

const EMPTY = Buffer.alloc(0)

type Failure = { fault: EgressFault; detail: string }

const codeOf = (error: unknown): string => {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : ''
}

const failureOf = (error: unknown): Failure => {
  if (error instanceof NotConnected) return { fault: error.fault, detail: error.message }
  const code = codeOf(error)
  if (code === 'UND_ERR_HEADERS_OVERFLOW') {
    return { fault: 'ANSWER_TOO_LARGE', detail: `answers with more than ${ANSWER_HEADERS_BYTES_MAX} bytes of headers` }
  }
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') {
    return { fault: 'BROKEN_ANSWER', detail: 'answers with another length than it named' }
  }
  const isNoHttp = error instanceof Error && error.name === 'HTTPParserError'
  return { fault: 'BROKEN_ANSWER', detail: isNoHttp ? 'answers no HTTP/1.1' : 'broke off' }
}

const flat = (headers: Record<string, string | string[] | undefined>): Record<string, string> => {
  const found: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name]
    found[name] = Array.isArray(value) ? value.join(', ') : (value ?? '')
  }
  return found
}

/** One exchange: what came of the answer so far, and how it is settled. */
type Exchanging = {
  request: EgressRequest
  startedAt: number
  controller: Dispatcher.DispatchController | undefined
  status: number | null
  headers: Record<string, string | string[] | undefined>
  chunks: Chunks
  bytes: number
  isOver: boolean
  timer: NodeJS.Timeout | undefined
  onAbort: () => void
  resolve: (answer: EgressAnswer) => void
  reject: (error: Error) => void
}

const end = (exchange: Exchanging): void => {
  exchange.isOver = true
  clearTimeout(exchange.timer)
  exchange.request.signal?.removeEventListener('abort', exchange.onAbort)
}

const settle = (exchange: Exchanging, answer: (body: Buffer, latencyMs: number) => EgressAnswer): void => {
  if (exchange.isOver) return
  end(exchange)
  const { chunks, startedAt } = exchange
  exchange.resolve(answer(chunks.joined(), Math.round(performance.now() - startedAt)))
}

const fail = (exchange: Exchanging, { fault, detail }: Failure): void => {
  const { status } = exchange
  settle(exchange, (body, latencyMs) => ({ ok: false, fault, detail, status, body, latencyMs }))
}

/** While the connection is still being opened there is no controller: onRequestStart ends the request then. */
const cut = (exchange: Exchanging, failure: Failure): void => {
  fail(exchange, failure)
  exchange.controller?.abort(new Error(failure.fault))
}

/** Somebody has no place for them. */
const giveUp = (exchange: Exchanging, error: Error): void => {
  end(exchange)
  exchange.reject(error)
  exchange.controller?.abort(error)
}

const onData = (exchange: Exchanging, chunk: Buffer): void => {
  if (exchange.isOver) return
  const { bytesMax, onBytes } = exchange.request
  try {
    onBytes?.(chunk.length)
  } catch (error) {
    giveUp(exchange, error as Error)
    return
  }
  const room = bytesMax - exchange.bytes
  exchange.bytes += chunk.length
  exchange.chunks.add(chunk.length <= room ? chunk : chunk.subarray(0, room))
  if (chunk.length > room)
    cut(exchange, { fault: 'ANSWER_TOO_LARGE', detail: `answers with more than ${bytesMax} bytes` })
}

const onError = (exchange: Exchanging, error: Error): void => {
  if (codeOf(error) !== 'UND_ERR_INVALID_ARG') {
    fail(exchange, failureOf(error))
    return
  }
  end(exchange)
  exchange.reject(new TypeError('the request cannot be sent', { cause: error }))
}

const handlerOf = (exchange: Exchanging): Dispatcher.DispatchHandler => ({
  onRequestStart: (started) => {
    exchange.controller = started
    if (exchange.isOver) started.abort(new Error('TIMEOUT'))
  },
  onResponseStart: (_controller, code, fields) => {
    // 103 and its like come before the answer.
    if (code < 200) return
    exchange.status = code
    exchange.headers = fields
  },
  onResponseData: (_controller, chunk) => onData(exchange, chunk),
  onResponseEnd: () => {
    const { status, headers } = exchange
    settle(exchange, (body, latencyMs) => ({ ok: true, status: status ?? 0, headers: flat(headers), body, latencyMs }))
  },
  onResponseError: (_controller, error) => onError(exchange, error),
})

/** The raw handler of the dispatcher, without streams: half the cost of `request()`. */
const run = (dispatcher: Dispatcher, target: Target, request: EgressRequest): Promise<EgressAnswer> =>
  new Promise((resolve, reject) => {
    const { limitMs, signal } = request
    const exchange: Exchanging = {
      request,
      startedAt: performance.now(),
      controller: undefined,
      status: null,
      headers: {},
      chunks: makeChunks(),
      bytes: 0,
      isOver: false,
      timer: undefined,
      onAbort: () => cut(exchange, { fault: 'TIMEOUT', detail: 'was given up by us' }),
      resolve,
      reject,
    }
    const late: Failure = { fault: 'TIMEOUT', detail: `gave no whole answer in ${limitMs} ms` }
    exchange.timer = setTimeout(() => cut(exchange, late), limitMs)
    signal?.addEventListener('abort', exchange.onAbort, { once: true })
    if (signal?.aborted) return exchange.onAbort()

    const options: Dispatcher.DispatchOptions = {
      origin: target.origin,
      path: target.path,
      method: request.method,
      headers: { ...request.headers, 'user-agent': 'Bottega' },
      body: request.body ?? null,
      headersTimeout: 0,
      bodyTimeout: 0,
    }
    dispatcher.dispatch(options, handlerOf(exchange))
  })

/** A pool for each origin, even of one connection: only pools bound the life of what they hold. */
const makeAgent = (connect: buildConnector.connector, connections: number): Agent =>
  new Agent({
    factory: (origin, options) => new Pool(origin, options),
    connect,
    connections,
    allowH2: false,
    clientTtl: CONNECTION_MS,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: CONNECTION_MS,
    maxHeaderSize: ANSWER_HEADERS_BYTES_MAX,
  })

export const makeEgress = (options: EgressOptions): Egress => {
  const { allowLoopback, ca, connectionsPerOrigin = CONNECTIONS_PER_ORIGIN } = options
  const reach = makeReach(options)
  const agent = makeAgent(makeConnector(reach, ca), connectionsPerOrigin)
  const underway = new Set<Promise<EgressAnswer>>()
  let isClosed = false

  return {
    exchange: async (request) => {
      const target = targetOf(request.url, allowLoopback)
      const failed = (fault: EgressFault, detail: string): EgressAnswer => ({
        ok: false,
        fault,
        detail,
        status: null,
        body: EMPTY,
        latencyMs: 0,
      })
      if ('problem' in target) return failed('BAD_URL', target.problem)
      if (isClosed) return failed('CONNECTION_FAILED', 'was not asked: the service is stopping')
      const answer = run(agent, target, request)
      underway.add(answer)
      return answer.finally(() => underway.delete(answer))
    },
    judge: async (url) => {
      const target = targetOf(url, allowLoopback)
      if ('problem' in target) return target.problem
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<null>((resolve) => {
        timer = setTimeout(() => resolve(null), JUDGE_MS)
      })
      const judged = reach(target).then(
        () => null,
        (error) => (error instanceof NotConnected && error.fault === 'EGRESS_REFUSED' ? error.message : null),
      )
      return Promise.race([judged, late]).finally(() => clearTimeout(timer))
    },
    close: async () => {
      isClosed = true
      await Promise.allSettled(underway)
      await agent.destroy()
    },
  }
}
