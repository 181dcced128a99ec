/**
 * How many new certificates a CA gives a registered domain within seven days (rules/host.md#limits-of-a-ca): counted before it is
 * asked, so that a publish is refused with a date, and not served without a certificate until the CA relents.
 * Source: Let's Encrypt, Rate Limits ("New Certificates per Registered Domain": 50 within 7 days, renewals left out).
 */
import { registeredDomain } from '../values/domain.ts'
import type { ProxySettings } from './schema.ts'

/** What the public default gives. Another CA has its own rule, which its operator knows. */
export const PUBLIC_PER_WEEK = 50

/** `ca`: its directory, empty for the public default. `perWeek`: new certificates of a registered domain in seven days; null: as many as are asked for. */
export type CaLimit = { ca: string; perWeek: number | null }

export const caLimitOf = ({
  acme,
  certificatesPerWeek,
}: Pick<ProxySettings, 'acme' | 'certificatesPerWeek'>): CaLimit => {
  const perWeek = certificatesPerWeek ?? (acme === undefined ? PUBLIC_PER_WEEK : 0)
  return { ca: acme?.directory ?? '', perWeek: perWeek === 0 ? null : perWeek }
}

/** A name with the part of it that CAs count by. A name of no registered domain counts by itself. */
export type CertificateName = { hostname: string; root: string }

export const certificateNames = (hostnames: readonly string[]): CertificateName[] =>
  hostnames.map((hostname) => ({ hostname, root: registeredDomain(hostname) ?? hostname }))

/** How much of a registered domain's week is used. `fresh`: of the names asked for, those that need a new certificate. `freeAt`: ISO, when all of them fit; null while they do. */
export type CertificateUse = { root: string; fresh: number; used: number; freeAt: string | null }

/** Why they cannot be ordered now, as a sentence without its end. */
export const caLimitDetail = ({ root, fresh, used, freeAt }: CertificateUse, perWeek: number): string => {
  const wanted = fresh === 1 ? 'one more' : `${fresh} more`
  const when = freeAt === null || fresh > perWeek ? '' : `; there is room from ${freeAt}`
  return `names below ${root} were given ${used} of ${perWeek} new certificates within seven days, and ${wanted} would be asked for${when}`
}
