import type { Answer, ApiRequest, RouteHead } from '../../../api/http/route.ts'
import type { Asking } from './story.ts'

/** One call as the stages before its handler pass it on: the caller is known, the body has been judged. */

export type Asked = {
  /** What the path names: `{ id: 'inv-…' }`. */
  params?: Record<string, string>
  query?: Record<string, string>
  body?: unknown
  form?: Buffer
  headers?: Record<string, string>
  /** Tells this request from others of the same account: the same in each life. Without it a repeat is another request. */
  key?: string
  /** The caller's account, `demo` when left out; null: a page that anybody opens. */
  account?: string | null
  /** What the account is beside a member on the plan `team`. */
  profile?: object
}

const PROFILE = { plan: 'team', role: 'member', capabilities: [], teams: [], name: 'Demo', email: 'owner@demo.test' }
const KEY_BYTES = 32

/** An Idempotency-Key as handlers are given it. */
export const keyOf = (words: string): string =>
  Buffer.from(words.padEnd(KEY_BYTES, '.').slice(-KEY_BYTES)).toString('hex')

type Called = { params: Record<string, string>; account: string | null; profile: object }

const urlOf = (path: string, { params }: Called): string =>
  path.replace(/:(\w+)/g, (_, name: string) => params[name] ?? '')

const callerOf = ({ account, profile }: Called): object =>
  account === null
    ? {}
    : { caller: { account, scopes: null, by: { kind: 'token', id: 't' }, profile: { ...PROFILE, ...profile } } }

/** @param what of the routes, as `POST /api/invoices/:id/void` */
export const requestBy = (
  routes: readonly RouteHead[],
  what: string,
  asked: Asked,
  asking: Asking = { headers: {} },
): ApiRequest => {
  const route = routes.find(({ method, path }) => `${method} ${path}` === what)
  if (!route) throw new Error(`${what} is no route`)
  const { params = {}, query = {}, body, form, headers = {}, key, account = 'demo', profile = {} } = asked
  const called: Called = { params, account, profile }
  const request = {
    route,
    url: urlOf(route.path, called),
    ...callerOf(called),
    // each request has bytes of its own, which its handler may give away
    ...{ params, query, body, form: form && Buffer.from(form) },
    headers: { ...headers, ...asking.headers },
    ip: '127.0.0.1',
    requestId: 'swept',
    ...(key !== undefined && { idempotencyKey: keyOf(key) }),
  }
  return request as unknown as ApiRequest
}

type Handled<Needs> = RouteHead & { handle(deps: Needs, request: ApiRequest): Promise<Answer> }

/**
 * @param routes of a surface
 * @returns what calls one of them: `ask(process.api, 'POST /api/invoices/:id/void', { params: { id } })`
 */
export const askBy =
  <Needs>(routes: readonly Handled<Needs>[]) =>
  (deps: NoInfer<Needs>, what: string, asked: Asked, asking?: Asking): Promise<Answer> => {
    const request = requestBy(routes, what, asked, asking)
    const route = request.route as Handled<Needs>
    return route.handle(deps, request)
  }
