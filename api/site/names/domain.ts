/** The name of a site over REST: claimed beside the desire that names it. What is live moves there with its next publish. */

import { claimRefusal } from '../../../crds/names/claim.ts'
import { twinOf } from '../../../crds/names/twin.ts'
import { SITE } from '../../../crds/site/kind.ts'
import { baseInUse } from '../../../crds/site/names/baseview.ts'
import { domainFaults, nameOf } from '../../../crds/site/names/domain.ts'
import { ENDED_REDIRECTS_MAX, type SiteSpec } from '../../../crds/site/schema.ts'
import { editSpec } from '../../command/edit.ts'
import { sameOwner } from '../../command/own.ts'
import { Problem, refuseFaults } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import type { Route } from '../../wiring/route.ts'
import { changed } from '../change.ts'
import type { SiteNeeds } from '../needs.ts'
import { sites } from '../read.ts'
import { answered, domainBody, pendingAnswer, warnings } from '../shapes.ts'
import { nameTyped } from './base.ts'

type Sent = { subdomain?: string; domain?: string }

/** As it is kept: people type capitals, their own letters, and whole addresses. */
const askedOf = ({ subdomain, domain }: Sent): Sent => ({
  ...(subdomain !== undefined && { subdomain: subdomain.trim().toLowerCase() }),
  ...(domain !== undefined && { domain: nameTyped(domain, '/domain') }),
})

export const putDomain = async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await sites.find(deps, request)
  const asked = askedOf(request.body as Sent)
  const { subdomain, domain } = asked
  const base = baseInUse(await deps.bases.list(row.account))
  const name = nameOf(asked, base)
  if (name === null) throw new Problem('BAD_DOMAIN', 'Send subdomain, or domain.')
  refuseFaults(domainFaults(asked, { baseDomains: await deps.sites.baseDomains(), testDomains: deps.allowLoopback }))
  const outcome = await deps.sites.claimName(name, { site: row.name, account: row.account, twin: twinOf(name) }, false)
  const refusal = claimRefusal(name, subdomain !== undefined, outcome)
  if (refusal !== null) throw new Problem(refusal.code, `${refusal.detail}.`)
  const write = () =>
    editSpec<SiteSpec>(deps, { kind: SITE, name: row.name, whose: sameOwner(row) }, (now) => {
      const ended = now.endedRedirects?.filter((one) => one !== name)
      const isEnded = ended?.length !== now.endedRedirects?.length
      if (now.subdomain === subdomain && now.domain === domain && !isEnded) return null
      return { subdomain: subdomain ?? null, domain: domain ?? null, ...(isEnded && { endedRedirects: ended }) }
    })
  return changed(deps, request, row, write)
}

/** What leads nowhere is ended already. */
const endRedirect = async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await sites.find(deps, request)
  const hostname = nameTyped(request.params.hostname ?? '', '/hostname')
  const found = row.view.redirects.find((one) => one.hostname === hostname && one.kind === 'moved')
  const write = () =>
    editSpec<SiteSpec>(deps, { kind: SITE, name: row.name, whose: sameOwner(row) }, (now) => {
      const ended = now.endedRedirects ?? []
      if (found === undefined || ended.includes(found.name)) return null
      return { endedRedirects: [...ended, found.name].slice(-ENDED_REDIRECTS_MAX) }
    })
  return changed(deps, request, row, write)
}

export const nameRoutes: Route<SiteNeeds>[] = [
  {
    method: 'PUT',
    path: '/api/website/:id/domain',
    summary: 'Choose the domain of a site',
    description:
      'A live site moves there with its next publish, and the former name leads there for 90 days. A domain of your own is served once a record proves it to be yours: domains[].records of the site names it, and the same call again has it looked for at once. With shop.example comes www.shop.example, and the other way round, once that is proven too: it leads to the one that was chosen. Names may be sent as people type them.',
    tag: 'Websites',
    scope: { kind: 'scope', scope: 'websites:write' },
    body: domainBody,
    answers: { 200: answered('The site.', { warnings }), 202: pendingAnswer },
    codes: ['NOT_FOUND', 'BAD_DOMAIN', 'SUBDOMAIN_TAKEN', 'DOMAIN_TAKEN'],
    handle: putDomain,
  },
  {
    method: 'DELETE',
    path: '/api/website/:id/redirects/:hostname',
    summary: 'End the redirect of a former name',
    description: 'The name is given back. One with or without www goes with the domain that it belongs to.',
    tag: 'Websites',
    scope: { kind: 'scope', scope: 'websites:write' },
    answers: { 200: answered('The site.'), 202: pendingAnswer },
    codes: ['NOT_FOUND', 'BAD_DOMAIN'],
    handle: endRedirect,
  },
]
