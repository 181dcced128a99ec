/** Names that a site may ask for, and the hostname that follows (rules/site.md#names). */
import type { Fault } from '../../kernel/problem.ts'
import { unownable } from '../../values/domain.ts'
import { typedName } from '../../values/hostname.ts'
import type { SiteSpec } from '../schema.ts'
import type { SiteHost } from '../world.ts'
import type { OwnBase } from './life.ts'

/** Labels that a visitor would take for the platform's own. */
const RESERVED_LABELS = ['www', 'api', 'admin', 'mail', 'smtp', 'ns1', 'ns2', 'status', 'support', 'autodiscover']
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

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

/** Whether it is a full name at all, in the letters of the DNS, and none that passes for another. */
export const fullNameFaults = (domain: string): Fault[] => {
  if (!domain.split('.').every((label) => LABEL.test(label)) || !domain.includes('.')) {
    return bad('/domain', `${JSON.stringify(domain)} is no full name, as www.shop.example`)
  }
  const typed = typedName(domain)
  return 'fault' in typed ? bad('/domain', typed.fault) : []
}

const ownDomainFaults = (domain: string, baseDomains: readonly string[], testDomains: boolean): Fault[] => {
  const faults = fullNameFaults(domain)
  if (faults.length > 0) return faults
  const below = baseDomains.find((base) => domain === base || domain.endsWith(`.${base}`))
  if (below !== undefined) return bad('/domain', `${domain} belongs to ${below}; ask for it as subdomain`)
  const why = unownable(domain, { testDomains })
  return why === null ? [] : bad('/domain', why)
}

/** @param baseDomains of the hosts that take sites, which are given out as subdomains */
export const domainFaults = (
  asked: Asked,
  { baseDomains, testDomains }: { baseDomains: readonly string[]; testDomains: boolean },
): Fault[] => {
  const { subdomain, domain } = asked
  if (subdomain !== undefined && domain !== undefined) {
    return bad('/domain', 'a site has either a subdomain or a domain of its own')
  }
  if (subdomain !== undefined) return subdomainFaults(subdomain)
  return domain === undefined ? [] : ownDomainFaults(domain, baseDomains, testDomains)
}
