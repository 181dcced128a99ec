/** A route as data: the server, the OpenAPI document and the scope check are all made from this one declaration. */
import type { IncomingHttpHeaders } from 'node:http'
import type { CAPABILITIES } from '../../crds/account/schema.ts'
import type { ProblemCode } from '../../crds/kernel/problem.ts'
import type { JsonSchema } from '../../crds/kernel/rest.ts'
import type { Scope } from '../auth/scopes.ts'
import type { Caller } from './caller.ts'
import type { ByteMeter } from './reading/take.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * What one address may ask without a credential is counted by sort, a minute at a time; `page` where a route says nothing.
 * - `page`: what a person looks at, fills in and sends
 * - `signin`: what sends a mail, or asks the provider
 * - `file`: what a page is made with or a program reads, many for one look: previews, style sheets, keys, descriptions
 * - `cardEvent`: what the card processor reports, for all accounts from few addresses
 * - `gate`: what the proxy of a private app asks, once for each request of each visitor
 */
export type AddressLimit = 'page' | 'signin' | 'file' | 'cardEvent' | 'gate'

/**
 * Who may call. A new route without a scope does not compile, and a kind that nobody knows is refused to everybody.
 * - `public`: anybody, so often as `limit` says; no credential is looked at, unless it may open what lies behind: then a
 *   token must hold `opens`
 * - `token`: any valid credential of an account, whatever its scopes
 * - `scope`: a token that holds the scope, a token with full access, or a session
 * - `full`: a session or a token with full access; a scoped token never
 * - `session`: somebody who signed in; a token never
 * - `report`: the report token of one dev instance; nothing else
 */
export type RouteScope =
  | { kind: 'public'; opens?: Scope; limit?: AddressLimit }
  | { kind: 'token' }
  | { kind: 'scope'; scope: Scope }
  | { kind: 'full' }
  | { kind: 'session' }
  | { kind: 'report' }

/** What the caller's account must be, beside the scope: `admin` may do what a reviewer may. */
export type Demands = { capability?: (typeof CAPABILITIES)[number]; role?: 'reviewer' | 'admin' }

/** One answer by its status. Without a schema there is no body; `contentType` is `application/json` when absent. */
export type AnswerDeclaration = {
  description: string
  schema?: JsonSchema
  contentType?: string
  /** Other types that may be asked for. */
  orAs?: readonly string[]
  headers?: Record<string, string>
}

/** What the description says of a route. */
export type RouteDeclaration = Demands & {
  method: Method
  /** Express form: `/api/invoices/:id`. */
  path: string
  /** A sentence without a full stop. Also the operation's id, in camelCase, unless `id` is given. */
  summary: string
  id?: string
  description?: string
  tag?: string
  scope: RouteScope
  /** Takes in what somebody observed, again and again: kept where it belongs, and no entry of the audit. */
  observes?: true
  /** Changes nothing: a repeat is a new look, and no answer is kept under an Idempotency-Key. */
  looks?: true
  /** Only says what would become of a body, of any JSON; `body` describes a good one. Nothing is done: no entry of the audit. */
  rehearses?: true
  /** The answer shows a credential, once: what keeps the answer keeps it sealed, and the audit has only its name. */
  secretAnswer?: true
  /** Closed JSON schema of the request body. */
  body?: JsonSchema
  /** Content types that are taken as bytes, beside the JSON that `body` describes; then the handler has no `body`. */
  bytesTypes?: readonly string[]
  /** Most bytes of a body, as sent and as inflated; BODY_MAX_BYTES when left out. */
  bodyMaxBytes?: number
  query?: Record<string, JsonSchema>
  /** By HTTP status; refusals are declared by `codes`. */
  answers: Record<number, AnswerDeclaration>
  /** The codes this route refuses with, beside those that every route may answer. */
  codes: ProblemCode[]
}

/** What a handler sees of a request that has passed scope and shape. */
export type ApiRequest = {
  route: RouteHead
  /** Path with the query, as sent. */
  url: string
  caller: Caller
  params: Record<string, string>
  query: Record<string, string>
  body: unknown
  /** The raw bytes, for forms and uploads. */
  form: Buffer | undefined
  headers: IncomingHttpHeaders
  ip: string
  requestId: string
  /** Nobody is there any more who could be answered; somebody is, when left out. */
  isGone?(): boolean
  /** To be told of more bytes that are held for the caller until the answer has left. */
  meter?: ByteMeter
  /** The same for each retry under one Idempotency-Key: name effects by it. */
  idempotencyKey?: string
  /** To be filled by a handler that knows more than the request shows. */
  audited?: Audited
}

/**
 * `body` is sent as JSON; `bytes` go out as they are, with the content type in `headers`; what a `stream` gives goes out as
 * it comes, until it ends or the client leaves, when its `return` is called.
 */
export type Answer = {
  status: number
  headers?: Record<string, string>
  body?: unknown
  bytes?: Buffer
  stream?: AsyncIterable<string | Buffer>
  /** Called when the last byte has left, or the client. */
  onSent?: () => void
  /** Of a 202: the operation at which the verdict will stand. It is not sent. */
  operation?: string
}

/** A page is served but not part of the described API. */
export type HiddenDeclaration = Demands &
  Pick<
    RouteDeclaration,
    'method' | 'path' | 'summary' | 'scope' | 'observes' | 'looks' | 'secretAnswer' | 'body' | 'bodyMaxBytes' | 'query'
  > & { hidden: true }

/** A route without its handler: what the stages see. */
export type RouteHead = HiddenDeclaration | (RouteDeclaration & { hidden?: false })

/** The routes that clients are told of. */
export const described = (routes: readonly RouteHead[]): RouteDeclaration[] => routes.filter((route) => !route.hidden)

/** What the audit says of a mutation beside its route. Names only, never values. */
export type Audited = {
  /** What was acted on; the Location of the answer or the path when left out. */
  resource?: string
  /** Names of what was changed or shown; the fields of the body when left out. */
  fields?: string[]
  /** Somebody else's account that was acted on: their chain gets the entry too. */
  account?: string
}
