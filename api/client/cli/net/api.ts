/**
 * The API as commands use it: with the token, as JSON, again when the connection is lost. Each change is sent under one
 * Idempotency-Key as often as need be, so that a repeat finds what its first try did.
 */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Terminal } from '../show/terminal.ts'
import { type ApiRefusal, EXIT, GaveUp, RefusedByApi } from './outcome.ts'
import { type ClientReply, readWhole, sendHead, type UploadFile } from './send.ts'

/** Nobody has answered for so long: given up. */
const LOST_MS = 60_000
/** The same of the first try of a command: a wrong address shall be told soon. */
const NEVER_MS = 10_000
const STEP_MS = 500
const STEP_MAX_MS = 5_000
/** A part of the installation is away for a moment, or others ask a lot. */
const PASSING: Readonly<Record<string, readonly number[]>> = {
  UNAVAILABLE: [503],
  TOO_MANY_REQUESTS: [429],
  IDEMPOTENCY_IN_FLIGHT: [409],
}
const AWAY = [502, 503, 504]
const FINAL_ERRORS = ['ENOTFOUND', 'ERR_INVALID_URL', 'ERR_TLS_CERT_ALTNAME_INVALID', 'CERT_HAS_EXPIRED']

export type ApiCall = {
  method: string
  /** With the query. */
  path: string
  json?: unknown
  file?: UploadFile
  /** Names this change; drawn when left out. */
  key?: string
  headers?: Record<string, string>
  onSent?(bytes: number): void
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into, member by member, and newer servers say more
export type AnswerBody = any
export type ApiAnswer = { status: number; headers: IncomingMessage['headers']; body: AnswerBody; text: string }

export type ApiClient = {
  /** @throws RefusedByApi for 4xx and 5xx, GaveUp */
  call(asked: ApiCall): Promise<ApiAnswer>
  /** The head of an answer that goes on. @throws as `call` */
  stream(asked: ApiCall): Promise<IncomingMessage>
  /** Milliseconds until the time that the command was given is up. */
  leftMs(): number
  baseUrl: string
}

const parsed = (text: string): AnswerBody => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const refusalOf = ({ status, text }: ClientReply): ApiRefusal => {
  const body = parsed(text)
  if (typeof body?.code === 'string') return { ...body, status }
  const seen = text.slice(0, 200).trim()
  const redirected = status >= 300 && status < 400 ? ' It leads elsewhere, and the token is not carried there.' : ''
  return {
    status,
    code: status === 401 ? 'UNAUTHENTICATED' : 'NOT_THE_API',
    detail: `The server answered ${status}, not as the API does${seen && `: ${seen}`}.${redirected}`,
    next: 'Check BOTTEGA_URL: it is the address of the installation, without a path.',
  }
}

/** Whether the same request is to be sent again, and when. */
const passingMs = ({ status, headers, text }: ClientReply): number | null => {
  const code: string | undefined = parsed(text)?.code
  const passes = code === undefined ? AWAY.includes(status) : (PASSING[code]?.includes(status) ?? false)
  if (status < 400 || !passes) return null
  const seconds = Number(headers['retry-after'])
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds * 1000, 30_000) : STEP_MS
}

/** @throws RefusedByApi */
const concluded = ({ method }: ApiCall, reply: ClientReply, tries: number): ApiAnswer => {
  // The try before was lost after it had done its work.
  const isDone = method === 'DELETE' && tries > 0 && reply.status === 404
  if (reply.status >= 300 && !isDone) throw new RefusedByApi(refusalOf(reply))
  return { ...reply, body: parsed(reply.text) }
}

/** How long to wait before the next try of something that was lost. */
const stepMs = (tries: number): number => Math.min(STEP_MS * 2 ** tries, STEP_MAX_MS) * (0.75 + Math.random() / 2)

export type ApiDeps = {
  baseUrl: string
  token: string
  terminal: Terminal
  version: string
  /** When the command's time is up, on the clock of `performance`. */
  endMs: number
  signal: AbortSignal
}

