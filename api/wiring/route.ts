/** A route with its handler: what the folders of the kinds list. */

import type { Answer, ApiRequest, RouteHead } from '../http/route.ts'

/**
 * @typeParam Needs what its handler takes of the parts (deps.ts). The list of all routes is made for all parts: a need that
 *   they lack does not compile. A route of which nobody says what it needs can be looked at, not called.
 */
export type Route<Needs = never> = RouteHead & {
  handle: (deps: Needs, request: ApiRequest) => Promise<Answer>
}
