/** What a schema cannot say of a host. */

import type { Fault } from '../kernel/problem.ts'
import { bytesOfAddress, isLoopbackAddress, isPublicAddress } from '../values/address.ts'
import { isPublicSuffix, unownable } from '../values/domain.ts'
import { hostKeyBytes } from './key.ts'
import type { HostSpec } from './schema.ts'

/** Owners may name public addresses only; loopback too under the development exception. Admins may name any. */
export type AddressRule = 'any' | 'public' | 'public-or-loopback'

/** Whether an address (never a name) may be connected to. */
export const mayReach = (address: string, rule: AddressRule): boolean =>
  rule === 'any' || isPublicAddress(address) || (rule === 'public-or-loopback' && isLoopbackAddress(address))

/** rules/host.md#the-base-domain-of-a-host. An admin's may be of a network of its own. */
const baseFaults = (domain: string, rule: AddressRule): Fault[] => {
  const why = rule === 'any' ? null : unownable(domain, { testDomains: rule === 'public-or-loopback' })
  const detail = isPublicSuffix(domain) ? `strangers have names below ${domain}` : why
  return detail === null ? [] : [{ code: 'BAD_DOMAIN', pointer: '/baseDomain', detail }]
}

/** rules/host.md#packages. Whoever may register a name below one would be let through. */
const packageFaults = (packages: readonly string[]): Fault[] =>
  packages.flatMap((name, place) =>
    name.startsWith('*.') && isPublicSuffix(name.slice(2))
      ? [{ code: 'BAD_DOMAIN', pointer: `/packages/${place}`, detail: `strangers have names below ${name.slice(2)}` }]
      : [],
  )

/** @param spec a whole one or a part of it  @returns findings with pointers into the spec, empty when it is sound */
export const hostFaults = (spec: Partial<HostSpec>, rule: AddressRule): Fault[] => {
  const faults: Fault[] = []
  const { address, hostKey, baseDomain, packages = [] } = spec
  if (hostKey !== undefined && hostKeyBytes(hostKey) === null) {
    faults.push({
      code: 'BAD_HOST_KEY',
      pointer: '/hostKey',
      detail: 'the base64 does not hold a key of the named type',
    })
  }
  // What is no address is a name, which is judged by what it leads to at each connection.
  const isAddress =
    address !== undefined && (bytesOfAddress(address) !== null || /^[\d.]+$/.test(address) || address.includes(':'))
  if (isAddress && !mayReach(address, rule)) {
    faults.push({ code: 'BAD_HOST_ADDRESS', pointer: '/address', detail: `${address} is not a public address` })
  }
  if (address !== undefined && rule === 'public' && /(^|\.)localhost$/i.test(address)) {
    faults.push({ code: 'BAD_HOST_ADDRESS', pointer: '/address', detail: `${address} is not a public address` })
  }
  if (baseDomain !== undefined) faults.push(...baseFaults(baseDomain, rule))
  return [...faults, ...packageFaults(packages)]
}
