/** The stage that checks the shape of query and body against the route's own schemas. */
import type { Exchange, Stage } from './exchange.ts'
import { Problem, refuseFaults } from './problem.ts'
import { isJsonType, jsonOf } from './reading/json.ts'
import { NUL, queryOf } from './reading/query.ts'
import type { Answer, RouteHead } from './route.ts'
import { compileCheck } from './validate.ts'

type Checks = {
  known: string[]
  query: ReturnType<typeof compileCheck>
  body: ReturnType<typeof compileCheck> | undefined
}

const checksOf = (route: RouteHead): Checks => ({
  known: Object.keys(route.query ?? {}),
  query: compileCheck({ type: 'object', properties: route.query ?? {} }),
  body: route.body ? compileCheck(route.body) : undefined,
})

/** Of a route that says itself which files it takes. */
const ANY_TYPE = '*/*'

/** What the route takes as it is, beside JSON. */
const isBytes = ({ route, headers }: Exchange): boolean => {
  if (route.hidden || !route.bytesTypes) return false
  const type = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase()
  return route.bytesTypes.some((one) => one === type || (one === ANY_TYPE && type !== undefined && !isJsonType(type)))
}

/** What is wrong with the body is what its handler is there to say. */
const judgesItself = ({ route }: Exchange): boolean => !route.hidden && route.rehearses === true

/** Each schema of a route is compiled once. */
export const makeShape = (routes: readonly RouteHead[]): Stage => {
  const checks = new Map(routes.map((route) => [route, checksOf(route)]))
  return async (exchange: Exchange, next: () => Promise<Answer>) => {
    if (Object.values(exchange.params).some((value) => value.includes(NUL))) {
      throw new Problem('NOT_FOUND', 'The path holds a NUL, which no name has.')
    }
    const check = checks.get(exchange.route) ?? checksOf(exchange.route)
    exchange.query = queryOf(exchange.url, check.known)
    const badQuery = check.query(exchange.query)[0]
    if (badQuery) throw new Problem(badQuery.code, badQuery.detail, { faults: [badQuery] })
    if (exchange.method !== 'GET' && exchange.method !== 'HEAD') exchange.form = await exchange.bytes()
    if (check.body && !isBytes(exchange)) {
      exchange.body = await jsonOf(exchange.form ?? Buffer.alloc(0), exchange.headers['content-type'])
      if (!judgesItself(exchange)) refuseFaults(check.body(exchange.body))
    }
    return next()
  }
}
