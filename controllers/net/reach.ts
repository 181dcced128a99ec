/**
 * Where a request to an address that a user chose may go: the URL is read once, a name is resolved once, all that it leads to
 * is judged, and the socket is opened to what was judged (rules/platform.md#egress).
 */
import { isIP, type LookupFunction } from 'node:net'
import { createSecureContext, getCACertificates } from 'node:tls'
import { buildConnector } from 'undici'
import { mayReach } from '../../crds/host/faults.ts'
import { bytesOfAddress, isLoopbackAddress } from '../../crds/values/address.ts'
import { makeResolve } from './resolve.ts'

/** For one connection with its TLS handshake. */
const CONNECT_MS = 10_000
const LOOKUP_MS = 5_000
/** For one of several addresses, before the next is tried; the last has what is left. */
const ADDRESS_MS = 1_500
/** Of a name, more are not tried. */
const ADDRESSES_MAX = 16
/** Of servers whose TLS sessions are taken up again. */
const SESSIONS_MAX = 1_000

export type ConnectFault = 'EGRESS_REFUSED' | 'NO_SUCH_NAME' | 'CONNECTION_FAILED' | 'TLS_FAILED' | 'TIMEOUT'

/** There is no connection. The message continues the sentence "the address …", and names no address. */
export class NotConnected extends Error {
  readonly fault: ConnectFault
  constructor(fault: ConnectFault, message: string) {
    super(message)
    this.name = 'NotConnected'
    this.fault = fault
  }
}

const REFUSED = 'does not lead to a public address'
const NOT_SECURE = 'is no https address'

/** hostname: without brackets and trailing dot. */
export type Target = { origin: string; hostname: string; path: string; isPlain: boolean }
export type BadTarget = { problem: string }

/** @returns a URL in parts, or why nothing can be asked there */
export const targetOf = (text: string, allowLoopback: boolean): Target | BadTarget => {
  const url = URL.parse(text)
  if (url === null) return { problem: 'is no address' }
  const isPlain = url.protocol === 'http:'
  if (url.protocol !== 'https:' && !(isPlain && allowLoopback)) return { problem: NOT_SECURE }
  if (url.username !== '' || url.password !== '') return { problem: 'holds a user or a password' }
  const host = url.hostname.replace(/\.$/, '')
  const hostname = host.replace(/^\[|\]$/g, '')
  if (!host.startsWith('[') && host.split('.').includes('')) return { problem: 'is no address' }
  const port = url.port === '' ? '' : `:${url.port}`
  return { origin: `${url.protocol}//${host}${port}`, hostname, path: `${url.pathname}${url.search}`, isPlain }
}

export type ReachOptions = { allowLoopback: boolean; resolve?: (hostname: string) => Promise<string[]> }

/** Gives the judged addresses of a host. @throws NotConnected when it has none, or one that may not be reached */
export type Reach = (target: Pick<Target, 'hostname' | 'isPlain'>) => Promise<string[]>

