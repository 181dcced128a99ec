/** One HTTP exchange with the API server: deadline, bounded retries, errors without bodies. Verbs stand in kube.ts. */
import type { Dispatcher } from 'undici'
import { type Backoff, backoffMs, sleep } from '../base/backoff.ts'
import { type Cause, KubeError } from '../base/errors.ts'
import { type Auth, type AuthOptions, type Door, makeAuth } from './auth.ts'

export const CALL_TIMEOUT_MS = 10_000
const ATTEMPTS_MAX = 5
const RETRY: Backoff = { minMs: 100, maxMs: 3_000 }
/** No answer that Bottega asks for comes near this: pages of lists are bounded, objects too. */
const ANSWER_MAX_BYTES = 64 * 1024 * 1024

export type KubeMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** What is said about a call in metrics and hooks: never its body. */
export type CallInfo = { verb: string; path: string }
export type RequestInfo = CallInfo & { method: KubeMethod; host: string; code: string; durationMs: number }

/** Put round every call; a test crashes before or after `run`. */
export type AroundCall = <T>(call: CallInfo, run: () => Promise<T>) => Promise<T>

export type KubeCall = CallInfo & {
  method: KubeMethod
  query?: string
  body?: string
  contentType?: string
  /** May be sent twice: reads, and writes with a precondition. */
  idempotent: boolean
  timeoutMs?: number
  signal?: AbortSignal
}

export type TransportOptions = AuthOptions & {
  onRequest?: (info: RequestInfo) => void
  around?: AroundCall
  random?: () => number
  timeoutMs?: number
}

export type KubeAnswer = { status: number; body: Buffer; headers: Record<string, string | string[] | undefined> }

const retryAfterOf = (value: string | string[] | undefined): number | undefined => {
  const seconds = typeof value === 'string' && value !== '' ? Number(value) : Number.NaN
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined
}

type StatusBody = {
  reason?: string
  message?: string
  details?: { causes?: Partial<Cause>[]; retryAfterSeconds?: number }
}

/** Reads a Kubernetes `Status`; anything else (a proxy's page) leaves only the number. */
export const errorOf = (call: CallInfo, answer: KubeAnswer): KubeError => {
  let body: StatusBody = {}
  try {
    const parsed: unknown = JSON.parse(answer.body.toString())
    if (typeof parsed === 'object' && parsed !== null) body = parsed
  } catch {}
  const causes = body.details?.causes ?? []
  const seconds = body.details?.retryAfterSeconds
  const retryAfterMs =
    retryAfterOf(answer.headers['retry-after']) ?? (seconds === undefined ? undefined : seconds * 1000)
  return new KubeError(`${call.verb} ${call.path}`, {
    status: answer.status,
    reason: typeof body.reason === 'string' && body.reason !== '' ? body.reason : `Status${answer.status}`,
    detail: typeof body.message === 'string' ? body.message : '',
    causes: causes.map((c) => ({ field: c.field ?? '', reason: c.reason ?? '', message: c.message ?? '' })),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
}

/** A connection that failed, or our own abort: a KubeError with status 0. */
export const connectionError = (call: CallInfo, error: unknown): KubeError => {
  if (error instanceof KubeError) return error
  const code: unknown = (error as { code?: unknown } | null)?.code
  const named =
    typeof code === 'string' && /^[A-Z0-9_]{2,40}$/.test(code) ? `ConnectionFailed ${code}` : 'ConnectionFailed'
  return new KubeError(`${call.verb} ${call.path}`, { status: 0, reason: named })
}

/** The connection was never made. */
const NEVER_SENT =
  /^ConnectionFailed (ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT)$/

/** Nothing was sent, in no attempt: what was to be written is not there. */
export const isNeverSent = ({ status, reason }: KubeError): boolean => status === 0 && NEVER_SENT.test(reason)

const isTransient = (error: KubeError): boolean => error.status === 0 || error.status === 429 || error.status >= 500

/** After one attempt that may have been done, a later one that was never sent says nothing. */
const gravest = (before: unknown, error: unknown): unknown => {
  const isOpen = before instanceof KubeError && isTransient(before) && !isNeverSent(before)
  return isOpen && error instanceof KubeError && isNeverSent(error) ? before : error
}

// The raw dispatch handler: no stream objects per answer, which halves the cost of a call against `request()`.
const exchange = (door: Door, call: KubeCall, signal: AbortSignal): Promise<KubeAnswer> =>
  new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined
    let status = 0
    let headers: KubeAnswer['headers'] = {}
    let bytes = 0
    const chunks: Buffer[] = []
    const settle = (act: () => void) => {
      signal.removeEventListener('abort', onAbort)
      act()
    }
    // Rejects at once: while a connection is still being opened there is no controller to abort yet.
    const onAbort = () => {
      controller?.abort(signal.reason)
      settle(() => reject(signal.reason))
    }
    signal.addEventListener('abort', onAbort, { once: true })
    const options: Dispatcher.DispatchOptions = {
      origin: door.origin,
      path: `${door.prefix}${call.path}${call.query ? `?${call.query}` : ''}`,
      method: call.method,
      headers: call.contentType ? { ...door.headers, 'content-type': call.contentType } : door.headers,
      body: call.body ?? null,
      headersTimeout: 0,
      bodyTimeout: 0,
    }
    door.dispatcher.dispatch(options, {
      onRequestStart: (started) => {
        controller = started
        if (signal.aborted) started.abort(signal.reason)
      },
      onResponseStart: (_controller, statusCode, responseHeaders) => {
        status = statusCode
        headers = responseHeaders
      },
      onResponseData: (running, chunk) => {
        bytes += chunk.length
        if (bytes > ANSWER_MAX_BYTES) running.abort(new Error('the answer is too large'))
        else chunks.push(chunk)
      },
      onResponseEnd: () => {
        const [only] = chunks
        const body = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks)
        settle(() => resolve({ status, body, headers }))
      },
      onResponseError: (_controller, error) => settle(() => reject(error)),
    })
  })

