/** Publishing over REST: checks, a place under the day's cap and in the queue, then the desire, pinned to the approved bytes. */
import { limitOf, nextTurn, publishCapDetail, quotaDay } from '../../crds/account/quotas.ts'
import { type CaLimit, type CertificateUse, caLimitDetail } from '../../crds/host/calimits.ts'
import type { ProblemCode } from '../../crds/kernel/problem.ts'
import { SITE } from '../../crds/site/kind.ts'
import { diffFiles, type SiteManifest } from '../../crds/site/publishing/manifest.ts'
import { tooHeavy } from '../../crds/site/render/budget.ts'
import type { SiteSpec } from '../../crds/site/schema.ts'
import type { SiteView } from '../../crds/site/view.ts'
import { generationGoal } from '../command/command.ts'
import { editSpec } from '../command/edit.ts'
import { afterStored } from '../command/look.ts'
import { sameOwner } from '../command/own.ts'
import { settle } from '../command/settle.ts'
import { refuseStalled } from '../command/verdict.ts'
import { Problem } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import { type DesiredPublish, publishCommand } from './commands.ts'
import type { SiteNeeds } from './needs.ts'
import { type ShownSiteRow, sites } from './read.ts'

/**
 * Writes what is to be live and waits until it is. @param after follows the write; where the ledger is away by then, the
 * controllers do the same when they see what is asked
 */
const bring = (
  deps: SiteNeeds,
  request: ApiRequest,
  row: ShownSiteRow,
  desired: DesiredPublish,
  after?: () => Promise<void>,
): Promise<Answer> => {
  const whose = sameOwner(row)
  return settle(deps, request, publishCommand, {
    ...sites.commandOn(row),
    async act() {
      const { metadata } = await editSpec<SiteSpec>(deps, { kind: SITE, name: row.name, whose }, (now) =>
        now.publish === desired.publish && (now.digest ?? null) === desired.digest ? null : desired,
      )
      if (after) await afterStored(after())
      return { ...generationGoal(metadata), ...desired }
    },
  })
}

type Blocked = { code: ProblemCode; detail: string }

const unapproved = ({ digest, pictures, review_state: state }: SiteView): string => {
  if (digest !== null) return `${digest.slice(0, 12)} is ${state}, not approved.`
  // a view of before names no pictures
  const { ready, total } = pictures ?? { ready: 0, total: 0 }
  return `${ready} of ${total} pictures have all their widths; what is rendered with the last of them can be approved.`
}

/** Why what is rendered now cannot be published; the first counts. */
const blockedBy = (view: SiteView): Blocked[] => {
  const heavy = view.digest !== null && isReleased(view, view.digest) ? null : tooHeavy(view)
  return [
    ...(heavy === null ? [] : [{ code: 'FAR_OVER_BUDGET' as const, detail: `${heavy}.` }]),
    ...(view.review_state === 'approved' ? [] : [{ code: 'NOT_APPROVED' as const, detail: unapproved(view) }]),
    ...(view.domain === null ? [{ code: 'NO_DOMAIN' as const, detail: 'The site has no domain.' }] : unproven(view)),
  ]
}

const unproven = ({ domain, domains }: SiteView): Blocked[] => {
  const chosen = domains.find(({ hostname }) => hostname === domain)
  if (chosen === undefined || chosen.code === null) return []
  const { name, code, next, reason } = chosen
  const said = code === 'DOMAIN_TAKEN' ? name : `${name} is not proven to be yours`
  const why = [said, ...(reason === null ? [] : [reason])].join('; ')
  return [{ code: code as ProblemCode, detail: [`${why}.`, ...(next === null ? [] : [`${next}.`])].join(' ') }]
}

type CertificateStanding = CaLimit & { uses: CertificateUse[] }

const caBlocks = (standing: CertificateStanding | null): (Blocked & Pick<CertificateUse, 'freeAt'>)[] => {
  if (standing === null || standing.perWeek === null) return []
  const { perWeek, uses } = standing
  return uses
    .filter(({ fresh, used }) => fresh > 0 && used + fresh > perWeek)
    .map((use) => ({ code: 'CA_LIMIT', detail: `${caLimitDetail(use, perWeek)}.`, freeAt: use.freeAt }))
}

const isReleased = ({ releases }: SiteView, digest: string): boolean => releases.some((one) => one.digest === digest)

/** What the CA of the host would say to the names that a publish serves; null while no host is chosen. */
const certificatesOf = async (deps: SiteNeeds, view: SiteView): Promise<CertificateStanding | null> => {
  if (view.host === null || view.domain === null) return null
  const served = view.domains.filter(({ served }) => served).map(({ hostname }) => hostname)
  const hostnames = [...new Set([view.domain, ...served])]
  return deps.certificates.use(view.host, hostnames, deps.now())
}

/** What is served already has its certificate. @throws Problem CA_LIMIT */
const refuseBeyondCa = async (deps: SiteNeeds, view: SiteView): Promise<void> => {
  const blocked = caBlocks(await certificatesOf(deps, view))[0]
  if (!blocked) return
  const seconds = blocked.freeAt === null ? null : Math.ceil((Date.parse(blocked.freeAt) - deps.now().getTime()) / 1000)
  const headers = seconds === null ? {} : { 'retry-after': String(Math.max(1, seconds)) }
  throw new Problem(blocked.code, blocked.detail, { headers })
}

