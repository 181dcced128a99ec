/**
 * What is to be done about a site: its quota reservations and names, pictures and pages, what others asked for in review, and what is to
 * be live. Pure: looks at nothing and does nothing (rules/platform.md#passes). Each pass plans from what is on record alone, so it
 * does not matter after which step the process was killed.
 */

import { type Plan, ready, stalled, type Verdict, waiting } from '../kernel/plan.ts'
import type { Fault } from '../kernel/problem.ts'
import { endedLinks } from '../values/links.ts'
import { type SiteEvent, siteEvent } from './events.ts'
import { liveOf } from './facts.ts'
import { siteFaults } from './faults.ts'
import { aliasesOf, keptBeside } from './names/aliases.ts'
import { domainFaults, nameOf } from './names/domain.ts'
import { nameConditions, nameIn, nameStatus } from './names/names.ts'
import { type NameStep, nameSteps, releaseSteps } from './names/steps.ts'
import { type SiteStanding, standOf } from './phase.ts'
import { type AskedStep, askedSteps, isInReview, submitSteps, submitsAhead } from './publishing/asked.ts'
import { notServed } from './publishing/look.ts'
import {
  badPicture,
  countText,
  type MakeStep,
  makeSteps,
  pictureCount,
  picturesUnderWay,
} from './publishing/pictures.ts'
import {
  type PublishStep,
  urlOfLive,
  type WantedPublish,
  type Way,
  wantedOf,
  wayBack,
  wayDown,
  wayTo,
} from './publishing/publish.ts'
import { firstOf, hostFor, type RenderRequest, renderingOf, renderRequest, templateOf } from './publishing/rendering.ts'
import { linkSteps, type SiteLinkStep } from './publishing/rotation.ts'
import { isApproved, reviewOf } from './reviewing/review.ts'
import type { SiteResource, SiteSpec, SiteStatus } from './schema.ts'
import type { Rendering, SiteWorld } from './world.ts'

export type SiteStep =
  | PublishStep
  /** A place under the account's number of sites, for what came by kubectl. Stalled when none is left. */
  | { do: 'reserveSite' }
  /** The name, for this site alone. Stalled when it is another's. */
  | { do: 'claimName'; name: string }
  | NameStep
  | { do: 'settleHome'; host: string }
  | MakeStep
  /** What the words are like, under the name of what they were rendered from (content/faults/likeness.ts). */
  | { do: 'keepWords'; input: string }
  | { do: 'recordGenerated'; event: SiteEvent }
  | AskedStep
  | SiteLinkStep

/** The kind's own part of the status. */
export type SiteStatusFacts = Omit<SiteStatus, 'conditions' | 'observedGeneration'>
export type SitePlan = Plan<SiteStep, SiteStatusFacts>

/** How often an unknown account is looked for, beside being woken when it appears. */
const ACCOUNT_RETRY_MS = 60_000
const HOST_RETRY_MS = 30_000

/** @param object out of the cache, treated as frozen */
export const planSite = (object: SiteResource, world: SiteWorld): SitePlan => {
  if (object.metadata.deletionTimestamp !== undefined) return planRemoval(object, world)
  const { spec } = object
  const request = renderRequest(spec, world)
  const current = renderingOf(world, request)
  const wanted = wantedOf(object, world, current)
  const status = statusOf(spec, world, current, wanted)
  const conditions = nameConditions(nameIn(world, nameOf(spec, world.base)))
  const wakeAt = world.look?.nextAt
  const end = (verdict: Verdict, steps: SiteStep[] = []): SitePlan => ({
    ...{ steps, status, verdict, conditions },
    ...(wakeAt !== undefined && { wakeAt }),
  })

  const stand = { status: standOf(world, current, comingOf(world, wanted)).status, url: urlOfLive(world) }
  const ended = linkSteps(object, world, stand)
  if (ended.length > 0) return end(waiting('Rotating', 'ends links of before'), ended)
  const first = nameSteps(object, world, stand) ?? wayBack(object, world)
  if (first) return end(first.verdict, first.steps)
  const stop = stopOf(spec, world) ?? badPicture(world)
  // An edit that cannot be rendered takes nothing down: what was asked for before it is judged on its own.
  const asked = askedSteps(object, world, current)
  if (asked.length > 0) return end(waiting('Reviewing', 'records what was asked for'), asked)
  // Whoever waits behind it does not wait for a person to mend it.
  if (stop && world.turn?.stage === 'waiting') return end(stop, [{ do: 'leaveQueue' }])
  if (stop) return end(stop)
  const settling = settleSteps(spec, world)
  if (settling.length > 0) return end(waiting('Settling', 'takes its place and its name'), settling)
  const making = [...makeSteps(world, request, current), ...keepWords(request, world)]
  if (making.length > 0) return end(waiting('Rendering', 'renders its pages'), making)
  const telling = generatedSteps(object, world, current ?? firstOf(world, request))
  if (telling.length > 0) return end(waiting('Rendering', 'tells that it is rendered'), telling)
  if (current !== null) return whole(object, world, { current, wanted, status }, end)
  // what is live, or is to be taken down, waits for no picture
  const underWay = picturesUnderWay(pictureCount(world, request), submitsAhead(object, world))
  return live(object, world, wanted, end, underWay) ?? end(underWay)
}

