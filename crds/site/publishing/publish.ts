/**
 * What is to be live, and the steps from what is live to that: into the queue of the host, files, switch and route, a look from
 * outside, the record. Each step may be taken again after any crash; the record comes last and is what everybody reads.
 */
import { type Verdict, waiting } from '../../kernel/plan.ts'
import type { ProblemCode } from '../../kernel/problem.ts'
import { isServed } from '../../names/life.ts'
import { nameRefusal } from '../../names/name.ts'
import { type SiteEvent, siteEvent } from '../events.ts'
import { liveOf, releasesOf } from '../facts.ts'
import { aliasesOf } from '../names/aliases.ts'
import { nameOf } from '../names/domain.ts'
import { lostName, nameIn } from '../names/names.ts'
import { tooHeavy } from '../render/budget.ts'
import { isApproved } from '../reviewing/review.ts'
import type { SiteResource } from '../schema.ts'
import type { Rendering, SiteHost, SiteRelease, SiteWorld } from '../world.ts'
import { isProven, type LookTarget, lookTarget, repairOf } from './look.ts'
import { hostFor } from './rendering.ts'
import { type Attested, attestedOf } from './statement.ts'

/** Releases whose files stay on the host, the live one among them: to put one back is a switch and no upload. */
export const RELEASES_KEPT = 5

export type PublishStep =
  /** A place under the account's cap of publishes a day. Stalled when none is left. */
  | { do: 'reservePublish'; digest: string }
  /** Places under the limit of the host's CA, for names that have no certificate there. Stalled until there is room. */
  | { do: 'orderCertificates'; host: string; hostnames: string[] }
  /** At the end of the host's queue, unless it stands there for the same bytes. */
  | { do: 'enterQueue'; host: string; digest: string }
  /** What the host does not have. */
  | { do: 'upload'; host: string; digest: string; manifest: string; attested: Attested }
  /** A release of checked copies, then one rename. `keep`: digests of the releases whose files stay. */
  | { do: 'switchFiles'; host: string; digest: string; manifest: string; keep: string[]; attested: Attested }
  /** `aliases`: hostnames that lead to it. */
  | { do: 'setRoute'; host: string; hostname: string; manifest: string; hsts: boolean; aliases: string[] }
  /** Counts that it is put back. `drift`: what somebody or something changed, of which an Event tells; none for what is outdated. */
  | { do: 'noteDrift'; host: string; drift: string[] }
  /** Also what strayed in the proxy of the host before the route. */
  | { do: 'restoreProxy'; host: string }
  | { do: 'markSwitched'; host: string; digest: string }
  /** Every page as a visitor gets it, through the host's TLS port. Waiting until they are the right ones. */
  | {
      do: 'verify'
      host: string
      hostname: string
      digest: string
      manifest: string
      attested: Attested
      hsts: boolean
      aliases: string[]
      since: string
    }
  | { do: 'recordSwitch'; k: number; to: SiteRelease | null; event: SiteEvent }
  | { do: 'takeDown'; host: string; hostname: string }
  | { do: 'leaveQueue' }
  /** No route and no certificate any more: the name may be another account's. */
  | { do: 'removeRoute'; host: string }
  | { do: 'removeFiles'; host: string }

export type WantedPublish =
  | { state: 'nothing' }
  | { state: 'refused'; code: ProblemCode; detail: string }
  | { state: 'bytes'; rendering: Rendering; name: string; hostname: string }

const refused = (code: ProblemCode, detail: string): WantedPublish => ({ state: 'refused', code, detail })
const short = (digest: string): string => digest.slice(0, 12)

/** What was pinned before the site had a host, and so a full name, is the same site once it has. */
const pinnedOf = (digest: string | undefined, world: SiteWorld, current: Rendering | null): Rendering | null => {
  if (digest === undefined) return current
  const pinned = world.renderings.findLast((one) => one.digest === digest) ?? null
  return pinned?.hostname === null && current?.neutral === pinned.neutral ? current : pinned
}

/** @param current what is rendered now */
export const wantedOf = (
  { spec }: Pick<SiteResource, 'spec'>,
  world: SiteWorld,
  current: Rendering | null,
): WantedPublish => {
  if (!spec.publish) return { state: 'nothing' }
  const rendering = pinnedOf(spec.digest, world, current)
  if (rendering === null) {
    return refused('NOT_APPROVED', `no bytes of this site have the digest ${short(spec.digest ?? '')}`)
  }
  const heavy = isReleased(world, rendering) ? null : tooHeavy(rendering)
  if (heavy !== null) return refused('FAR_OVER_BUDGET', heavy)
  if (!isApproved(world, rendering)) {
    return refused('NOT_APPROVED', `${short(rendering.digest)} is not approved; submit it, or put the spec back`)
  }
  const { name, hostname } = rendering
  if (name === null || hostname === null) {
    const chosen = nameOf(spec, world.base)
    const detail = chosen === null ? 'the site has no domain' : `these bytes were rendered before ${chosen} was chosen`
    return refused('NO_DOMAIN', detail)
  }
  const held = nameIn(world, name)
  if (held === null) {
    return refused('NO_DOMAIN', `${hostname} is no longer the site's; choose it again, or publish what is rendered now`)
  }
  const unproven = nameRefusal(held)
  if (unproven !== null) return refused(unproven.code, unproven.detail)
  return { state: 'bytes', rendering, name, hostname }
}

