/** The order in which a request passes through the stages. Wired by hand; each stage is a file of its own. */

import { makeAuthentication } from '../auth/auth.ts'
import { authorise } from '../auth/authorise.ts'
import { makeCsrf } from '../auth/csrf.ts'
import type { Deps } from '../wiring/deps.ts'
import { compose, type Stage } from './exchange.ts'
import { isPage, makePages } from './pages.ts'
import type { RouteHead } from './route.ts'
import { makeShape } from './shape.ts'
import { makeAuditStage } from './stages/audit.ts'
import { makeClusterStage, makeEmptyLedgerStage } from './stages/cluster.ts'
import { makeIdempotencyStage, type OutcomeOf } from './stages/idempotency.ts'

/** What the stages take. */
export type PipelineDeps = Pick<
  Deps,
  | 'limits'
  | 'limitWrong'
  | 'authenticate'
  | 'authenticateReport'
  | 'keys'
  | 'publicUrl'
  | 'cluster'
  | 'idempotency'
  | 'audit'
  | 'now'
> & { outcomeOf: OutcomeOf }

/**
 * not too many → is anybody known here → caller → not too fast → may they → sent by our own page → is this the right cluster → is it well formed →
 * not done before → on record → the handler. What only guards changes is left out of the way of reads, once, at the start.
 */
export const makePipeline = (deps: PipelineDeps, routes: readonly RouteHead[]): Stage => {
  const { limitByIp, limitByToken, limitByBytes } = deps.limits
  const pages = makePages(routes)
  const first = [limitByIp, makeEmptyLedgerStage(deps), deps.limitWrong]
  const known = [...first, makeAuthentication(deps), limitByToken, authorise, limitByBytes]
  const shape = makeShape(routes)
  const guards = {
    before: [makeCsrf(deps), makeClusterStage(deps)],
    after: [makeIdempotencyStage(deps), makeAuditStage(deps)],
  }

  const way = (route: RouteHead): Stage => {
    const stages = route.method === 'GET' ? [...known, shape] : [...known, ...guards.before, shape, ...guards.after]
    return compose(isPage(route) ? [pages, ...stages] : stages)
  }
  const ways = new Map(routes.map((route) => [route, way(route)]))
  return (exchange, handle) => (ways.get(exchange.route) ?? way(exchange.route))(exchange, handle)
}