/** Bytes that were live before are put back without counting. @throws Problem PUBLISH_QUOTA */
const reservePublish = async (
  deps: SiteNeeds,
  { caller }: ApiRequest,
  { name, view }: ShownSiteRow,
  digest: string,
): Promise<void> => {
  if (isReleased(view, digest)) return
  const now = deps.now()
  const limit = limitOf('publishes_per_day', caller.profile)
  const desired = { site: name, digest, account: caller.account, day: quotaDay(now), limit }
  if ((await deps.sites.takePublish(desired)) !== 'refused') return
  const seconds = Math.max(1, Math.ceil((Date.parse(nextTurn(now)) - now.getTime()) / 1000))
  throw new Problem('PUBLISH_QUOTA', `${publishCapDetail(caller.account, limit, now)}.`, {
    headers: { 'retry-after': String(seconds) },
  })
}

/** It is live by the record: it is looked at on its host now, and what strayed there is put back. */
const lookedAgain = async (deps: SiteNeeds, row: ShownSiteRow): Promise<Answer> => {
  await deps.wake(SITE, row.name)
  return { status: 200, body: { site: row.view } }
}

export const publishSite = async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await sites.find(deps, request)
  const { dry_run: isDryRun } = request.body as { dry_run?: boolean }
  if (row.view.digest === null) refuseStalled(row)
  if (isDryRun) return { status: 200, body: { plan: await planOf(deps, request, row) } }
  const blocked = blockedBy(row.view)[0]
  if (blocked) throw new Problem(blocked.code, blocked.detail)
  const { digest, live_digest: live } = row.view
  if (digest === null)
    throw new Problem('UNAVAILABLE', 'The site is not rendered yet.', { headers: { 'retry-after': '2' } })
  if (live === digest) return lookedAgain(deps, row)
  await refuseBeyondCa(deps, row.view)
  await reservePublish(deps, request, row, digest)
  return bring(deps, request, row, { publish: true, digest }, () => deps.sites.arrive(row.name))
}

export const unpublishSite = async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await sites.find(deps, request)
  return bring(deps, request, row, { publish: false, digest: null })
}

/** The release that is asked for, or the newest. No upload and no place under the cap: it was live before. */
export const republishSite = async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await sites.find(deps, request)
  const { release } = request.body as { release?: number }
  const { releases } = row.view
  const wanted = release === undefined ? releases[0] : releases.find(({ number }) => number === release)
  if (releases.length === 0) throw new Problem('NOT_PUBLISHED', `${row.name} has no release yet.`)
  if (!wanted) throw new Problem('NOT_FOUND', `The site has no release ${release ?? ''}.`)
  if (row.view.live_digest === wanted.digest) return lookedAgain(deps, row)
  await refuseBeyondCa(deps, row.view)
  return bring(deps, request, row, { publish: true, digest: wanted.digest })
}

const manifestOf = async (deps: SiteNeeds, site: string, digest: string | null): Promise<SiteManifest | null> => {
  const rendering = digest === null ? null : await deps.sites.rendering(site, digest)
  const bytes = rendering && (await deps.blobs.get(rendering.manifest))
  return bytes ? (JSON.parse(bytes.toString('utf8')) as SiteManifest) : null
}

/** What a publish would do, and what stands in its way; nothing is changed or counted. */
const planOf = async (deps: SiteNeeds, { caller }: ApiRequest, row: ShownSiteRow) => {
  const { view, name } = row
  const now = deps.now()
  const [before, after] = await Promise.all([
    manifestOf(deps, name, view.live_digest),
    manifestOf(deps, name, view.digest),
  ])
  const files = diffFiles(before?.files ?? [], after?.files ?? [])
  const held = new Set(before?.files.map(({ sha256 }) => sha256))
  const bytes = (after?.files ?? [])
    .filter(({ sha256 }) => !held.has(sha256))
    .reduce((sum, file) => sum + file.bytes, 0)
  const [{ publishes }, ahead, certificates] = await Promise.all([
    deps.sites.used(caller.account, quotaDay(now)),
    deps.sites.waitingBefore(name),
    certificatesOf(deps, view),
  ])
  const limit = limitOf('publishes_per_day', caller.profile)
  const counts = view.digest !== null && !isReleased(view, view.digest)
  const quota: Blocked[] =
    counts && publishes >= limit
      ? [{ code: 'PUBLISH_QUOTA', detail: `${publishCapDetail(caller.account, limit, now)}.` }]
      : []
  const ca = caBlocks(certificates).map(({ code, detail }) => ({ code, detail }))
  const problems = [...blockedBy(view), ...quota, ...ca]
  return {
    ok: problems.length === 0,
    problems,
    digest: view.digest,
    live_digest: view.live_digest,
    unchanged: view.digest === view.live_digest,
    files,
    bytes,
    host: view.host,
    domain: view.domain,
    queue_position: ahead + 1,
    counts,
    quota: { limit, used: publishes, left: Math.max(0, limit - publishes), resets_at: nextTurn(now) },
    certificates: (certificates?.uses ?? []).map(({ root, fresh, used, freeAt }) => ({
      ...{ registered_domain: root, new_names: fresh, used, limit: certificates?.perWeek ?? null, free_at: freeAt },
    })),
  }
}
