/** Turning what the controllers said about a resource into an answer. */
import type { MirrorRow } from '../../controllers/store/mirror.ts'
import { isProblemCode } from '../../crds/kernel/problem.ts'
import { Problem } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'

type Stallable = { stalled: { code: string; detail: string } | null }

/** A resource that is Stalled answers with the code that stalled it. */
export const refuseStalled = ({ view: { stalled } }: MirrorRow<Stallable>): void => {
  if (!stalled) return
  throw new Problem(isProblemCode(stalled.code) ? stalled.code : 'INTERNAL', stalled.detail)
}

/** RFC 7240: the caller does not want to wait. */
export const wantsAsync = (request: ApiRequest): boolean =>
  /(^|,)\s*respond-async\b/i.test(String(request.headers.prefer ?? ''))

/** 202: the desire is written, the verdict is still to come at `location`. */
export const accepted = (location: string, body: object): Answer => ({
  status: 202,
  headers: { location, 'retry-after': '2' },
  body,
})
