/** GET …/health: how an app is, and when it was not as it is to be (rules/app.md#health). */
import { viewEpisode } from '../../../crds/app/lifecycle/health/history.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { pagedAnswer, pageOf } from '../../openapi/paging.ts'
import type { AppNeeds } from '../needs.ts'
import { apps } from '../read.ts'

export const getHealth = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const { name, view } = await apps.find(deps, request)
  const page = pageOf(request)
  const { episodes, total } = await deps.episodes.episodes(name, page)
  return pagedAnswer('episodes', { items: episodes.map(viewEpisode), total, more: { health: view.health } }, page)
}
