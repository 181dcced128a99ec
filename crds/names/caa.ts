/**
 * Whether a CA may issue for a name, by the name's CAA records: the set nearest above it counts, and no set forbids nothing.
 * Source: RFC 8659 sections 3 and 4, RFC 8657 (validation methods), the CAs' own documents for the names that they go by.
 */
import { registeredDomain } from '../values/domain.ts'

/** One record as a resolver gives it. `critical`: a CA that does not know the property may not issue. */
export type CaaRecord = { critical: number; tag: string; value: string }
/** The set that counts, and the name that it stands at. */
export type CaaSet = { name: string; records: readonly CaaRecord[] }

const KNOWN_TAGS = ['issue', 'issuewild', 'iodef', 'issuemail', 'issuevmc', 'contactemail', 'contactphone']
/** How a host's proxy proves a name to its CA. */
const METHODS = ['http-01', 'tls-alpn-01']

/** By the host of the ACME directory. */
const AUTHORITIES: Readonly<Record<string, readonly string[]>> = {
  'acme-v02.api.letsencrypt.org': ['letsencrypt.org'],
  'acme-staging-v02.api.letsencrypt.org': ['letsencrypt.org'],
  'acme.zerossl.com': ['sectigo.com', 'zerossl.com'],
  'dv.acme-v02.api.pki.goog': ['pki.goog'],
  'acme.ssl.com': ['ssl.com'],
  'acme.buypass.com': ['buypass.com'],
}
/** Caddy's own, in the order in which it tries them. */
const BY_DEFAULT: readonly string[] = ['letsencrypt.org', 'sectigo.com', 'zerossl.com']

/** What CAA records have to name so that a host gets certificates. @param directory of its ACME issuer; null: the public default */
export const authoritiesOf = (directory: string | null): readonly string[] => {
  if (directory === null) return BY_DEFAULT
  const { hostname } = new URL(directory)
  return AUTHORITIES[hostname] ?? [...new Set([registeredDomain(hostname) ?? hostname, hostname])]
}

export const caaLine = ({ critical, tag, value }: CaaRecord): string => `${critical} ${tag} "${value}"`

/** Parameters behind the CA: `validationmethods=dns-01,http-01` narrows, others are between the CA and its customer. */
const allows = (parameters: readonly string[]): boolean =>
  parameters.every((parameter) => {
    const [name = '', value = ''] = parameter.split('=').map((part) => part.trim().toLowerCase())
    if (name !== 'validationmethods') return true
    return value.split(',').some((method) => METHODS.includes(method.trim()))
  })

const issuerFits = (value: string, authorities: readonly string[]): boolean => {
  const [issuer = '', ...parameters] = value.split(';')
  return authorities.includes(issuer.trim().toLowerCase()) && allows(parameters)
}

/** @param records of the set that counts; none where there is no such set */
export const admits = (records: readonly CaaRecord[], authorities: readonly string[]): boolean => {
  const tagOf = ({ tag }: CaaRecord) => tag.toLowerCase()
  // the critical bit is the first: 128
  if (records.some((one) => one.critical >= 128 && !KNOWN_TAGS.includes(tagOf(one)))) return false
  const issuers = records.filter((one) => tagOf(one) === 'issue')
  return issuers.length === 0 || issuers.some(({ value }) => issuerFits(value, authorities))
}

/** Where CAA records of a name may stand, the nearest first: up to below the root. */
export const caaNames = (name: string): string[] => {
  const labels = name.split('.')
  return labels.map((_, place) => labels.slice(place).join('.'))
}
