/** GET /api/website/:id/provenance: what the words of a drafted site rest on, as they are now. */
import { provenanceNow, type StandingProvenance } from '../../../crds/site/content/drafting/provenance.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import type { SiteNeeds } from '../needs.ts'
import { sites } from '../read.ts'

/** Null for a site that was not drafted here. @param content in the names of REST */
export const provenanceOf = async (
  { provenances }: Pick<SiteNeeds, 'provenances'>,
  site: string,
  content: unknown,
): Promise<{ sources: object[]; drafted_at: string; values: StandingProvenance[] } | null> => {
  const kept = await provenances.get(site)
  if (kept === null) return null
  return { drafted_at: kept.drafted_at, sources: kept.sources, values: provenanceNow(kept, content) }
}

export const showProvenance = async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await sites.find(deps, request)
  const found = await provenanceOf(deps, row.name, row.view.content)
  const { drafted_at = null, sources = [], values = [] } = found ?? {}
  return { status: 200, body: { drafted_at, sources, provenance: values } }
}
