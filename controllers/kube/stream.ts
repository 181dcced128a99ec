/**
 * One watch connection: lines of JSON for minutes, cut when no byte comes. Which version to resume from, and what to do
 * after a failure, is watch.ts's business.
 */
import type { Dispatcher } from 'undici'
import { KubeError } from '../base/errors.ts'
import type { WatchEvent } from './objects.ts'
import { type CallInfo, connectionError, errorOf, hostOf, type KubeAnswer, type Transport } from './transport.ts'

/** etcd takes 1.5 MiB per object; more without a newline is no event. */
const LINE_MAX_BYTES = 8 * 1024 * 1024
const ERROR_BODY_MAX_BYTES = 64 * 1024

export type WatchCall = CallInfo & {
  query: string
  idleMs: number
  signal: AbortSignal
  onEvent: (event: WatchEvent) => void
  onBytes?: () => void
}

type StatusObject = { code?: number; reason?: string; message?: string }

const garbage = (call: CallInfo): KubeError =>
  new KubeError(`${call.verb} ${call.path}`, { status: 0, reason: 'Garbage' })

/** Splits chunks into lines; keeps the unfinished rest. @throws when a line is larger than any event */
const makeLines = (call: CallInfo, onLine: (line: string) => void): ((chunk: Buffer) => void) => {
  let rest: Buffer[] = []
  let restBytes = 0
  return (chunk) => {
    let from = 0
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      const piece = chunk.subarray(from, at)
      const line = restBytes === 0 ? piece : Buffer.concat([...rest, piece])
      rest = []
      restBytes = 0
      from = at + 1
      if (line.length > 0) onLine(line.toString())
    }
    if (from >= chunk.length) return
    rest.push(chunk.subarray(from))
    restBytes += chunk.length - from
    if (restBytes > LINE_MAX_BYTES) throw garbage(call)
  }
}

const isEvent = (value: unknown): value is { type: string; object: object } =>
  typeof value === 'object' &&
  value !== null &&
  'type' in value &&
  'object' in value &&
  typeof value.object === 'object'

/** @throws KubeError for garbage and for an ERROR event, whatever its code */
const readEvent = (call: CallInfo, line: string): WatchEvent => {
  let parsed: unknown
  try {
    parsed = JSON.parse(line)
  } catch {
    throw garbage(call)
  }
  if (!isEvent(parsed) || parsed.object === null) throw garbage(call)
  if (parsed.type === 'ERROR') {
    const { code = 500, reason = 'WatchError', message = '' } = parsed.object as StatusObject
    throw new KubeError(`${call.verb} ${call.path}`, { status: code, reason, detail: message })
  }
  if (!('metadata' in parsed.object)) throw garbage(call)
  return parsed as WatchEvent
}

type Ending = { over: boolean; end: (error?: unknown) => void; alive: () => void }

/** Feeds what comes to the call; what goes wrong ends it. */
const makeHandler = (call: WatchCall, ending: Ending, seen: (code: string) => void): Dispatcher.DispatchHandler => {
  let status = 0
  let headers: KubeAnswer['headers'] = {}
  let refusal = Buffer.alloc(0)
  const lines = makeLines(call, (line) => {
    if (!ending.over) call.onEvent(readEvent(call, line))
  })
  return {
    onResponseStart: (_controller, statusCode, responseHeaders) => {
      status = statusCode
      headers = responseHeaders
      seen(String(status))
      ending.alive()
      if (status === 200) call.onBytes?.()
    },
    onResponseData: (_controller, chunk) => {
      if (ending.over) return
      ending.alive()
      if (status !== 200) {
        if (refusal.length < ERROR_BODY_MAX_BYTES) refusal = Buffer.concat([refusal, chunk])
        return
      }
      call.onBytes?.()
      try {
        lines(chunk)
      } catch (error) {
        ending.end(error)
      }
    },
    onResponseEnd: () => ending.end(status === 200 ? undefined : errorOf(call, { status, body: refusal, headers })),
    onResponseError: (_controller, error) => {
      if (status === 0) seen('<error>')
      ending.end(error)
    },
  }
}

/** Resolves when the server ends the stream. @throws KubeError */
export const streamEvents = async (transport: Transport, call: WatchCall): Promise<void> => {
  const startedAt = performance.now()
  const door = await transport.auth.door()
  const seen = (code: string) => {
    const durationMs = performance.now() - startedAt
    transport.count({ verb: call.verb, path: call.path, method: 'GET', code, durationMs }, hostOf(door))
  }
  const failed = (reason: string) => new KubeError(`${call.verb} ${call.path}`, { status: 0, reason })

  await new Promise<void>((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined
    const end = (error?: unknown) => {
      if (ending.over) return
      ending.over = true
      clearTimeout(idle)
      call.signal.removeEventListener('abort', onAbort)
      if (error === undefined) return resolve()
      const known = connectionError(call, error)
      if (known.status === 401) transport.auth.distrust()
      controller?.abort(known)
      reject(known)
    }
    // A half-open connection never says that it is dead: only silence does (fluent-bit#12105).
    const idle = setTimeout(() => end(failed('Stalled')), call.idleMs)
    const ending: Ending = { over: false, end, alive: () => idle.refresh() }
    const onAbort = () => end(failed('Aborted'))
    call.signal.addEventListener('abort', onAbort, { once: true })
    if (call.signal.aborted) return onAbort()

    const path = `${door.prefix}${call.path}?${call.query}`
    const options = {
      origin: door.origin,
      path,
      method: 'GET',
      headers: door.headers,
      headersTimeout: 0,
      bodyTimeout: 0,
    } as const
    door.dispatcher.dispatch(options, {
      ...makeHandler(call, ending, seen),
      onRequestStart: (started) => {
        controller = started
        if (ending.over) started.abort(failed('Aborted'))
      },
    })
  })
}
