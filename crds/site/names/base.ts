/**
 * Base domains of partners: an account proves a domain as a whole, and its sites get labels below it (rules/site.md#base-domains).
 * Stands among the names of sites as `*.<domain>`, and has their life; what is below it follows it. Pure.
 */
import type { Fault } from '../../kernel/problem.ts'
import { fullNameFaults } from '../../names/fullname.ts'
import { isHeld, type NameState } from '../../names/life.ts'
import { addressRecord, type ProofRecord } from '../../names/proof.ts'
import { baseName, namesOverlap } from '../../names/wildcard.ts'
import { isPublicSuffix, unownable } from '../../values/domain.ts'

/** More an account has not. SQL has it too (claim_base_domain). */
export const BASES_MAX = 5

/** How a label stands whose base stands so: it is served, missing and lapsed with it, and is to be proven by itself without it. */
export const stateBelow = (base: NameState): NameState => (isHeld(base) && base !== 'quarantined' ? base : 'asked')

/** @param given.platform base domains of the hosts that take sites, which are not a partner's */
export const baseFaults = (
  domain: string,
  { platform, testDomains }: { platform: readonly string[]; testDomains: boolean },
): Fault[] => {
  const bad = (detail: string): Fault[] => [{ code: 'BAD_DOMAIN', pointer: '/domain', detail }]
  const faults = fullNameFaults(domain)
  if (faults.length > 0) return faults
  const ours = platform.find((one) => namesOverlap(baseName(one), baseName(domain)))
  if (ours !== undefined) return bad(`${domain} and the platform's own ${ours} lie one below the other`)
  if (isPublicSuffix(domain)) return bad(`strangers have names below ${domain}`)
  const why = unownable(domain, { testDomains })
  return why === null ? [] : bad(why)
}

/** What leads visitors of every name below it to the host. @param address of the host: an IP address, or a name */
export const wildcardRecord = (domain: string, address: string): ProofRecord => addressRecord(baseName(domain), address)
