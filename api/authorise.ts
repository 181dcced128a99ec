/** The stage that decides whether the caller may use the route: scope, capability, role. A new route is denied by default. */
import type { Stage } from './exchange.ts'
import { Problem } from './problem.ts'

export const authorise: Stage = async ({ route, caller }, next) => {
  const { scope } = route
  if (scope.kind === 'public') return next()
  if (!caller) throw new Problem('UNAUTHENTICATED', 'Send Authorization: Bearer <token>.')
  if (scope.kind === 'scope' && caller.scopes !== null && !caller.scopes.includes(scope.scope)) {
    throw new Problem('FORBIDDEN', `This needs the scope ${scope.scope}, which the token does not hold.`)
  }
  return next()
}