/** Opens one request. */
const headOf = ({ baseUrl, token, version, signal }: ApiDeps, asked: ApiCall, key: string | undefined) => {
  const { method, path, json, file, headers, onSent } = asked
  const text = json === undefined ? undefined : JSON.stringify(json)
  const body = file ?? text
  const length = file?.bytes ?? (text === undefined ? undefined : Buffer.byteLength(text))
  return sendHead({
    url: new URL(path, baseUrl),
    method,
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'application/json',
      'user-agent': `bottega-client/${version}`,
      ...(text !== undefined && { 'content-type': 'application/json' }),
      ...(length !== undefined && { 'content-length': String(length) }),
      ...(key !== undefined && { 'idempotency-key': key }),
      ...headers,
    },
    ...(body !== undefined && { body }),
    ...(onSent && { onSent }),
    signal,
  })
}

const KEYED = ['POST', 'PUT', 'PATCH']

/** One for all tries of a change; others need none. */
const keyOf = ({ method, key }: ApiCall): string | undefined =>
  KEYED.includes(method) ? (key ?? randomUUID()) : undefined

const whole = async (answer: IncomingMessage): Promise<ClientReply> => ({
  status: answer.statusCode ?? 0,
  headers: answer.headers,
  text: await readWhole(answer),
})

/** What one try came to: the head of an answer that goes on, a whole answer, or a broken connection. */
type Tried = { stream: IncomingMessage } | { reply: ClientReply } | { lost: string }

const tryOnce = async (deps: ApiDeps, asked: ApiCall, key: string | undefined, flows: boolean): Promise<Tried> => {
  try {
    const answer = await headOf(deps, asked, key)
    return flows && answer.statusCode === 200 ? { stream: answer } : { reply: await whole(answer) }
  } catch (error) {
    if (deps.signal.aborted) throw error
    const { code = '', message } = error as NodeJS.ErrnoException
    if (FINAL_ERRORS.includes(code)) {
      throw new GaveUp(`${deps.baseUrl} cannot be reached: ${message}.`, EXIT.failed)
    }
    return { lost: code || message }
  }
}

export const makeApi = (deps: ApiDeps): ApiClient => {
  const { baseUrl, terminal, endMs, signal } = deps
  let hasAnswered = false
  let lastWhy = ''

  /** Sleeps before the next try. @throws GaveUp when there is no time for it */
  const pause = async (ms: number, why: string, giveUpMs: number): Promise<void> => {
    if (performance.now() + ms > Math.min(endMs, giveUpMs)) {
      const exitCode = endMs <= giveUpMs ? EXIT.timedOut : EXIT.failed
      throw new GaveUp(`${baseUrl} does not answer: ${why}.`, exitCode)
    }
    // said once for each reason; the tries after it pass
    if (why === lastWhy) terminal.passing(`${why}; trying again`)
    else terminal.say(`${why}; trying again`)
    lastWhy = why
    await sleep(ms, undefined, { signal })
  }

  const untilAnswered = async (asked: ApiCall, flows: boolean): Promise<{ stream: IncomingMessage } | ApiAnswer> => {
    const key = keyOf(asked)
    let giveUpMs = performance.now() + (hasAnswered ? LOST_MS : NEVER_MS)
    for (let tries = 0; ; tries += 1) {
      const tried = await tryOnce(deps, asked, key, flows)
      if ('stream' in tried) return tried
      if ('lost' in tried) {
        await pause(stepMs(tries), `the connection was lost (${tried.lost})`, giveUpMs)
        continue
      }
      hasAnswered = true
      giveUpMs = performance.now() + LOST_MS
      const { reply } = tried
      const waitMs = passingMs(reply)
      if (waitMs === null) return concluded(asked, reply, tries)
      await pause(Math.max(waitMs, stepMs(0)), `it answered ${reply.status}`, endMs)
    }
  }

  return {
    call: async (asked) => (await untilAnswered(asked, false)) as ApiAnswer,
    stream: async (asked) => {
      const answered = await untilAnswered(asked, true)
      if ('stream' in answered) return answered.stream
      throw new RefusedByApi(refusalOf(answered))
    },
    leftMs: () => endMs - performance.now(),
    baseUrl,
  }
}