const within = <T>(limitMs: number, work: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the look-up took too long')), limitMs)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

/** What a socket connects to without a look-up; a zone (`%eth0`) makes it one that may not be reached. */
const isLiteral = (hostname: string): boolean => isIP(hostname) !== 0 || bytesOfAddress(hostname) !== null

export const makeReach = ({ allowLoopback, resolve = makeResolve() }: ReachOptions): Reach => {
  const rule = allowLoopback ? 'public-or-loopback' : 'public'
  // Without TLS nothing but this machine itself is talked to.
  const mayConnect = (address: string, isPlain: boolean) =>
    isPlain ? allowLoopback && isLoopbackAddress(address) : mayReach(address, rule)

  const addressesOf = async (hostname: string): Promise<string[]> => {
    if (isLiteral(hostname)) return [hostname]
    // By RFC 6761 these never leave the machine, whatever a server of names says.
    if (/(^|\.)localhost$/i.test(hostname)) return ['127.0.0.1', '::1']
    const found = await within(LOOKUP_MS, resolve(hostname)).catch(() => [])
    if (found.length === 0) throw new NotConnected('NO_SUCH_NAME', 'has a name that leads nowhere')
    return found
  }

  return async ({ hostname, isPlain }) => {
    const found = await addressesOf(hostname)
    // All of them: a name that leads to a private address too is not to be trusted with the choice.
    if (!found.every((address) => mayConnect(address, isPlain))) {
      throw new NotConnected('EGRESS_REFUSED', isPlain ? NOT_SECURE : REFUSED)
    }
    return found.slice(0, ADDRESSES_MAX)
  }
}

type Coded = { code?: unknown }

const WORDS: Record<string, string> = {
  ECONNREFUSED: 'refuses connections',
  ECONNRESET: 'ended the connection while it was being opened',
  CERT_HAS_EXPIRED: 'has a certificate that has expired',
  CERT_NOT_YET_VALID: 'has a certificate that is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'has a certificate for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'has a certificate that it signed itself',
  SELF_SIGNED_CERT_IN_CHAIN: 'has a certificate of an authority that is not known',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'has a certificate of an authority that is not known, or sends no chain to one',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'has a certificate of an authority that is not known, or sends no chain to one',
}

const codeOf = (error: unknown): string => {
  const code = (error as Coded | null)?.code
  return typeof code === 'string' && /^\w{2,60}$/.test(code) ? code : 'UNKNOWN'
}

/** Gives the code of an error alone: its message holds addresses. */
const notConnected = (error: unknown, isPlain: boolean): NotConnected => {
  if (error instanceof NotConnected) return error
  const code = codeOf(error)
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') {
    return new NotConnected('TIMEOUT', 'opens no connection in time')
  }
  // System errors are E and a word; what remains on https is said by OpenSSL or by the check of the name.
  const isSystem = /^E[A-Z0-9]+$/.test(code) && code !== 'EPROTO'
  const fault = isPlain || isSystem ? 'CONNECTION_FAILED' : 'TLS_FAILED'
  const generic = fault === 'TLS_FAILED' ? `speaks no TLS that is understood (${code})` : `cannot be reached (${code})`
  return new NotConnected(fault, WORDS[code] ?? generic)
}

const familyOf = (address: string): 4 | 6 => (isIP(address) === 6 ? 6 : 4)

/** The look-up of sockets: it gives what was judged just now, so that no name can lead elsewhere in between. */
const lookupBy =
  (reach: Reach, isPlain: boolean): LookupFunction =>
  (hostname, options, callback) => {
    const give = (addresses: readonly string[]) => {
      const found = addresses.map((address) => ({ address, family: familyOf(address) }))
      const [first] = found
      if (options.all === true || first === undefined) callback(null, found)
      else callback(null, first.address, first.family)
    }
    reach({ hostname, isPlain }).then(give, (error) => callback(error, []))
  }

const secureContextWith = (extraCa: string) =>
  createSecureContext({ ca: [...getCACertificates('default'), extraCa], minVersion: 'TLSv1.2' })

/** @param extraCa PEM, beside the authorities of the system  @returns opens sockets to judged addresses and to no other */
export const makeConnector = (reach: Reach, extraCa?: string): buildConnector.connector => {
  const openBy = (isPlain: boolean) =>
    buildConnector({
      timeout: CONNECT_MS,
      allowH2: false,
      maxCachedSessions: SESSIONS_MAX,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: ADDRESS_MS,
      lookup: lookupBy(reach, isPlain),
      ...(extraCa !== undefined && { secureContext: secureContextWith(extraCa) }),
    })
  const [plain, secure] = [openBy(true), openBy(false)]
  return (options, callback) => {
    const isPlain = options.protocol !== 'https:'
    const open = isPlain ? plain : secure
    const answer: buildConnector.Callback = (...[error, socket]) =>
      error === null ? callback(null, socket) : callback(notConnected(error, isPlain), null)
    // Sockets look up names and no literals.
    if (!isLiteral(options.hostname)) return open(options, answer)
    reach({ hostname: options.hostname, isPlain }).then(
      () => open(options, answer),
      (error) => answer(error, null),
    )
  }
}
