/** What the routes of sites share: finding one, and answering with it; and the routes that only read. */
import type { MirrorRow } from '../../controllers/store/mirror.ts'
import { readFacts, type SiteFacts } from '../../crds/site/facts.ts'
import { SITE } from '../../crds/site/kind.ts'
import { SITE_LINKS, type SiteLinks } from '../../crds/site/links.ts'
import type { SiteView } from '../../crds/site/view.ts'
import { newestLinks, recordedLinks } from '../../crds/values/links.ts'
import type { Whose } from '../command/own.ts'
import { makeOwnResources } from '../command/resource.ts'
import { refuseStalled } from '../command/verdict.ts'
import { Problem } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import { versionsElsewhere } from '../page/links.ts'
import type { SiteNeeds } from './needs.ts'

export type ShownSiteRow = MirrorRow<SiteView>

/** The site, for whom it may be. @throws Problem NOT_FOUND */
export const siteRow = async (deps: SiteNeeds, id: string, whose: Whose): Promise<ShownSiteRow> => {
  const row = await deps.mirror.get(SITE, id, whose)
  if (!row) throw new Problem('NOT_FOUND', `There is no site ${id}.`)
  return row
}

const WAITING: readonly string[] = ['NOT_APPROVED', 'NO_DOMAIN', 'FAR_OVER_BUDGET']

/** What only says that an edit is not live yet does not refuse what else is asked for. */
export const refuseUnsound = (row: ShownSiteRow): void => {
  // a view of before names no domains
  const { stalled, domains = [] } = row.view
  if (stalled === null || WAITING.includes(stalled.code)) return
  // A claim stands, and waits for a proof or for whoever has the name.
  if (!domains.some(({ code }) => code === stalled.code)) refuseStalled(row)
}

export const locationOf = (id: string): string => `/api/website/${id}`

/** The uid that its facts are recorded under: that of the first resource, where this one stands for one that was lost. */
export const originOfSite = async (deps: SiteNeeds, { name, uid, account }: ShownSiteRow): Promise<string> =>
  (await deps.origins.originOf({ kind: SITE.kind, name, uid, account })).origin

/** What is on record of this life of a site, and which of its links are good; its renderings are not looked at. */
export const recordOf = async (
  deps: SiteNeeds,
  row: ShownSiteRow,
): Promise<{ facts: SiteFacts; linkVersions: SiteLinks }> => {
  const [{ facts }, origin, elsewhere] = await Promise.all([
    deps.ledger.observe(row.name),
    originOfSite(deps, row),
    versionsElsewhere(deps, SITE, row.name),
  ])
  const { recorded } = recordedLinks(SITE_LINKS, facts)
  return {
    facts: readFacts(origin, facts, () => null),
    linkVersions: newestLinks(SITE_LINKS, recorded, row.view.link_versions, ...elsewhere),
  }
}

/** Of that the facts alone. */
export const factsOf = async (deps: SiteNeeds, row: ShownSiteRow): Promise<SiteFacts> =>
  (await recordOf(deps, row)).facts

const listed = (view: SiteView): Omit<SiteView, 'content'> => {
  const { content: _content, ...rest } = view
  return rest
}

/** Lists are without content. */
export const sites = makeOwnResources<SiteView>({
  kind: SITE,
  noun: 'site',
  one: 'site',
  pathOf: locationOf,
  filterOf: ({ status, external_ref }) => ({
    ...(status !== undefined && { status }),
    ...(external_ref !== undefined && { externalRef: external_ref }),
  }),
  listed,
})

export const listReleases = async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
  const { releases } = (await sites.find(deps, request)).view
  return { status: 200, body: { releases, total: releases.length } }
}
