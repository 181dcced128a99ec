/** POST /api/website/extract: a draft from a brochure, photos or a text. No site is made. */
import type { Answer, ApiRequest } from '../../http/route.ts'
import { modelOf } from '../../io/asking.ts'
import type { SiteNeeds } from '../needs.ts'
import { draftSite } from './draft.ts'
import { extractSources } from './sources.ts'

export const extractSite = async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
  modelOf(deps)
  const { draft, warnings, provenance } = await draftSite(deps, request.caller, await extractSources(deps, request))
  return { status: 200, body: { draft, warnings, provenance } }
}
