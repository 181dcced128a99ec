/**
 * POST /api/devboxes/:id/report: what the dev instance says of itself, once a minute. Rows, never etcd: the resource is looked at
 * again only when a report says something new. It cannot change the row (rules/devinstance.md#reports).
 */

import { isNews } from '../../crds/devinstance/bootstrap/report.ts'
import { DEVINSTANCE } from '../../crds/devinstance/kind.ts'
import { Problem } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import { nowOf } from './call.ts'
import type { DevInstanceNeeds } from './needs.ts'

export const takeReport = async (deps: DevInstanceNeeds, { caller, params, body }: ApiRequest): Promise<Answer> => {
  const id = params.id ?? ''
  const stored = await nowOf(deps, id, { account: caller.account })
  if (!stored) throw new Problem('NOT_FOUND', `There is no dev instance ${id}.`)
  const report = { at: deps.now().toISOString(), body: body as Record<string, unknown> }
  const before = await deps.devInstances.report(id, report.body, report.at)
  // The report is kept: that nobody could be woken for it must not have the dev instance send it again.
  if (isNews(before, report)) await deps.wake(DEVINSTANCE, id).catch(() => undefined)
  return { status: 200, body: { policy: stored.policy } }
}