/** What was let through once may be put back. */
const isReleased = (world: SiteWorld, { digest }: Rendering): boolean =>
  releasesOf(world).some((one) => one.digest === digest)

type Going = { rendering: Rendering; name: string; hostname: string; host: SiteHost }

/** The number under which bytes are released: their own if they were live before, else the next. */
const releaseOf = (world: SiteWorld, { rendering, name, hostname, host }: Going): SiteRelease => {
  const known = releasesOf(world)
  const { digest, neutral, bytes, files } = rendering
  const release = known.find((one) => one.digest === digest)?.release ?? known.length + 1
  return { digest, neutral, release, name, hostname, host: host.name, bytes, files }
}

export const urlOf = ({ hostname }: Pick<SiteRelease, 'hostname'>, port = 443): string =>
  `https://${hostname}${port === 443 ? '' : `:${port}`}/`

/** Of what is live; null when nothing is. */
export const urlOfLive = (world: SiteWorld): string | null => {
  const live = liveOf(world)
  const port = world.hosts.find(({ name }) => name === live?.host)?.httpsPort
  return live && urlOf(live, port)
}

/** The newest releases, with what is about to be live and what is. */
const keptOf = (world: SiteWorld, digest: string): string[] => {
  const live = liveOf(world)
  const newest = releasesOf(world).slice(-RELEASES_KEPT).toReversed()
  const kept = [digest, ...(live ? [live.digest] : []), ...newest.map((one) => one.digest)]
  return [...new Set(kept)].slice(0, RELEASES_KEPT)
}

const recordOf = (object: SiteResource, world: SiteWorld, to: SiteRelease | null, url: string | null): PublishStep => {
  const event = siteEvent(to ? 'website.published' : 'website.unpublished', object, {
    status: to ? 'live' : 'unpublished',
    url,
  })
  return { do: 'recordSwitch', k: world.switches.length + 1, to, event }
}

/** Nothing is left to do when both are empty. `wait` says for what. */
export type Way = {
  steps: readonly PublishStep[]
  wait: { reason: string; message: string; retryAfterMs?: number } | null
}
const DONE: Way = { steps: [], wait: null }
/** How often whoever waits in a queue looks, beside being woken when its turn comes. */
const QUEUE_RETRY_MS = 5_000
const HOST_RETRY_MS = 30_000

const waitFor = (reason: string, message: string, retryAfterMs: number): Way => ({
  steps: [],
  wait: { reason, message, retryAfterMs },
})

/** The way to put these bytes live. */
export const wayTo = (object: SiteResource, world: SiteWorld, wanted: WantedPublish & { state: 'bytes' }): Way => {
  const { rendering, name, hostname } = wanted
  const live = liveOf(world)
  if (live && live.digest === rendering.digest && live.hostname === hostname) return leave(world)
  const host = hostFor(world)
  if (!host) return waitFor('NoHost', 'no approved host takes sites; approve one', HOST_RETRY_MS)
  if (!host.ready)
    return waitFor('HostNotReady', `host ${host.name} is not ready; its own status says why`, HOST_RETRY_MS)
  if (!isReleased(world, rendering) && !world.reservedDigests.includes(rendering.digest)) {
    return { steps: [{ do: 'reservePublish', digest: rendering.digest }], wait: null }
  }
  const going: Going = { rendering, name, hostname, host }
  const { turn } = world
  if (turn?.host !== host.name || turn.digest !== rendering.digest) {
    // before it waits: who stands in the queue for a week keeps nobody behind it
    const hostnames = [hostname, ...targetOf(object, world, going).aliases]
    return {
      steps: [
        { do: 'orderCertificates', host: host.name, hostnames },
        { do: 'enterQueue', host: host.name, digest: rendering.digest },
      ],
      wait: null,
    }
  }
  if (turn.stage === 'waiting' && turn.place > 1) {
    const message = `is number ${turn.place} in the queue of host ${host.name}`
    return waitFor('Queued', message, QUEUE_RETRY_MS)
  }
  return {
    steps: [
      ...(turn.stage === 'waiting' ? bringSteps(object, world, going) : []),
      ...endSteps(object, world, going, turn.since),
    ],
    wait: null,
  }
}