/** `host:port`, the label of the metric. */
export const hostOf = (door: Door): string => door.origin.replace(/^.*\/\//, '')

export type Transport = {
  /** @returns the parsed body @throws KubeError */
  call<T>(call: KubeCall): Promise<T>
  /** For watches: the door for one long answer, which has its own limits. */
  auth: Auth
  /** Counts a request that did not go through `call`. */
  count(info: Omit<RequestInfo, 'host'>, host: string): void
  close(): Promise<void>
}

type Attempt = (call: KubeCall, signal: AbortSignal) => Promise<Buffer>

/** One exchange, counted. @throws KubeError for anything but 2xx */
const makeAttempt = (auth: Auth, count: Transport['count']): Attempt => {
  const seen = (call: KubeCall, door: Door, code: string, startedAt: number) => {
    const { verb, path, method } = call
    count({ verb, path, method, code, durationMs: performance.now() - startedAt }, hostOf(door))
  }
  return async (call, signal) => {
    const startedAt = performance.now()
    const opened = auth.door()
    const door = opened instanceof Promise ? await opened : opened
    const answer = await exchange(door, call, signal).catch((error) => {
      seen(call, door, '<error>', startedAt)
      throw connectionError(call, error)
    })
    seen(call, door, String(answer.status), startedAt)
    if (answer.status < 200 || answer.status > 299) throw errorOf(call, answer)
    return answer.body
  }
}

/**
 * Attempts until one succeeds, the error is final, or the time is over. One whose answer was lost may have been done: that one
 * is told of, and not a later one that was never sent.
 */
const makePersist = (attempt: Attempt, auth: Auth, random: () => number) => {
  const mayRetry = (call: KubeCall, error: KubeError, attempts: number): boolean => {
    // 401 is decided before anything is done: rotated credentials are read anew, and the call goes once more.
    if (error.status === 401) {
      auth.distrust()
      return attempts === 1
    }
    return call.idempotent && isTransient(error) && attempts < ATTEMPTS_MAX
  }

  /** @returns how long to wait before the next attempt; undefined when this was the last */
  const patience = (call: KubeCall, error: unknown, attempts: number, leftMs: number): number | undefined => {
    if (!(error instanceof KubeError) || !mayRetry(call, error, attempts)) return undefined
    if (error.status === 401) return 0
    const waitMs = error.retryAfterMs ?? backoffMs(RETRY, attempts - 1, random)
    return waitMs < leftMs ? waitMs : undefined
  }

  return async (call: KubeCall, signal: AbortSignal, endAt: number): Promise<Buffer> => {
    let doubt: unknown
    for (let attempts = 1; ; attempts += 1) {
      try {
        return await attempt(call, signal)
      } catch (error) {
        const waitMs = signal.aborted ? undefined : patience(call, error, attempts, endAt - performance.now())
        doubt = gravest(doubt, error)
        if (waitMs === undefined) throw doubt
        await sleep(waitMs, signal)
      }
    }
  }
}

/** @throws Error when the kubeconfig cannot be read */
export const makeTransport = (options: TransportOptions): Transport => {
  const auth = makeAuth(options)
  const closed = new AbortController()
  const count: Transport['count'] = (info, host) => options.onRequest?.({ ...info, host })
  const persist = makePersist(makeAttempt(auth, count), auth, options.random ?? Math.random)

  const run = async <T>(call: KubeCall): Promise<T> => {
    const limitMs = call.timeoutMs ?? options.timeoutMs ?? CALL_TIMEOUT_MS
    const control = new AbortController()
    const fail = (reason: string) => control.abort(new KubeError(`${call.verb} ${call.path}`, { status: 0, reason }))
    const onAbort = () => fail('Aborted')
    const timer = setTimeout(() => fail('Timeout'), limitMs)
    const signals = call.signal ? [call.signal, closed.signal] : [closed.signal]
    for (const signal of signals) {
      signal.addEventListener('abort', onAbort, { once: true })
      if (signal.aborted) onAbort()
    }
    try {
      const body = await persist(call, control.signal, performance.now() + limitMs)
      return (body.length === 0 ? undefined : JSON.parse(body.toString())) as T
    } finally {
      clearTimeout(timer)
      for (const signal of signals) signal.removeEventListener('abort', onAbort)
    }
  }

  return {
    call: (call) => (options.around ? options.around(call, () => run(call)) : run(call)),
    auth,
    count,
    close: async () => {
      closed.abort()
      await auth.close()
    },
  }
}
