/** The stage that decides whether the caller may use the route: scope, role, capability. What no rule allows is denied. */

import type { Caller } from '../http/caller.ts'
import type { Stage } from '../http/exchange.ts'
import { Problem } from '../http/problem.ts'
import type { Demands, RouteScope } from '../http/route.ts'
import { challenge, refuseNobody } from './auth.ts'
import type { Scope } from './scopes.ts'

/** What is wrong with the credential for this route, and the scope that would have done; undefined when it may. */
const whyOutside = (
  scope: RouteScope,
  { scopes, by }: Caller,
  params: Record<string, string>,
): { detail: string; scope?: string } | undefined => {
  switch (scope.kind) {
    case 'public':
    case 'token':
      return undefined
    case 'scope': {
      if (scopes === null || scopes.includes(scope.scope)) return undefined
      const detail = `This needs the scope ${scope.scope}, which the token does not hold.`
      return { detail, scope: scope.scope }
    }
    case 'full':
      if (scopes === null) return undefined
      return { detail: 'This needs a session or a token with full access; a token with scopes cannot do it.' }
    case 'session':
      return by.kind === 'session' ? undefined : { detail: 'This needs a session: sign in at /signin.' }
    case 'report':
      if (by.kind === 'report' && by.id === params.id) return undefined
      return { detail: 'This takes the report token of the instance, and nothing else.' }
    default: {
      const unknown: never = scope
      return { detail: `This route is closed: ${JSON.stringify(unknown)}.` }
    }
  }
}

const refuseScope = ({ detail, ...scope }: { detail: string; scope?: string }): never => {
  throw new Problem('FORBIDDEN', detail, { headers: challenge({ error: 'insufficient_scope', ...scope }) })
}

/** For what opens to whoever may call another route. @throws Problem FORBIDDEN */
export const refuseOutside = (scope: RouteScope, caller: Caller): void => {
  const outside = whyOutside(scope, caller, {})
  if (outside) refuseScope(outside)
}

/** For what opens by a credential on a public route: there too a token does what its scopes say. @throws Problem FORBIDDEN */
export const refuseWithout = (scope: Scope, caller: Caller): void => refuseOutside({ kind: 'scope', scope }, caller)

/** @throws Problem ROLE_REQUIRED or CAPABILITY_REQUIRED, naming it */
const refuseUnable = ({ role, capability }: Demands, { profile }: Caller): void => {
  if (role !== undefined && profile.role !== role && profile.role !== 'admin') {
    throw new Problem('ROLE_REQUIRED', `This needs the role ${role}; the account is a ${profile.role}.`)
  }
  if (capability !== undefined && !profile.capabilities.includes(capability)) {
    throw new Problem('CAPABILITY_REQUIRED', `This needs the capability ${capability}, which only an admin grants.`)
  }
}

export const authorise: Stage = async ({ route, caller, params }, next) => {
  if (route.scope.kind === 'public') return next()
  if (!caller) return refuseNobody()
  const outside = whyOutside(route.scope, caller, params)
  if (outside) refuseScope(outside)
  refuseUnable(route, caller)
  return next()
}