type Whole = { current: Rendering; wanted: WantedPublish; status: SiteStatusFacts }

/** What is asked for is rendered, in all widths. */
const whole = (object: SiteResource, world: SiteWorld, { current, wanted, status }: Whole, end: End): SitePlan => {
  const submitting = submitSteps(object, world, current)
  if (submitting.length > 0) return end(waiting('Submitting', 'is submitted for review'), submitting)
  if (object.spec.publish && nameOf(object.spec, world.base) !== null && current.name === null) {
    return end(waiting('NoHost', 'no approved host takes sites; approve one', HOST_RETRY_MS))
  }
  return live(object, world, wanted, end) ?? end(settled(object, world, current, status))
}

type End = (verdict: Verdict, steps?: SiteStep[]) => SitePlan

/**
 * What there is to do about being live, or why nothing can be done; null when all is as it is wanted.
 * @param underWay what is said of a refusal while what is asked for is not rendered
 */
const live = (
  object: SiteResource,
  world: SiteWorld,
  wanted: WantedPublish,
  end: End,
  underWay?: Verdict,
): SitePlan | null => {
  const way = wayOf(object, world, wanted)
  if (way.steps.length > 0) return end(waiting('Publishing', 'brings what is live to what is wanted'), [...way.steps])
  if (way.wait) return end(waiting(way.wait.reason, way.wait.message, way.wait.retryAfterMs))
  const release = releaseSteps(object, world, namesNeeded(object.spec, world, wanted))
  if (release.length > 0) return end(waiting('Settling', 'gives names back'), release)
  if (wanted.state !== 'refused' || underWay) return null
  // A person must act, but it is the reviewer, who was asked already.
  if (wanted.code === 'NOT_APPROVED' && isInReview(object, world)) {
    return end(waiting('InReview', 'waits for the decision of a reviewer; it goes live by itself once it is approved'))
  }
  return end(stalled(wanted.code, `${wanted.code}: ${wanted.detail}`))
}

/** A refusal leaves what is live as it is. */
const wayOf = (object: SiteResource, world: SiteWorld, wanted: WantedPublish): Way => {
  switch (wanted.state) {
    case 'bytes':
      return wayTo(object, world, wanted)
    case 'nothing':
      return wayDown(object, world)
    case 'refused':
      return { steps: world.turn ? [{ do: 'leaveQueue' }] : [], wait: null }
    default:
      return wanted satisfies never
  }
}

const namesNeeded = (
  spec: SiteSpec,
  world: SiteWorld,
  wanted: WantedPublish,
): { chosen: string[]; beside: string[] } => {
  const names = [nameOf(spec, world.base), liveOf(world)?.name, wanted.state === 'bytes' ? wanted.name : null]
  const chosen = names.filter((name): name is string => typeof name === 'string')
  return { chosen: [...new Set(chosen)], beside: keptBeside(spec, world, chosen) }
}

/** Why the spec cannot be followed at all; null when it can. */
const stopOf = (spec: SiteSpec, world: SiteWorld): Verdict | null => {
  const fault = faultOf(spec, world)
  if (fault) return stalled(fault.code, `${fault.code}: ${fault.pointer} ${fault.detail}`)
  if (!world.account) {
    const message = `account ${spec.account} does not exist; create it, or delete this site`
    return waiting('AccountMissing', message, ACCOUNT_RETRY_MS)
  }
  const { templateLock } = world.account
  if (templateOf(spec, templateLock) !== null) return null
  const detail = `account ${spec.account} is locked to the template ${templateLock}, which there is not`
  return stalled('INVALID_FIELD', `INVALID_FIELD: /content/meta/template ${detail}`)
}

