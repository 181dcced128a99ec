/** The order in which a request passes through the stages. Wired by hand; each stage is a file of its own. */
import { makeAuditStage } from './audit.ts'
import { makeAuthentication } from './auth.ts'
import { authorise } from './authorise.ts'
import { makeCsrf } from './csrf.ts'
import type { Deps } from './deps.ts'
import { compose, type Stage } from './exchange.ts'
import { makeIdempotencyStage } from './idempotency.ts'
import { makePages } from './pages.ts'
import type { Route } from './route.ts'
import { makeShape } from './shape.ts'

/** not too many → caller → not too fast → may they → is it well formed → the handler. */
export const makePipeline = (deps: Deps, routes: readonly Route[]): Stage =>
  compose([
    makePages(routes),
    deps.limits.limitByIp,
    makeAuthentication(deps),
    deps.limits.limitByToken,
    authorise,
    makeCsrf(deps),
    makeShape(routes),
    makeIdempotencyStage(deps),
    makeAuditStage(deps),
  ])