/** What puts bytes on a host and lets them be served, whatever is there. */
const placeSteps = (world: SiteWorld, target: LookTarget): PublishStep[] => {
  const { host, rendering, attested } = target
  const { digest, manifest } = rendering
  return [
    { do: 'upload', host, digest, manifest, attested },
    { do: 'switchFiles', host, digest, manifest, keep: keptOf(world, digest), attested },
    routeTo(target),
  ]
}

const routeTo = ({ host, rendering, hostname, hsts, aliases }: LookTarget): PublishStep => {
  return { do: 'setRoute', host, hostname, manifest: rendering.manifest, hsts, aliases }
}

const targetOf = ({ spec }: SiteResource, world: SiteWorld, going: Going): LookTarget => {
  const { rendering, name, hostname, host } = going
  const { release } = releaseOf(world, going)
  const attested = attestedOf(world, rendering, { release, hostname })
  const aliases = aliasesOf(spec, world, { name, host: host.name }).map((one) => one.hostname)
  return { host: host.name, rendering, hostname, attested, hsts: isProven(world, hostname), aliases }
}

const bringSteps = (object: SiteResource, world: SiteWorld, going: Going): PublishStep[] => [
  ...placeSteps(world, targetOf(object, world, going)),
  { do: 'markSwitched', host: going.host.name, digest: going.rendering.digest },
]

const endSteps = (object: SiteResource, world: SiteWorld, going: Going, since: string): PublishStep[] => {
  const { rendering, hostname, host } = going
  const { digest, manifest } = rendering
  const to = releaseOf(world, going)
  const { attested, hsts, aliases } = targetOf(object, world, going)
  return [
    { do: 'verify', host: host.name, hostname, digest, manifest, attested, hsts, aliases, since },
    recordOf(object, world, to, urlOf(to, host.httpsPort)),
    { do: 'leaveQueue' },
  ]
}

/** What was seen to stray is put back, whatever else is wanted; null when nothing is to be put back. */
export const wayBack = (object: SiteResource, world: SiteWorld): { verdict: Verdict; steps: PublishStep[] } | null => {
  const stray = repairOf(world.look)
  const target = stray && lookTarget(object, world)
  if (!stray || !target) return null
  const steps: PublishStep[] = [
    // what is only on its way was not there before
    { do: 'noteDrift', host: target.host, drift: world.turn ? [] : stray.drift },
    ...placeSteps(world, target).filter((step) => (step.do === 'setRoute' ? stray.route : stray.files)),
    ...(stray.proxy ? [{ do: 'restoreProxy', host: target.host } as const] : []),
  ]
  return { verdict: waiting('Restoring', 'puts back what strayed on its host'), steps }
}

const leave = (world: SiteWorld): Way => (world.turn ? { steps: [{ do: 'leaveQueue' }], wait: null } : DONE)

/** Visitors are told that it is gone, but not under a name that is not the site's any more. */
const downSteps = (
  world: SiteWorld,
  host: string,
  { name, hostname }: Pick<Rendering, 'name' | 'hostname'>,
): PublishStep[] => {
  if (hostname === null) return []
  return isServed(nameIn(world, name)?.state ?? 'free')
    ? [{ do: 'takeDown', host, hostname }]
    : [{ do: 'removeRoute', host }]
}

/** The way to nothing being live. What the switch has brought without its record is taken down too. */
export const wayDown = (object: SiteResource, world: SiteWorld): Way => {
  const live = liveOf(world)
  const host = world.home
  const going = live ?? world.renderings.find(({ digest }) => digest === world.turn?.digest)
  if (live === null && !world.turn) return DONE
  const down = host === null || !going ? [] : downSteps(world, host, going)
  return { steps: [...down, ...(live ? [recordOf(object, world, null, null)] : []), { do: 'leaveQueue' }], wait: null }
}

/** Off a name whose proof is gone, at once and whatever is wanted. */
export const wayOffLost = (object: SiteResource, world: SiteWorld): PublishStep[] => {
  const live = liveOf(world)
  const lost = lostName(world, live?.name ?? null)
  const host = live?.host ?? world.home
  if (lost === null || host === null) return []
  // Only what leads to the site is lost: its route goes on without it.
  const target = live === null || live.name === lost.name ? null : lookTarget(object, world)
  if (target !== null) return [routeTo(target)]
  return [
    { do: 'removeRoute', host },
    ...(live?.name === lost.name ? [recordOf(object, world, null, null)] : []),
    ...(world.turn ? [{ do: 'leaveQueue' } as const] : []),
  ]
}

/** Off names that lead to the site no longer: its route goes on without them, or, where nothing is live, goes. */
export const wayOffLeft = (object: SiteResource, world: SiteWorld): PublishStep[] => {
  const target = liveOf(world) && lookTarget(object, world)
  if (target) return [routeTo(target)]
  return world.home === null ? [] : [{ do: 'removeRoute', host: world.home }]
}