const faultOf = (spec: SiteSpec, { hosts, testDomains }: SiteWorld): Fault | undefined => {
  const baseDomains = hosts.map(({ baseDomain }) => baseDomain)
  return [...siteFaults(spec), ...domainFaults(spec, { baseDomains, testDomains })][0]
}

/** Place, name and host, which everything else stands on. */
const settleSteps = (spec: SiteSpec, world: SiteWorld): SiteStep[] => {
  const name = nameOf(spec, world.base)
  const host = hostFor(world)
  const steps: SiteStep[] = []
  if (!world.hasQuota) steps.push({ do: 'reserveSite' })
  if (name !== null && !world.names.some((one) => one.name === name && one.settled && !one.spare)) {
    steps.push({ do: 'claimName', name })
  }
  if (name !== null && world.home === null && host) steps.push({ do: 'settleHome', host: host.name })
  return steps
}

/** Told once there is something to look at. */
const generatedSteps = (object: SiteResource, world: SiteWorld, shown: Rendering | null): SiteStep[] => {
  if (shown === null || world.generated) return []
  return [{ do: 'recordGenerated', event: siteEvent('website.generated', object, { status: 'draft', url: null }) }]
}

const keepWords = (request: RenderRequest | null, { words }: SiteWorld): SiteStep[] =>
  request === null || words.isKept ? [] : [{ do: 'keepWords', input: request.input }]

/** What is on its way to be live. */
const comingOf = (world: SiteWorld, wanted: WantedPublish): Rendering | null => {
  if (wanted.state !== 'bytes') return null
  const live = liveOf(world)
  const isLive = live?.digest === wanted.rendering.digest && live.hostname === wanted.hostname
  return isLive ? null : wanted.rendering
}

export const standOfSite = (object: Pick<SiteResource, 'spec'>, world: SiteWorld): SiteStanding => {
  const current = renderingOf(world, renderRequest(object.spec, world))
  return standOf(world, current, comingOf(world, wantedOf(object, world, current)))
}

const statusOf = (
  spec: SiteSpec,
  world: SiteWorld,
  current: Rendering | null,
  wanted: WantedPublish,
): SiteStatusFacts => {
  const live = liveOf(world)
  const url = urlOfLive(world)
  const hostname = live?.hostname ?? current?.hostname
  const host = live?.host ?? world.home
  const linkVersions = endedLinks(world.linkVersions)
  const leading = live === null ? [] : aliasesOf(spec, world, live).map((one) => one.hostname)
  const pictures = countText(pictureCount(world, renderRequest(spec, world)))
  return {
    factSeq: world.factSeq,
    phase: standOf(world, current, comingOf(world, wanted)).status,
    ...(current && { review: reviewOf(world, current), digest: current.digest }),
    ...(pictures !== undefined && { pictures }),
    ...(live && { release: live.release, liveDigest: live.digest }),
    ...(url !== null && { url }),
    ...(hostname && { hostname }),
    ...(host !== null && { host }),
    ...(linkVersions && { linkVersions }),
    ...nameStatus(nameIn(world, nameOf(spec, world.base))),
    ...(leading.length > 0 && { redirects: leading }),
  }
}

/** Ready comes from a look. */
const settled = (object: SiteResource, world: SiteWorld, current: Rendering, status: SiteStatusFacts): Verdict => {
  const wrong = notServed(object, world)
  if (wrong) return wrong
  const live = liveOf(world)
  if (!live) return ready(REASONS[status.phase ?? 'draft'] ?? 'Draft', `${status.phase}, ${current.files} files`)
  const edited =
    current.digest === live.digest ? '' : isApproved(world, current) ? ', an approved edit waits' : ', an edit waits'
  return ready('Live', `release ${live.release} is live at ${status.url}${edited}`)
}

const REASONS: Record<string, string> = {
  draft: 'Draft',
  in_review: 'InReview',
  changes_requested: 'ChangesRequested',
  approved: 'Approved',
  unpublished: 'Unpublished',
}

/** A deleted site goes the way down, then its files go, then its name is free. */
const planRemoval = (object: SiteResource, world: SiteWorld): SitePlan => {
  const current = renderingOf(world, renderRequest(object.spec, world))
  const status = statusOf(object.spec, world, current, { state: 'nothing' })
  const { home } = world
  const clearing: SiteStep[] = home !== null && !world.removed ? [{ do: 'removeFiles', host: home }] : []
  const steps = [...wayDown(object, world).steps, ...clearing]
  return {
    steps,
    status,
    verdict: steps.length > 0 ? waiting('Removing', 'is taken down') : ready('Removed', 'is gone'),
  }
}
