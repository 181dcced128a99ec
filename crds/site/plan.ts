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
import { domainFaults, nameOf } from './names/domain.ts'
import { nameConditions, nameIn, nameStatus } from './names/names.ts'
import { type NameStep, nameSteps, releaseSteps } from './names/steps.ts'
import { type SiteStanding, standOf } from './phase.ts'
import { type AskedStep, askedSteps, isInReview, submitSteps } from './publishing/asked.ts'
import { notServed } from './publishing/look.ts'
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
import {
  hostFor,
  type RenderRequest,
  renderingOf,
  renderRequest,
  sourcesOf,
  templateOf,
} from './publishing/rendering.ts'
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
  /** Fetches and converts; Stalled for what is no picture. */
  | { do: 'takePicture'; source: string }
  | { do: 'render'; request: RenderRequest }
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
  const conditions = nameConditions(nameIn(world, nameOf(spec)))
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
  const stop = stopOf(spec, world)
  // An edit that cannot be rendered takes nothing down: what was asked for before it is judged on its own.
  const asked = askedSteps(object, world, current)
  if (asked.length > 0) return end(waiting('Reviewing', 'records what was asked for'), asked)
  // Whoever waits behind it does not wait for a person to mend it.
  if (stop && world.turn?.stage === 'waiting') return end(stop, [{ do: 'leaveQueue' }])
  if (stop) return end(stop)
  const settling = settleSteps(spec, world)
  if (settling.length > 0) return end(waiting('Settling', 'takes its place and its name'), settling)
  const making = makeSteps(object, world, request, current)
  if (making.length > 0) return end(waiting('Rendering', 'renders its pages'), making)
  if (current === null) throw new Error('a site that nothing stops has a rendering')
  const submitting = submitSteps(object, world, current)
  if (submitting.length > 0) return end(waiting('Submitting', 'is submitted for review'), submitting)
  if (spec.publish && nameOf(spec) !== null && current.name === null) {
    return end(waiting('NoHost', 'no approved host takes sites; approve one', HOST_RETRY_MS))
  }
  return live(object, world, wanted, end) ?? end(settled(object, world, current, status))
}

type End = (verdict: Verdict, steps?: SiteStep[]) => SitePlan

/** What there is to do about being live, or why nothing can be done; null when all is as it is wanted. */
const live = (object: SiteResource, world: SiteWorld, wanted: WantedPublish, end: End): SitePlan | null => {
  const way = wayOf(object, world, wanted)
  if (way.steps.length > 0) return end(waiting('Publishing', 'brings what is live to what is wanted'), [...way.steps])
  if (way.wait) return end(waiting(way.wait.reason, way.wait.message, way.wait.retryAfterMs))
  const keep = namesNeeded(object.spec, world, wanted)
  const release = releaseSteps(world, keep)
  if (release.length > 0) return end(waiting('Settling', 'gives names back'), release)
  if (wanted.state !== 'refused') return null
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

const namesNeeded = (spec: SiteSpec, world: SiteWorld, wanted: WantedPublish): string[] => {
  const names = [nameOf(spec), liveOf(world)?.name, wanted.state === 'bytes' ? wanted.name : null]
  return names.filter((name): name is string => typeof name === 'string')
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
  const name = nameOf(spec)
  const host = hostFor(world)
  const steps: SiteStep[] = []
  if (!world.hasQuota) steps.push({ do: 'reserveSite' })
  if (name !== null && !world.names.some((one) => one.name === name && one.settled)) {
    steps.push({ do: 'claimName', name })
  }
  if (name !== null && world.home === null && host) steps.push({ do: 'settleHome', host: host.name })
  return steps
}

const makeSteps = (
  object: SiteResource,
  world: SiteWorld,
  request: RenderRequest | null,
  current: Rendering | null,
): SiteStep[] => {
  if (current === null && request !== null) {
    const missing = sourcesOf(request).filter((source) => world.pictures[source]?.state !== 'ready')
    if (missing.length > 0) return missing.map((source) => ({ do: 'takePicture', source }))
    return [{ do: 'render', request }]
  }
  if (current === null || world.generated) return []
  return [{ do: 'recordGenerated', event: siteEvent('website.generated', object, { status: 'draft', url: null }) }]
}

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
  return {
    factSeq: world.factSeq,
    phase: standOf(world, current, comingOf(world, wanted)).status,
    ...(current && { review: reviewOf(world, current), digest: current.digest }),
    ...(live && { release: live.release, liveDigest: live.digest }),
    ...(url !== null && { url }),
    ...(hostname && { hostname }),
    ...(host !== null && { host }),
    ...(linkVersions && { linkVersions }),
    ...nameStatus(nameIn(world, nameOf(spec))),
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
