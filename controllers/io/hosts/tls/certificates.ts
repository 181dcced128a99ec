/**
 * Certificates as visitors get them: measured by a TLS handshake for each hostname over the host's own connection, never
 * taken from what a proxy says of itself (rules/host.md#certificates).
 */
import type { Duplex } from 'node:stream'
import { connect, type TLSSocket } from 'node:tls'
import type { HostCertificate } from '../../../../crds/host/schema.ts'

const HANDSHAKE_LIMIT_MS = 5_000
/** Handshakes at once. */
const LANES = 4
/** A sound certificate is looked at again after so long, any other at each pass. */
const KEPT_MS = 300_000
/** Of its lifetime: what is left when it should long have been renewed (Caddy renews at a third). */
const EXPIRING_SHARE = 0.2

type Served = { notBefore: string; notAfter: string; issuer: string; isFor: boolean }

const handshake = <T>(stream: Duplex, hostname: string, look: (socket: TLSSocket) => T | null): Promise<T | null> =>
  new Promise((resolve) => {
    const socket = connect({
      socket: stream,
      servername: hostname,
      rejectUnauthorized: false,
      ALPNProtocols: ['http/1.1'],
    })
    const end = (served: T | null) => {
      clearTimeout(timer)
      socket.destroy()
      stream.destroy()
      resolve(served)
    }
    const timer = setTimeout(() => end(null), HANDSHAKE_LIMIT_MS)
    socket.on('error', () => end(null))
    socket.on('close', () => end(null))
    socket.on('secureConnect', () => end(look(socket)))
  })

const servedBy =
  (hostname: string) =>
  (socket: TLSSocket): Served | null => {
    const certificate = socket.getPeerX509Certificate()
    if (!certificate) return null
    return {
      notBefore: certificate.validFromDate.toISOString(),
      notAfter: certificate.validToDate.toISOString(),
      issuer: /(?:^|\n)(?:CN|O)=(.*)/.exec(certificate.issuer)?.[1] ?? certificate.issuer.slice(0, 200),
      isFor: certificate.checkHost(hostname) !== undefined,
    }
  }

/** The last of the chain that is shown: renewed certificates of the same CA lead to it too. */
const issuedBy = (socket: TLSSocket): string | null => {
  let last = socket.getPeerCertificate(true)
  while (last.issuerCertificate !== undefined && last.issuerCertificate !== last) last = last.issuerCertificate
  return last.raw === undefined ? null : last.raw.toString('base64')
}

/** @param open as for makeCertificates */
export const authorityOf = async (open: () => Promise<Duplex | null>, hostname: string): Promise<string | null> => {
  const stream = await open()
  return stream && handshake(stream, hostname, issuedBy)
}

const stateOf = ({ notBefore, notAfter, isFor }: Served, nowMs: number): HostCertificate['state'] => {
  if (!isFor) return 'mismatch'
  const [from, to] = [Date.parse(notBefore), Date.parse(notAfter)]
  if (nowMs >= to) return 'expired'
  return to - nowMs < (to - from) * EXPIRING_SHARE ? 'expiring' : 'valid'
}

const wholeSeconds = (iso: string): string => `${iso.slice(0, 19)}Z`

/**
 * @param open a stream to where the host serves TLS, null when nobody listens there
 * @returns measures the certificates of all hostnames; sound ones are remembered for a while
 */
export const makeCertificates = (open: () => Promise<Duplex | null>, now: () => Date) => {
  const kept = new Map<string, { atMs: number; certificate: HostCertificate }>()

  const measure = async (hostname: string): Promise<HostCertificate> => {
    const nowMs = now().getTime()
    const known = kept.get(hostname)
    if (known && known.certificate.state === 'valid' && Math.abs(nowMs - known.atMs) < KEPT_MS) return known.certificate
    const stream = await open()
    const served = stream && (await handshake(stream, hostname, servedBy(hostname)))
    const certificate: HostCertificate =
      served === null
        ? { hostname, state: 'missing' }
        : { hostname, notAfter: wholeSeconds(served.notAfter), issuer: served.issuer, state: stateOf(served, nowMs) }
    kept.set(hostname, { atMs: nowMs, certificate })
    return certificate
  }

  /** @param isAll these are all that the host has; else some of them, and what is known of others stays */
  return async (hostnames: readonly string[], isAll = true): Promise<HostCertificate[]> => {
    if (isAll) for (const name of kept.keys()) if (!hostnames.includes(name)) kept.delete(name)
    const left = [...hostnames]
    const found: HostCertificate[] = []
    const lane = async () => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) found.push(await measure(next))
    }
    await Promise.all(Array.from({ length: LANES }, lane))
    return found
  }
}
