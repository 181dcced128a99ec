/**
 * From a request whose route is known to its answer, and from anything thrown on the way to a refusal. There is one of
 * each, for requests that came through Express and for those that did not (server.ts).
 */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline as flow } from 'node:stream/promises'
import { isForbidden } from '../../controllers/base/errors.ts'
import type { Log } from '../../controllers/base/log.ts'
import { followed } from '../command/written.ts'
import type { Deps } from '../wiring/deps.ts'
import type { Route } from '../wiring/route.ts'
import type { Caller } from './caller.ts'
import type { Exchange, Stage } from './exchange.ts'
import { asProblem, type Failed, type Problem, problemBody, withOutcome } from './problem.ts'
import { Aborted, BODY_MAX_BYTES, bodyTimeMs, hasBody, takeBody } from './reading/take.ts'
import type { Answer } from './route.ts'

/** How long the rest of a body that nobody wants may go on arriving after its refusal was sent. */
const LINGER_MS = 1_000

/** One request of one client, from its first line to its answer. */
export type RequestContext = {
  request: IncomingMessage
  response: ServerResponse
  requestId: string
  startedMs: number
  /** The template of its route; `unknown` until one is found. */
  template: string
  /** What stages want on whatever is answered. */
  answerHeaders: Record<string, string>
}

/** What metrics count of an answered request: the route's template, never the path. */
export type ObservedRequest = { method: string; route: string; status: number; durationMs: number }

type Addressed = Pick<Deps, 'publicUrl'>

/** @typeParam Needs the parts that the routes take */
export type AnswerDeps<Needs> = {
  deps: Addressed & Needs
  /** What every request passes through before its handler (pipeline.ts). */
  pipeline: Stage
  log: Log
  /** Called once per request that was answered. */
  observe(request: ObservedRequest): void
  /** Where a path that was written to can be read; undefined where nothing above it can. */
  lookAt?(url: string): string | undefined
  /** The process is about to end: each answer is the last of its connection. */
  isLeaving?(): boolean
  /** How long a body may take to arrive, by the cap of its route; as take.ts says when left out. */
  bodyTimeMs?(maxBytes: number): number
}

export type RequestHandler<Needs> = {
  begin(request: IncomingMessage, response: ServerResponse): RequestContext
  /** Runs pipeline and handler, and answers. Never rejects. */
  serve(context: RequestContext, found: { route: Route<Needs>; params: Record<string, string> }): Promise<void>
  /** Answers with the problem that an error stands for. */
  refuse(context: RequestContext, error: unknown): void
}

/** A body that is still arriving and is not known to be small: to swallow it all would be to work for an attacker. */
const leavesMuch = (request: IncomingMessage): boolean => {
  if (request.complete || !hasBody(request)) return false
  const declared = request.headers['content-length']
  return declared === undefined || Number(declared) > BODY_MAX_BYTES
}

/**
 * Sends everything, but closes only when the client has finished or its time is up: closing on unread bytes resets the
 * connection, and the client would never see why it was refused (RFC 9112 section 9.6).
 */
const endAfterRest = ({ request, response }: RequestContext, content: Buffer | string | undefined): void => {
  // Headers alone are not sent by writeHead; an empty write would not send them either.
  if (content !== undefined) response.write(content)
  else response.flushHeaders()
  const end = () => {
    clearTimeout(timer)
    request.off('end', end).off('close', end)
    response.end()
  }
  const timer = setTimeout(end, LINGER_MS)
  request.on('error', () => undefined)
  request.on('end', end).on('close', end).resume()
}

/** Text rather than bytes where it may be: node joins it to the headers, and one write does for two. */
const contentOf = ({ bytes, body }: Answer): Buffer | string =>
  bytes ?? (body === undefined ? '' : (JSON.stringify(body) ?? ''))

/** The head at once, then whatever comes. The source is ended with the connection, whichever ends first. */
const pour = (
  { request, response }: RequestContext,
  stream: AsyncIterable<string | Buffer>,
  head: Record<string, string | number>,
  status: number,
): void => {
  response.writeHead(status, head)
  response.flushHeaders()
  const source = Readable.from(stream)
  // The status is out: what fails now can only cut the connection, which `flow` does.
  if (request.method === 'HEAD') response.end(() => source.destroy())
  else flow(source, response).catch(() => undefined)
}

/** A client may read as slowly as this, and no slower: what it leaves unread is memory of ours. */
const READ_MS = 30_000
const READ_BYTES_PER_SECOND = 50_000

/** Ends the connection of whoever does not read what is large. */
const endSlowReader = ({ response }: RequestContext, length: number): void => {
  const limitMs = READ_MS + (length / READ_BYTES_PER_SECOND) * 1000
  const timer = setTimeout(() => response.destroy(), limitMs)
  response.once('close', () => clearTimeout(timer))
}

const send = (context: RequestContext, answer: Answer, always: Record<string, string>, isLast: boolean): void => {
  const { request, response } = context
  const { status, onSent } = answer
  if (onSent) response.once('close', onSent)
  const content = contentOf(answer)
  const length = Buffer.byteLength(content)
  const head: Record<string, string | number> = { 'request-id': context.requestId }
  if (length > 0) head['content-type'] = 'application/json; charset=utf-8'
  head['cache-control'] = 'no-store'
  head['x-content-type-options'] = 'nosniff'
  Object.assign(head, always, context.answerHeaders, answer.headers)
  const rest = leavesMuch(request)
  if (isLast || rest) head.connection = 'close'
  if (answer.stream) {
    pour(context, answer.stream, head, status)
    return
  }
  head['content-length'] = length
  response.writeHead(status, head)
  const shown = request.method === 'HEAD' || length === 0 ? undefined : content
  if (rest) endAfterRest(context, shown)
  else response.end(shown)
  if (onSent) endSlowReader(context, length)
}

