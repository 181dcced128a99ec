/**
 * The tracked page of a reviewer, `/review/<token>`: behind a session of the role. A GET changes nothing; opening the frozen
 * preview and deciding are posts, recorded with who did it and when.
 */

import type { SiteFacts } from '../../../crds/site/facts.ts'
import { SITE } from '../../../crds/site/kind.ts'
import { changedSections, diffFiles, type SiteManifest } from '../../../crds/site/publishing/manifest.ts'
import { approvedBefore, openSubmission } from '../../../crds/site/review.ts'
import type { ReviewVerdict, Submission } from '../../../crds/site/world.ts'
import { formOf } from '../../auth/signin/signin-page.ts'
import { isOwn } from '../../command/own.ts'
import { goTo, pageAnswer } from '../../http/pages.ts'
import { Problem } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { DEAD_LINK } from '../../page/links.ts'
import { showSheet } from '../../page/sheet.ts'
import type { Route } from '../../wiring/route.ts'
import { provenanceShown } from '../drafting/provenance-view.ts'
import type { SiteNeeds } from '../needs.ts'
import { frozenPreviewPath } from '../preview.ts'
import { recordOf } from '../read.ts'
import { decideOn, recordOpening } from '../review.ts'
import { REVIEW_SHEET } from './review-style.ts'
import { NOTE_MAX, type ReviewFacts, reviewPage } from './review-view.ts'

/** Dead is dead: a link that was never made, one that was ended and one whose site is gone look the same. */
const siteOf = async (deps: SiteNeeds, { params }: ApiRequest) => {
  const asked = deps.keys.nameOfCapability('review', params.token ?? '')
  const row = asked === null ? undefined : await deps.mirror.get(SITE, asked.name, { because: 'role' })
  const record = row && (await recordOf(deps, row))
  if (!row || !record || asked?.version !== record.linkVersions.review) throw new Problem('NOT_FOUND', DEAD_LINK)
  return { row, ...record }
}

const submissionIn = ({ facts }: { facts: SiteFacts }): Submission => {
  const last = openSubmission(facts) ?? facts.submissions.at(-1)
  if (!last) throw new Problem('NOT_FOUND', 'The site was not submitted yet.')
  return last
}

const manifestOf = async (deps: SiteNeeds, site: string, digest: string) => {
  const rendering = await deps.sites.rendering(site, digest)
  const bytes = rendering && (await deps.blobs.get(rendering.manifest))
  return bytes ? { rendering, manifest: JSON.parse(bytes.toString('utf8')) as SiteManifest } : null
}

/** What differs between the submission and what was approved before it. */
const differences = async (deps: SiteNeeds, site: string, last: Submission, before: { digest: string } | null) => {
  const [now, then] = await Promise.all([
    manifestOf(deps, site, last.digest),
    before === null ? null : manifestOf(deps, site, before.digest),
  ])
  return {
    warnings: now?.rendering.warnings ?? [],
    diff: now && then ? diffFiles(then.manifest.files, now.manifest.files) : null,
    sections: now ? changedSections(then?.manifest.content ?? null, now.manifest.content) : [],
    provenance: now && (await provenanceShown(deps, site, now.manifest.content)),
  }
}

const showPage = async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
  const { row, facts } = await siteOf(deps, request)
  const last = submissionIn({ facts })
  const { view } = row
  const { caller, params } = request
  const meta = view.content.meta as { company_name: string }
  const shown: ReviewFacts = {
    site: { id: row.name, account: row.account, company: meta.company_name, domain: view.domain, url: view.url },
    submission: last,
    decision: facts.decisions.find(({ submission }) => submission === last.seq) ?? null,
    openings: facts.openings.filter(({ submission }) => submission === last.seq),
    ...(await differences(deps, row.name, last, approvedBefore(facts, last))),
    isOwn: isOwn(row, caller),
    formToken: deps.keys.formToken(caller.by.id),
    path: `/review/${params.token}`,
  }
  return pageAnswer(200, reviewPage(shown))
}

/** Records who opened what, and leads to exactly those bytes. */
const openPreview = async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
  const { row, facts, linkVersions } = await siteOf(deps, request)
  const last = submissionIn({ facts })
  await recordOpening(deps, row, last, request.caller.account)
  return goTo(frozenPreviewPath(deps, row.name, last.digest, linkVersions.preview))
}

const isVerdict = (word: string): word is ReviewVerdict => word === 'approve' || word === 'request_changes'

const decide = async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
  const { row } = await siteOf(deps, request)
  const form = formOf(request)
  const decision = form.get('decision') ?? ''
  const note = (form.get('note') ?? '').replaceAll('\r\n', '\n').slice(0, NOTE_MAX)
  if (!isVerdict(decision)) throw new Problem('INVALID_FIELD', 'Choose one of the two decisions.')
  await decideOn(deps, request, row, { decision, note, digest: form.get('digest') ?? undefined })
  return goTo(`/review/${request.params.token}`)
}

const own = { hidden: true, scope: { kind: 'session' }, role: 'reviewer' } as const

export const reviewPageRoutes: Route<SiteNeeds>[] = [
  {
    hidden: true,
    method: 'GET',
    path: REVIEW_SHEET.path,
    scope: { kind: 'public' },
    summary: 'Style of the review page',
    handle: showSheet(REVIEW_SHEET),
  },
  { ...own, method: 'GET', path: '/review/:token', summary: 'Review a site', handle: showPage },
  { ...own, method: 'POST', path: '/review/:token/open', summary: 'Open what was submitted', handle: openPreview },
  { ...own, method: 'POST', path: '/review/:token', summary: 'Decide on a site', handle: decide },
]
