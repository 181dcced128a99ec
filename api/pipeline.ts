/** The order in which a request passes through the stages. Wired by hand; each stage is a file of its own. */
import { makeAuditStage } from './audit.ts'
import { makeAuthentication } from './auth/auth.ts'
import { authorise } from './auth/authorise.ts'
import { makeCsrf } from './auth/csrf.ts'
import type { Deps } from './deps.ts'
import { compose, type Stage } from './exchange.ts'
import { makeIdempotencyStage } from './idempotency.ts'
import { isPage, makePages } from './pages.ts'
import type { Route } from './route.ts'
import { makeShape } from './shape.ts'

/**
 * not too many → caller → not too fast → may they → sent by our own page → is it well formed → not done before →
 * on record → the handler. What only guards changes is left out of the way of reads, once, at the start.
 */
export const makePipeline = (deps: Deps, routes: readonly Route[]): Stage => {
  const { limitByIp, limitByToken } = deps.limits
  const pages = makePages(routes)
  const known = [limitByIp, makeAuthentication(deps), limitByToken, authorise]
  const shape = makeShape(routes)
  const guards = { before: makeCsrf(deps), after: [makeIdempotencyStage(deps), makeAuditStage(deps)] }

  const way = (route: Route): Stage => {
    const stages = route.method === 'GET' ? [...known, shape] : [...known, guards.before, shape, ...guards.after]
    return compose(isPage(route) ? [pages, ...stages] : stages)
  }
  const ways = new Map(routes.map((route) => [route, way(route)]))
  return (exchange, handle) => (ways.get(exchange.route) ?? way(exchange.route))(exchange, handle)
}
