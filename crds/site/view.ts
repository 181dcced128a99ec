/** The site as REST shows it: one function for POST, GET and the list (rules/site.md#over-rest). Every key is always there. */
import type { Plan } from '../kernel/plan.ts'
import { toRest } from '../kernel/rest.ts'
import { isServed, NAME_TAKEN } from '../names/life.ts'
import { nameRefusal, recordText } from '../names/name.ts'
import { shownName } from '../values/hostname.ts'
import { lockWarnings } from './content/brand/lock.ts'
import { contentOf } from './content/expand.ts'
import { contentWarnings, inRest, pastWarnings } from './content/faults/gaps.ts'
import { twinWarnings } from './content/faults/likeness.ts'
import { liveOf, releasesOf } from './facts.ts'
import type { SiteLinks } from './links.ts'
import { type Alias, type AliasKind, aliasesOf } from './names/aliases.ts'
import { hostnameOf, nameOf } from './names/domain.ts'
import type { SiteName } from './names/names.ts'
import { type SiteStatusFacts, type SiteStep, standOfSite } from './plan.ts'
import { submitsAhead } from './publishing/asked.ts'
import { type PictureCount, pictureCount } from './publishing/pictures.ts'
import { urlOf } from './publishing/publish.ts'
import { firstOf, hostFor, renderingOf, renderRequest, templateOf } from './publishing/rendering.ts'
import { type ReviewState, reviewOf } from './reviewing/review.ts'
import { type SitePhase, type SiteResource, spec as specSchema } from './schema.ts'
import type { SiteWorld } from './world.ts'

export type WarningView = { code: string; pointer: string; detail: string }
export type SiteReleaseView = {
  number: number
  digest: string
  hostname: string
  state: 'live' | 'kept'
  bytes: number
  files: number
  created_at: string
}
/** One name of the site. `next` says what is to be done; null where nothing is. */
export type SiteDomainView = {
  name: string
  hostname: string
  /** The hostname as people write it. */
  unicode: string
  state: string
  served: boolean
  proof: string | null
  records: { type: string; name: string; value: string }[]
  looked_at: string | null
  next_look_at: string | null
  seen_at: string | null
  missing_since: string | null
  kept_until: string | null
  reason: string | null
  code: string | null
  next: string | null
}
/** A name that leads to the one that the site is live under. */
export type SiteRedirectView = {
  name: string
  hostname: string
  unicode: string
  kind: AliasKind
  to: string
  until: string | null
}
export type ReviewView = {
  url: string
  digest: string
  submitted_at: string
  decision: 'approve' | 'request_changes' | null
  decided_by: string | null
  decided_at: string | null
  note: string | null
}

export type SiteView = {
  id: string
  external_ref: string | null
  status: SitePhase
  /** How an edit stands beside what is live; null when there is none. */
  pending_status: SitePhase | null
  /** The trade whose words stand under the content. */
  preset: string | null
  template: string
  layout: string
  lang: string
  url: string | null
  preview_url: string
  /** Which are good; those of before were ended. */
  link_versions: SiteLinks
  domain: string | null
  /** Of the names that it asks for, or is live under, how each stands. */
  domains: SiteDomainView[]
  /** Names that lead to where it is live. */
  redirects: SiteRedirectView[]
  host: string | null
  /** Null while pictures are under way: what can be approved is not there yet. */
  digest: string | null
  live_digest: string | null
  /** What the preview shows: the same, or what stands in for it meanwhile. */
  preview_digest: string | null
  /** Those that have all their widths. `submit_waits`: it was submitted, which takes effect with the last. */
  pictures: PictureCount & { submit_waits: boolean }
  review: ReviewView | null
  /** How what is rendered now stands in review. */
  review_state: ReviewState
  release: number | null
  releases: SiteReleaseView[]
  warnings: WarningView[]
  metadata: Record<string, unknown>
  content: Record<string, unknown>
  created_at: string
  updated_at: string
  version: number
  /** Why nothing more happens until a person acts; the code is what a request would have been refused with. */
  stalled: { code: string; detail: string } | null
  /** Facts that this view has taken in: who appended one waits until it is reached. */
  fact_seq: number
}

const instant = (text: string): string => new Date(text).toISOString()

const reviewView = (world: SiteWorld): ReviewView | null => {
  const last = world.submissions.at(-1)
  if (!last) return null
  const decision = world.decisions.find(({ submission }) => submission === last.seq)
  return {
    url: world.reviewUrl,
    digest: last.digest,
    submitted_at: instant(last.at),
    decision: decision?.decision ?? null,
    decided_by: decision?.by ?? null,
    decided_at: decision ? instant(decision.at) : null,
    note: decision?.note ?? null,
  }
}

const releaseViews = (world: SiteWorld): SiteReleaseView[] => {
  const live = liveOf(world)
  return releasesOf(world)
    .map(
      ({ release, digest, hostname, bytes, files, at }): SiteReleaseView => ({
        number: release,
        digest,
        hostname,
        state: live?.release === release ? 'live' : 'kept',
        bytes,
        files,
        created_at: instant(at),
      }),
    )
    .reverse()
}

