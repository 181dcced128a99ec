/** Names that a site may ask for, and the hostname that follows (rules/site.md#names). */
import type { Fault } from '../../kernel/problem.ts'
import { LABEL, type NameRules, ownDomainFaults } from '../../names/fullname.ts'
import type { OwnBase } from '../../names/life.ts'
import type { SiteSpec } from '../schema.ts'
import type { SiteHost } from '../world.ts'

/** Labels that a visitor would take for the platform's own. */
const RESERVED_LABELS = ['www', 'api', 'admin', 'mail', 'smtp', 'ns1', 'ns2', 'status', 'support', 'autodiscover']

type Asked = Pick<SiteSpec, 'subdomain' | 'domain'>

/**
 * The name that a site asks for: a label below the platform's base domain, or a full name, which holds a dot; null for none.
 * @param base of the account: a subdomain is a full name below it
 */
export const nameOf = ({ subdomain, domain }: Asked, base: Pick<OwnBase, 'domain'> | null): string | null => {
  if (domain !== undefined) return domain
  if (subdomain === undefined) return null
  return base === null ? subdomain : `${subdomain}.${base.domain}`
}

/** The hostname of a name on a host. */
export const hostnameOf = (name: string, { baseDomain }: Pick<SiteHost, 'baseDomain'>): string =>
  name.includes('.') ? name : `${name}.${baseDomain}`

const bad = (pointer: string, detail: string): Fault[] => [{ code: 'BAD_DOMAIN', pointer, detail }]

const subdomainFaults = (label: string): Fault[] => {
  if (!LABEL.test(label)) return bad('/subdomain', `${JSON.stringify(label)} is no label of a-z, 0-9 and -`)
  // xn-- and the like would show as other letters than those that were checked
  if (label.slice(2, 4) === '--') return bad('/subdomain', 'a label with -- in its third place is reserved')
  return RESERVED_LABELS.includes(label) ? bad('/subdomain', `${label} is reserved`) : []
}

/** @param baseDomains of the hosts that take sites, which are given out as subdomains */
export const domainFaults = (asked: Asked, { baseDomains, testDomains }: NameRules): Fault[] => {
  const { subdomain, domain } = asked
  if (subdomain !== undefined && domain !== undefined) {
    return bad('/domain', 'a site has either a subdomain or a domain of its own')
  }
  if (subdomain !== undefined) return subdomainFaults(subdomain)
  return domain === undefined ? [] : ownDomainFaults(domain, { baseDomains, testDomains })
}
