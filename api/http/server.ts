/**
 * The window. Routes are declared as data (route.ts). A plain request for a described route goes straight to its answer
 * (dispatch.ts, answer.ts); Express finds the place for everything else and refuses what has none.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import express, { type Express, type Request, type Response } from 'express'
import type { Route } from '../wiring/route.ts'
import { type AnswerDeps, makeRequestHandler, type RequestContext, type RequestHandler } from './answer.ts'
import { type Dispatch, makeDispatch } from './dispatch.ts'
import { Problem } from './problem.ts'
import { BODY_LARGEST_BYTES, bodyTimeMs } from './reading/take.ts'

/** No request may take longer to arrive than this, whatever its route grants; the headers, than that. Looked after once per `CHECK_MS`. */
const REQUEST_TIMEOUT_MS = bodyTimeMs(BODY_LARGEST_BYTES) + 10_000
const HEADERS_TIMEOUT_MS = 10_000
const CHECK_MS = 1_000
/** Longer than the idle time of the load balancers in front, or they would reuse a connection that is being closed. */
const KEEP_ALIVE_MS = 65_000
/** All headers of a request together. */
const HEADER_MAX_BYTES = 16_384
/** Connections beyond these are closed at once: each costs memory before it has said who it is. */
const CONNECTIONS_MAX = 10_000

/** @typeParam Needs the parts that the routes take */
export type ServerDeps<Needs> = AnswerDeps<NoInfer<Needs>> & { routes: Route<Needs>[] }

const contextOf = (response: Response): RequestContext => response.locals.context

/** Express with every declared path; each request brings its context in `locals`. */
const makeExpress = <Needs>(routes: readonly Route<Needs>[], handler: RequestHandler<Needs>): Express => {
  const app = express()
  app.disable('x-powered-by').disable('etag').set('query parser', false).set('case sensitive routing', true)
  for (const path of new Set(routes.map((route) => route.path))) {
    const known = new Map<string, Route<Needs>>(routes.filter((route) => route.path === path).map((r) => [r.method, r]))
    const allow = [...known.keys(), ...(known.has('GET') ? ['HEAD'] : [])].join(', ')
    app.all(path, (request: Request, response: Response) => {
      const context = contextOf(response)
      context.template = path
      const route = known.get(request.method === 'HEAD' ? 'GET' : request.method)
      if (!route) throw new Problem('METHOD_NOT_ALLOWED', `${path} knows ${allow}.`, { headers: { allow } })
      return handler.serve(context, { route, params: request.params as Record<string, string> })
    })
  }
  return app
}

/** What it means that Express ends without an answer: an error on its way, or no such place. */
const misplaced = (error: unknown): unknown => {
  if (error === undefined || error === null) return new Problem('NOT_FOUND', 'There is no such path.')
  // Express refuses a path that is not valid percent-encoding.
  return error instanceof URIError ? new Problem('NOT_FOUND', 'The path is not valid.') : error
}

const shownRoute = <Needs>(route: Route<Needs>): Route<Needs> => ({ ...route, hidden: false }) as Route<Needs>

/** The nearest address at or above one that was written to which can be read. */
const readableAbove = <Needs>(url: string, dispatch: Dispatch<Needs>): string | undefined => {
  let path = url.split('?', 1)[0] ?? ''
  while (path.length > 1) {
    if (dispatch('GET', path)) return path
    path = path.slice(0, path.lastIndexOf('/'))
  }
  return undefined
}

/** Builds the server without listening. */
export const makeServer = <Needs>({ routes, ...rest }: ServerDeps<Needs>): Server => {
  const dispatch = makeDispatch(routes)
  // pages too
  const readable = makeDispatch(routes.filter(({ method }) => method === 'GET').map(shownRoute))
  const handler = makeRequestHandler({ ...rest, lookAt: (url) => readableAbove(url, readable) })
  const app = makeExpress(routes, handler)
  const passToExpress = (context: RequestContext): void => {
    const { request, response } = context
    Object.assign(response, { locals: { context } })
    app(request as Request, response as Response, (error?: unknown) => handler.refuse(context, misplaced(error)))
  }
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    const context = handler.begin(request, response)
    const found = dispatch(request.method ?? '', request.url ?? '')
    if (found) return void handler.serve(context, found)
    passToExpress(context)
  }
  const limits = {
    requestTimeout: REQUEST_TIMEOUT_MS,
    headersTimeout: HEADERS_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: HEADER_MAX_BYTES,
  }
  const server = createServer(limits, onRequest)
  server.maxConnections = CONNECTIONS_MAX
  return server
}
