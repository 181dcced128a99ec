/** What the routes of sites share: finding one, and answering with it; and the routes that only read. */
import type { MirrorRow } from '../../controllers/store/mirror.ts'
import { readFacts, type SiteFacts } from '../../crds/site/facts.ts'
import { SITE } from '../../crds/site/kind.ts'
import type { SiteView } from '../../crds/site/view.ts'
import { sameOwner, type Whose } from '../command/own.ts'
import { refuseStalled } from '../command/verdict.ts'
import { Problem } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import type { SiteNeeds } from './needs.ts'

const LIMIT_DEFAULT = 50

export type ShownSiteRow = MirrorRow<SiteView>

/** The site, for whom it may be. @throws Problem NOT_FOUND */
export const siteRow = async (deps: SiteNeeds, id: string, whose: Whose): Promise<ShownSiteRow> => {
  const row = await deps.mirror.get(SITE, id, whose)
  if (!row) throw new Problem('NOT_FOUND', `There is no site ${id}.`)
  return row
}

/** The caller's site. Another account's is not there at all (rules/platform.md#ownership). */
export const ownSite = (deps: SiteNeeds, { params, caller: { account } }: ApiRequest): Promise<ShownSiteRow> =>
  siteRow(deps, params.id ?? '', { account })

/** What only says that an edit is not live yet does not refuse what else is asked for. */
export const refuseUnsound = (row: ShownSiteRow): void => {
  const { stalled } = row.view
  if (stalled?.code !== 'NOT_APPROVED' && stalled?.code !== 'NO_DOMAIN') refuseStalled(row)
}

export const locationOf = (id: string): string => `/api/website/${id}`

/** What every command on a site says of it. */
export const commandOn = (row: ShownSiteRow) => ({
  name: row.name,
  whose: sameOwner(row),
  resource: locationOf(row.name),
  pending: { site: row.view },
})

/** The uid that its facts are recorded under: that of the first resource, where this one stands for one that was lost. */
export const originOfSite = async (deps: SiteNeeds, { name, uid, account }: ShownSiteRow): Promise<string> =>
  (await deps.origins.originOf({ kind: SITE.kind, name, uid, account })).origin

/** What is on record of this life of a site; its renderings are not looked at. */
export const factsOf = async (deps: SiteNeeds, row: ShownSiteRow): Promise<SiteFacts> => {
  const [{ facts }, origin] = await Promise.all([deps.ledger.observe(row.name), originOfSite(deps, row)])
  return readFacts(origin, facts, () => null)
}

const listed = (view: SiteView): Omit<SiteView, 'content'> => {
  const { content: _content, ...rest } = view
  return rest
}

export const getSite = async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
  const { view } = await ownSite(deps, request)
  return { status: 200, body: { site: view } }
}

/** Newest first, without their content. */
export const listSites = async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
  const { status, external_ref, limit, offset } = request.query
  const page = { limit: Number(limit ?? LIMIT_DEFAULT), offset: Number(offset ?? 0) }
  const filter = {
    ...(status !== undefined && { status }),
    ...(external_ref !== undefined && { externalRef: external_ref }),
  }
  const { rows, total } = await deps.mirror.list({ kind: SITE, account: request.caller.account }, filter, page)
  return { status: 200, body: { sites: rows.map(({ view }) => listed(view)), total, ...page } }
}

export const listReleases = async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
  const { releases } = (await ownSite(deps, request)).view
  return { status: 200, body: { releases, total: releases.length } }
}
