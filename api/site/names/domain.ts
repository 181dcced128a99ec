/** The name of a site over REST: claimed beside the desire that names it. What is live moves there with its next publish. */
import { SITE } from '../../../crds/site/kind.ts'
import { baseInUse } from '../../../crds/site/names/baseview.ts'
import { claimRefusal } from '../../../crds/site/names/claim.ts'
import { domainFaults, nameOf } from '../../../crds/site/names/domain.ts'
import type { SiteSpec } from '../../../crds/site/schema.ts'
import { editSpec } from '../../command/edit.ts'
import { sameOwner } from '../../command/own.ts'
import { Problem, refuseFaults } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { changed } from '../change.ts'
import type { SiteNeeds } from '../needs.ts'
import { sites } from '../read.ts'
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
  const outcome = await deps.sites.claimName(name, { site: row.name, account: row.account }, false)
  const refusal = claimRefusal(name, subdomain !== undefined, outcome)
  if (refusal !== null) throw new Problem(refusal.code, `${refusal.detail}.`)
  const write = () =>
    editSpec<SiteSpec>(deps, { kind: SITE, name: row.name, whose: sameOwner(row) }, (now) => {
      if (now.subdomain === subdomain && now.domain === domain) return null
      return { subdomain: subdomain ?? null, domain: domain ?? null }
    })
  return changed(deps, request, row, write)
}
