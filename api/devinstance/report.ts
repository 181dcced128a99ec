/**
 * POST /api/devboxes/:id/report: what the box says of itself, once a minute. Rows, never etcd: the resource is looked at
 * again only when a report says something new. It cannot change the row (spec/3 Authentication, rule 3).
 */
import { DEVINSTANCE } from '../../crds/devinstance/kind.ts'
import { isNews } from '../../crds/devinstance/report.ts'
import type { Deps } from '../deps.ts'
import { Problem } from '../problem.ts'
import type { Answer, ApiRequest } from '../route.ts'
import { nowOf } from './call.ts'

export const takeReport = async (deps: Deps, { params, body }: ApiRequest): Promise<Answer> => {
  const id = params.id ?? ''
  const stored = await nowOf(deps, id)
  if (!stored) throw new Problem('NOT_FOUND', `There is no dev instance ${id}.`)
  const report = { at: deps.now().toISOString(), body: body as Record<string, unknown> }
  const before = await deps.devboxes.report(id, report.body, report.at)
  // The report is kept: that nobody could be woken for it must not have the box send it again.
  if (isNews(before, report)) await deps.wake(DEVINSTANCE, id).catch(() => undefined)
  return { status: 200, body: { policy: stored.policy } }
}