type HandlerState<Needs> = Required<AnswerDeps<Needs>> & {
  /** Headers of every answer. */
  always: Record<string, string>
}

const problemAnswer = (
  { deps }: Pick<HandlerState<unknown>, 'deps'>,
  context: RequestContext,
  problem: Problem,
): Answer => ({
  status: problem.status,
  body: problemBody(problem, context.requestId, deps.publicUrl),
  headers: { 'content-type': 'application/problem+json; charset=utf-8', ...problem.headers },
})

const finish = (state: HandlerState<unknown>, context: RequestContext, given: Answer): void => {
  try {
    send(context, given, state.always, state.isLeaving())
  } catch (error) {
    // A header that node refuses. What was meant to be said is lost; that it went wrong is not.
    state.log.error({ err: error, requestId: context.requestId }, 'answer not sent')
    const isSecond = given.status === 500
    if (isSecond || context.response.headersSent) context.response.destroy()
    else finish(state, { ...context, answerHeaders: {} }, problemAnswer(state, context, asProblem(error)))
    return
  }
  state.observe({
    method: context.request.method ?? '',
    route: context.template,
    status: given.status,
    durationMs: performance.now() - context.startedMs,
  })
}

/**
 * Answers that are ready in one turn of the event loop leave together, after it: each write wakes its reader, and
 * to be woken once for many halves the cost of a request (`hack/bench http`).
 */
const answer = (state: HandlerState<unknown>, context: RequestContext, given: Answer): void => {
  setImmediate(finish, state, context, given)
}

/** @param outcome of a request that came as far as its stages */
const refuse = (
  state: HandlerState<unknown>,
  context: RequestContext,
  error: unknown,
  outcome: Failed['outcome'] = 'not_stored',
): void => {
  const { response, requestId } = context
  if (error instanceof Aborted) {
    response.destroy()
    return
  }
  const { method, url = '' } = context.request
  const isRead = method === 'GET' || method === 'HEAD'
  const problem = withOutcome(asProblem(error), { isRead, outcome, lookAt: isRead ? undefined : state.lookAt(url) })
  // a right that is missing is nobody's to wait for but who runs the platform
  if (problem.code === 'INTERNAL' || isForbidden(error)) state.log.error({ err: error, requestId }, 'request failed')
  answer(state, context, problemAnswer(state, context, problem))
}

type Found = { route: Route; params: Record<string, string> }

const exchangeOf = (context: RequestContext, { route, params }: Found, timeMs: typeof bodyTimeMs): Exchange => {
  const { request } = context
  let bytes: Promise<Buffer> | undefined
  const take = async (): Promise<Buffer> => {
    const maxBytes = route.bodyMaxBytes ?? BODY_MAX_BYTES
    const taken = await takeBody(request, { maxBytes, timeMs: timeMs(maxBytes), meter: exchange.meter })
    exchange.onArrival?.()
    return taken
  }
  const exchange: Exchange = {
    route,
    method: request.method ?? '',
    url: request.url ?? '',
    params,
    headers: request.headers,
    ip: request.socket.remoteAddress ?? '',
    requestId: context.requestId,
    isGone: () => context.response.destroyed || request.socket.destroyed,
    bytes: () => {
      bytes ??= take()
      return bytes
    },
    answerHeaders: context.answerHeaders,
    query: {},
    body: undefined,
    form: undefined,
  }
  return exchange
}

const serve = async <Needs>(
  state: HandlerState<Needs>,
  context: RequestContext,
  { route, params }: { route: Route<Needs>; params: Record<string, string> },
): Promise<void> => {
  context.template = route.path
  const exchange = exchangeOf(context, { route, params }, state.bodyTimeMs)
  const handle = () => route.handle(state.deps, { ...exchange, caller: exchange.caller as Caller })
  await followed(async (outcome) => {
    try {
      answer(state, context, await state.pipeline(exchange, handle))
    } catch (error) {
      refuse(state, context, error, outcome())
    }
  })
}

const begin = (request: IncomingMessage, response: ServerResponse): RequestContext => ({
  request,
  response,
  requestId: randomUUID(),
  startedMs: performance.now(),
  template: 'unknown',
  answerHeaders: {},
})

/** Makes what answers every request. */
export const makeRequestHandler = <Needs>(deps: AnswerDeps<Needs>): RequestHandler<Needs> => {
  /** Behind https a browser shall never try anything else again (RFC 6797). */
  const always: Record<string, string> = deps.deps.publicUrl.startsWith('https:')
    ? { 'strict-transport-security': 'max-age=31536000' }
    : {}
  const plain = { isLeaving: () => false, lookAt: () => undefined, bodyTimeMs }
  const state: HandlerState<Needs> = { ...plain, ...deps, always }
  return {
    begin,
    serve: (context, found) => serve(state, context, found),
    refuse: (context, error) => refuse(state, context, error),
  }
}