const lockWarning = ({ spec }: SiteResource, { account, brand }: SiteWorld): WarningView[] => {
  const lock = account?.templateLock ?? null
  return lock === null ? [] : lockWarnings({ lock, template: contentOf(spec).meta.template, brand })
}

const updatedAt = ({ metadata }: SiteResource, world: SiteWorld, renderedAt: string | undefined): string => {
  const happened = [...world.submissions, ...world.decisions, ...world.switches].map(({ at }) => at)
  const all = [metadata.creationTimestamp, ...happened, ...(renderedAt === undefined ? [] : [renderedAt])]
  return all.map(instant).sort().at(-1) ?? instant(metadata.creationTimestamp)
}

export const viewSite = (
  object: SiteResource,
  world: SiteWorld,
  { status, verdict }: Pick<Plan<SiteStep, SiteStatusFacts>, 'status' | 'verdict'>,
  now: Date,
): SiteView => {
  const { metadata, spec } = object
  const request = renderRequest(spec, world)
  const current = renderingOf(world, request)
  const shown = current ?? firstOf(world, request)
  const stand = standOfSite(object, world)
  const live = liveOf(world)
  const port = world.hosts.find(({ name }) => name === live?.host)?.httpsPort
  const { meta } = contentOf(spec)
  return {
    id: metadata.name,
    external_ref: spec.externalRef ?? null,
    status: stand.status,
    pending_status: stand.pendingStatus,
    preset: spec.preset ?? null,
    template: templateOf(spec, world.account?.templateLock ?? null) ?? meta.template,
    layout: meta.layout,
    lang: meta.lang,
    url: live && urlOf(live, port),
    preview_url: world.previewUrl,
    link_versions: world.linkVersions,
    domain: domainOf(object, world),
    domains: namesFirst(world.names).map((one) => domainView(one, world)),
    redirects: live ? aliasesOf(spec, world, live).map((alias) => redirectView(alias, live.hostname)) : [],
    host: status.host ?? null,
    ...bytesView(object, world),
    live_digest: live?.digest ?? null,
    review: reviewView(world),
    review_state: current ? reviewOf(world, current) : 'draft',
    release: live?.release ?? null,
    releases: releaseViews(world),
    warnings: [
      ...lockWarning(object, world),
      ...contentWarnings(spec),
      ...pastWarnings(spec, now),
      ...twinWarnings(world.words.isKept ? world.words.signature : null, world.words.others),
      ...(shown?.warnings ?? []).map(inRest),
    ],
    metadata: spec.metadata ?? {},
    content: contentView(spec),
    created_at: instant(metadata.creationTimestamp),
    updated_at: updatedAt(object, world, shown?.at),
    version: metadata.generation,
    stalled: verdict.state === 'stalled' ? { code: verdict.code, detail: verdict.message } : null,
    fact_seq: world.factSeq,
  }
}

/** What only leads to the site stands after what it asks for. */
const namesFirst = (names: readonly SiteName[]): SiteName[] =>
  names.toSorted((a, b) => Number(a.spare) - Number(b.spare))

const redirectView = ({ name, hostname, kind, until }: Alias, to: string): SiteRedirectView => {
  return { name, hostname, unicode: shownName(hostname), kind, to, until }
}

const bytesView = (
  object: SiteResource,
  world: SiteWorld,
): Pick<SiteView, 'digest' | 'preview_digest' | 'pictures'> => {
  const request = renderRequest(object.spec, world)
  const current = renderingOf(world, request)
  return {
    digest: current?.digest ?? null,
    preview_digest: (current ?? firstOf(world, request))?.digest ?? null,
    pictures: { ...pictureCount(world, request), submit_waits: current === null && submitsAhead(object, world) },
  }
}

const domainView = (one: SiteName, world: SiteWorld): SiteDomainView => {
  const { name, state, proof, records, reason } = one
  const host = hostFor(world)
  const hostname = host ? hostnameOf(name, host) : name
  const refusal = nameRefusal(one)
  const isOpen = records.length > 0 && refusal?.code !== 'DOMAIN_TAKEN' && (refusal !== null || state === 'missing')
  return {
    name,
    hostname,
    unicode: shownName(hostname),
    state,
    served: isServed(state),
    proof,
    records,
    looked_at: one.lookedAt,
    next_look_at: one.dueAt,
    seen_at: one.seenAt,
    missing_since: one.missingSince,
    kept_until: one.until,
    reason: reason?.startsWith(NAME_TAKEN) ? reason.slice(NAME_TAKEN.length) : reason,
    code: refusal?.code ?? null,
    next: isOpen ? `Set ${recordText(one)}` : null,
  }
}

/** The full name that is asked for; a label alone while no host gives it a base. */
const domainOf = ({ spec }: SiteResource, world: SiteWorld): string | null =>
  renderRequest(spec, world)?.hostname ?? nameOf(spec, world.base)

const contentView = (spec: SiteResource['spec']): Record<string, unknown> =>
  toRest(specSchema.properties.content, contentOf(spec))
