/**
 * What is looked at of a live site, and what follows: its files on the host, its route, and each page as a visitor gets it. What
 * strayed is put back with the bytes that were approved; what cannot be put back from here is said to whoever can
 * (hack/decisions/061). Ready comes from such a look.
 */
import { type Verdict, waiting } from '../../kernel/plan.ts'
import { liveOf, releasesOf } from '../facts.ts'
import { aliasesOf } from '../names/aliases.ts'
import { isNotFound } from '../render/headers.ts'
import type { SiteResource } from '../schema.ts'
import type { Rendering, SiteLook, SiteWorld } from '../world.ts'
import { addressOfFile, type ManifestEntry, NOT_FOUND_PATH, sortOf } from './manifest.ts'
import { type Attested, attestedOf, STATEMENT_PATH } from './statement.ts'

/** How often what is live is looked at: what strayed is right again within a minute. */
export const LOOK_MS = 30_000
/** How soon whoever could not be looked at, or put right, is looked at again. */
export const LOOK_AGAIN_MS = 15_000
/** What was put back so often and is wrong again is not put back by doing it once more. */
export const TRIES_MAX = 3

/** Which bytes are to stand where. */
export type LookTarget = {
  host: string
  rendering: Rendering
  hostname: string
  attested: Attested
  hsts: boolean
  /** Hostnames that lead to this one. */
  aliases: string[]
}

/** A name that answered visitors before, with a certificate, and that is the account's: browsers may be told to insist on TLS. */
export const isProven = ({ switches, names }: Pick<SiteWorld, 'switches' | 'names'>, hostname: string): boolean =>
  switches.some(
    ({ to }) =>
      to?.hostname === hostname &&
      names.some(({ name, state, proof }) => name === to.name && state === 'verified' && proof !== null),
  )

type Placed = { digest: string; host: string; name: string | null; hostname: string; release: number }

/** @param placed what is live, or is on its way and stands on the host already */
const targetOf = (
  spec: SiteResource['spec'],
  world: SiteWorld,
  { digest, host, name, hostname, release }: Placed,
): LookTarget | null => {
  const rendering = world.renderings.findLast((one) => one.digest === digest)
  if (!rendering) return null
  const attested = attestedOf(world, rendering, { release, hostname })
  const aliases = name === null ? [] : aliasesOf(spec, world, { name, host }).map((one) => one.hostname)
  return { host, rendering, hostname, attested, hsts: isProven(world, hostname), aliases }
}

/** What there is to look at; null while nothing is live, or it is to be taken down. */
export const lookTarget = ({ metadata, spec }: SiteResource, world: SiteWorld): LookTarget | null => {
  if (metadata.deletionTimestamp !== undefined || !spec.publish) return null
  const { turn } = world
  if (turn?.stage === 'switched' && turn.host !== null && turn.digest !== null) {
    const going = world.renderings.findLast(({ digest }) => digest === turn.digest)
    if (!going?.hostname) return null
    const known = releasesOf(world)
    const release = known.find(({ digest }) => digest === turn.digest)?.release ?? known.length + 1
    const { digest, name, hostname } = going
    return targetOf(spec, world, { digest, host: turn.host, name, hostname, release })
  }
  const live = liveOf(world)
  return live && targetOf(spec, world, live)
}

/** One page as a visitor asks for it, and what is to be answered. */
export type WantedPage = { path: string; status: number; sha256: string }

/** Nothing is called this, in any language, so it is answered with the page for what is not found. */
const NOWHERE = '.well-known/bottega-nowhere'

/** How a visitor asks for a file, and what is answered. */
export const wantedOf = ({ path, sha256 }: Pick<ManifestEntry, 'path' | 'sha256'>): WantedPage =>
  isNotFound(path)
    ? { path: `/${path.slice(0, -NOT_FOUND_PATH.length)}${NOWHERE}`, status: 404, sha256 }
    : { path: addressOfFile(path), status: 200, sha256 }

/** Every page and what lies beside them, the page for what is not found, the statement, and one asset for its route. */
export const wantedPages = (files: readonly Pick<ManifestEntry, 'path' | 'sha256'>[]): WantedPage[] => {
  const asset = files.find(({ path }) => sortOf(path) === 'asset')
  return files.filter((file) => sortOf(file.path) !== 'asset' || file === asset).map(wantedOf)
}

/** What is to be put back; nothing when all is as it should be, or when it did not help. */
export type Repair = {
  /** For people: what somebody or something changed. Empty for what only became outdated by our own hand. */
  drift: string[]
  files: boolean
  route: boolean
  /** All of its proxy, for what stands before the route. */
  proxy: boolean
}

export const repairOf = (look: SiteLook | null): Repair | null => {
  if (look?.state !== 'seen' || look.tries >= TRIES_MAX) return null
  const { strayed, pages, route } = look
  if (strayed.length === 0 && route === 'right' && pages.length === 0) return null
  const files = strayed.filter((path) => path !== STATEMENT_PATH)
  // A page that is wrong though its files and its route are right: its folder may be shut.
  const isShut = pages.length > 0 && strayed.length === 0 && route === 'right'
  const drift = [...files, ...(route === 'wrong' ? ['the route'] : []), ...(isShut ? pages : [])]
  return { drift, files: strayed.length > 0 || isShut, route: route !== 'right', proxy: route === 'wrong' }
}

const NO_CERTIFICATE = /ALERT|OTHER_NAME|HANDSHAKE|CERT|EXPIRED/

/** Why nobody serves a name, and what to do. */
export const unservedText = (hostname: string, host: string, code: string): { reason: string; message: string } => {
  if (NO_CERTIFICATE.test(code)) {
    const message = `${hostname} has no certificate on host ${host} yet (${code}); its DNS must lead to the host`
    return { reason: 'Certificate', message }
  }
  if (code === 'NOBODY_LISTENS') {
    return { reason: 'ProxyDown', message: `nobody listens for TLS on host ${host}; start its proxy` }
  }
  return {
    reason: 'NotServed',
    message: `host ${host} breaks off when ${hostname} is asked for (${code}); look at its proxy`,
  }
}

/** What keeps a live site from Ready though there is nothing more to be put back from here; null when it was seen to be right. */
export const notServed = (object: SiteResource, world: SiteWorld): Verdict | null => {
  const { look } = world
  const target = look && lookTarget(object, world)
  if (!look || !target) return null
  if (look.state === 'unseen') return waiting(look.reason, look.message, LOOK_AGAIN_MS)
  const { hostname, host } = target
  const wrong = look.strayed[0] ?? (look.route !== 'right' ? 'its route' : undefined)
  if (wrong !== undefined) {
    const message = `${wrong} on host ${host} is put back and is wrong again; find who changes it there`
    return waiting('NotRestored', message, LOOK_AGAIN_MS)
  }
  if (look.unserved !== null) {
    const { reason, message } = unservedText(hostname, host, look.unserved)
    return waiting(reason, message, LOOK_AGAIN_MS)
  }
  const page = look.pages[0]
  if (page === undefined) return null
  const message = `${page} at ${hostname}, though its files and its route are right; look at the proxy of host ${host}`
  return waiting('NotServed', message, LOOK_AGAIN_MS)
}
