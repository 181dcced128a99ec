/** The order in which a request passes through the stages. Wired by hand; each stage is a file of its own. */
import { makeAuthentication } from './auth.ts'
import { authorise } from './authorise.ts'
import type { Deps } from './deps.ts'
import { compose, type Stage } from './exchange.ts'
import type { Route } from './route.ts'
import { makeShape } from './shape.ts'

/** caller → may they → is it well formed → the handler. */
export const makePipeline = (deps: Deps, routes: readonly Route[]): Stage =>
  compose([makeAuthentication(deps), authorise, makeShape(routes)])
