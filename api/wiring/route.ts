/** A route with its handler: what the folders of the kinds list. */

import type { Answer, ApiRequest, RouteHead } from '../http/route.ts'
import type { Deps } from './deps.ts'

export type Route = RouteHead & {
  handle(deps: Deps, request: ApiRequest): Promise<Answer>
}
