/** Full names that somebody may ask for, as www.shop.example (rules/site.md#names). */
import type { Fault } from '../kernel/problem.ts'
import { unownable } from '../values/domain.ts'
import { typedName } from '../values/hostname.ts'

export const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

const bad = (pointer: string, detail: string): Fault[] => [{ code: 'BAD_DOMAIN', pointer, detail }]

/** Whether it is a full name at all, in the letters of the DNS, and none that passes for another. */
export const fullNameFaults = (domain: string, pointer = '/domain'): Fault[] => {
  if (!domain.split('.').every((label) => LABEL.test(label)) || !domain.includes('.')) {
    return bad(pointer, `${JSON.stringify(domain)} is no full name, as www.shop.example`)
  }
  const typed = typedName(domain)
  return 'fault' in typed ? bad(pointer, typed.fault) : []
}

/** `baseDomains`: those of hosts, below which names are the platform's to give. `testDomains`: names of no DNS are taken too. */
export type NameRules = { baseDomains: readonly string[]; testDomains: boolean }

/** @param instead how a name below a base domain is asked for */
export const ownDomainFaults = (
  domain: string,
  { baseDomains, testDomains }: NameRules,
  { pointer = '/domain', instead = 'ask for it as subdomain' } = {},
): Fault[] => {
  const faults = fullNameFaults(domain, pointer)
  if (faults.length > 0) return faults
  const below = baseDomains.find((base) => domain === base || domain.endsWith(`.${base}`))
  if (below !== undefined) return bad(pointer, `${domain} belongs to ${below}; ${instead}`)
  const why = unownable(domain, { testDomains })
  return why === null ? [] : bad(pointer, why)
}
