/** A route as data: the server, the OpenAPI document and the scope check are all made from this one declaration. */
import type { IncomingHttpHeaders } from 'node:http'
import type { ProblemCode } from '../crds/problem.ts'
import type { JsonSchema } from '../crds/rest.ts'
import type { Caller } from './auth.ts'
import type { Deps } from './deps.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Who may call. A new route without a scope does not compile. */
export type RouteScope = { kind: 'public' } | { kind: 'token' } | { kind: 'scope'; scope: string }

/** One answer by its status. Without a schema there is no body; `contentType` is `application/json` when absent. */
export type AnswerDeclaration = {
  description: string
  schema?: JsonSchema
  contentType?: string
  headers?: Record<string, string>
}

/** What a client is told of a route. */
export type RouteDeclaration = {
  method: Method
  /** Express form: `/api/invoices/:id`. */
  path: string
  /** A sentence without a full stop. Also the operation's id, in camelCase, unless `id` is given. */
  summary: string
  id?: string
  description?: string
  tag?: string
  scope: RouteScope
  /** Closed JSON schema of the request body. */
  body?: JsonSchema
  bodyContentType?: string
  query?: Record<string, JsonSchema>
  /** By HTTP status; refusals are declared by `codes`. */
  answers: Record<number, AnswerDeclaration>
  /** The codes this route refuses with, beside those that every route may answer. */
  codes: ProblemCode[]
}

/** What a handler sees of a request that has passed scope and shape. */
export type ApiRequest = {
  caller: Caller
  params: Record<string, string>
  query: Record<string, string>
  body: unknown
  /** The raw bytes, for forms and uploads. */
  form: Buffer | undefined
  headers: IncomingHttpHeaders
  ip: string
  requestId: string
}

/** `body` is sent as JSON; `bytes` go out as they are, with the content type in `headers`. */
export type Answer = {
  status: number
  headers?: Record<string, string>
  body?: unknown
  bytes?: Buffer
}

/** A page is served but not part of the described API. */
export type HiddenDeclaration = Pick<RouteDeclaration, 'method' | 'path' | 'summary' | 'scope' | 'body' | 'query'> & {
  hidden: true
}

export type Route = (HiddenDeclaration | (RouteDeclaration & { hidden?: false })) & {
  handle(deps: Deps, request: ApiRequest): Promise<Answer>
}

/** The routes that clients are told of. */
export const described = (routes: readonly Route[]): RouteDeclaration[] => routes.filter((route) => !route.hidden)
