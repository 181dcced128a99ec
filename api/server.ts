/**
 * The window: routes are declared as data (route.ts) and this file turns them into an Express application.
 * Each request gets an id, passes through the pipeline to its handler, and is answered; errors have one mapping.
 */
import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import express, { type ErrorRequestHandler, type Request, type Response } from 'express'
import { KubeError } from '../controllers/runtime/kube.ts'
import type { Log } from '../controllers/runtime/log.ts'
import { DatabaseUnavailable } from '../controllers/runtime/pg.ts'
import type { Caller } from './auth.ts'
import { takeBody } from './body.ts'
import type { Deps } from './deps.ts'
import type { Exchange, Stage } from './exchange.ts'
import { Problem, problemBody } from './problem.ts'
import type { Answer, Method, Route } from './route.ts'

/** No request holds a socket longer than this (the bounded wait is 15 s). */
const REQUEST_TIMEOUT_MS = 30_000
const RETRY_AFTER_SECONDS = '2'

export type ServerDeps = {
  routes: Route[]
  deps: Deps
  /** What every request passes through before its handler (pipeline.ts). */
  pipeline: Stage
  log: Log
  /** Called once per answered request, with the route's template, never the path. */
  observe(request: { method: string; route: string; status: number; durationMs: number }): void
}

const send = (response: Response, answer: Answer): void => {
  const { status, headers = {} } = answer
  const bytes =
    answer.bytes ?? (answer.body === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(answer.body), 'utf8'))
  response.writeHead(status, {
    ...(bytes.length > 0 && { 'content-type': 'application/json; charset=utf-8' }),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...response.locals.answerHeaders,
    ...headers,
    'content-length': bytes.length,
  })
  response.end(response.req.method === 'HEAD' ? undefined : bytes)
}

/** Anything thrown under a route becomes a Problem; what is not ours says nothing of our insides. */
const asProblem = (error: unknown): Problem => {
  if (error instanceof Problem) return error
  if (error instanceof DatabaseUnavailable) {
    return new Problem('UNAVAILABLE', 'The ledger cannot be reached; nothing was stored.', {
      headers: { 'retry-after': RETRY_AFTER_SECONDS },
    })
  }
  if (error instanceof KubeError && (error.status === 0 || error.status === 429 || error.status >= 500)) {
    return new Problem('UNAVAILABLE', 'The control plane cannot be reached; send the same request again.', {
      headers: { 'retry-after': RETRY_AFTER_SECONDS },
    })
  }
  const type = (error as { type?: string }).type
  if (type === 'entity.too.large') return new Problem('BODY_TOO_LARGE', 'The body is larger than this route takes.')
  if (typeof type === 'string' && (type.startsWith('encoding.') || type.startsWith('request.'))) {
    return new Problem('MALFORMED_JSON', 'The body could not be read.')
  }
  // Express refuses a path that is not valid percent-encoding.
  if (error instanceof URIError) return new Problem('NOT_FOUND', 'The path is not valid.')
  return new Problem('INTERNAL', 'The request failed inside the service.')
}

type Handler = (request: Request, response: Response) => Promise<Answer>

const makeHandler = (route: Route, { deps, pipeline }: Pick<ServerDeps, 'deps' | 'pipeline'>): Handler => {
  return async (request, response) => {
    const answerHeaders: Record<string, string> = {}
    response.locals.answerHeaders = answerHeaders
    let bytes: Promise<Buffer> | undefined
    const exchange: Exchange = {
      route,
      method: request.method,
      url: request.originalUrl,
      params: request.params as Record<string, string>,
      headers: request.headers,
      ip: request.socket.remoteAddress ?? '',
      requestId: response.locals.requestId,
      bytes: () => {
        bytes ??= takeBody(request, response)
        return bytes
      },
      answerHeaders,
      query: {},
      body: undefined,
      form: undefined,
    }
    return pipeline(exchange, () => route.handle(deps, { ...exchange, caller: exchange.caller as Caller }))
  }
}

/** Builds the server without listening. */
export const makeServer = ({ routes, deps, pipeline, log, observe }: ServerDeps): Server => {
  const app = express()
  app.disable('x-powered-by').disable('etag').set('query parser', false).set('case sensitive routing', true)

  app.use((request, response, next) => {
    const startedMs = performance.now()
    response.locals.requestId = randomUUID()
    response.setHeader('request-id', response.locals.requestId)
    response.on('finish', () =>
      observe({
        method: request.method,
        route: response.locals.route ?? 'unknown',
        status: response.statusCode,
        durationMs: performance.now() - startedMs,
      }),
    )
    next()
  })

  for (const path of new Set(routes.map((route) => route.path))) {
    const handlers = new Map(
      routes.filter((route) => route.path === path).map((r) => [r.method, makeHandler(r, { deps, pipeline })]),
    )
    const allow = [...handlers.keys(), ...(handlers.has('GET') ? ['HEAD'] : [])].join(', ')
    app.all(path, async (request, response) => {
      response.locals.route = path
      const handle = handlers.get((request.method === 'HEAD' ? 'GET' : request.method) as Method)
      if (!handle) throw new Problem('METHOD_NOT_ALLOWED', `${path} knows ${allow}.`, { headers: { allow } })
      send(response, await handle(request, response))
    })
  }
  app.use(() => {
    throw new Problem('NOT_FOUND', 'There is no such path.')
  })

  const onError: ErrorRequestHandler = (error, _request, response, _next) => {
    const problem = asProblem(error)
    if (problem.code === 'INTERNAL') log.error({ err: error, requestId: response.locals.requestId }, 'request failed')
    if (response.headersSent) {
      response.destroy()
      return
    }
    send(response, {
      status: problem.status,
      body: problemBody(problem, response.locals.requestId, deps.publicUrl),
      headers: { 'content-type': 'application/problem+json; charset=utf-8', ...problem.headers },
    })
  }
  app.use(onError)
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS, keepAliveTimeout: 65_000 }, app)
  return server
}
