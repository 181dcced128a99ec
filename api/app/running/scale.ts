/** POST …/scale: so many containers of the routed service, as an operation (rules/app.md#scale). */
import type { Answer, ApiRequest } from '../../http/route.ts'
import { askFor } from '../ask.ts'
import { hostOf, refuseUnfit, reserveReplicas } from '../hosts.ts'
import type { AppNeeds } from '../needs.ts'
import { apps } from '../read.ts'

export const scaleApp = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await apps.find(deps, request)
  const { replicas } = request.body as { replicas: number }
  refuseUnfit(await hostOf(deps, row.view.host_id, row.account))
  await reserveReplicas(deps, row, { replicas })
  return askFor(deps, request, { row, intent: { kind: 'scale', replicas }, desire: { replicas } })
}
