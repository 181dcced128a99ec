/**
 * The tracked page of a reviewer, `/review/<token>`: behind a session of the role. A GET changes nothing; opening the frozen
 * preview and deciding are posts, recorded with who did it and when.
 */

import type { SiteFacts } from '../../../crds/site/facts.ts'
import { SITE } from '../../../crds/site/kind.ts'
import { openSubmission } from '../../../crds/site/reviewing/review.ts'
import { BASES, baseOf, roundsOf } from '../../../crds/site/reviewing/rounds.ts'
import type { ReviewVerdict, Submission } from '../../../crds/site/world.ts'
import { formOf } from '../../auth/signin/signin-page.ts'
import { isOwn } from '../../command/own.ts'
import { framingAnswer, goTo } from '../../http/pages.ts'
import { Problem } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { oneOf } from '../../openapi/schemas.ts'
import { DEAD_LINK } from '../../page/links.ts'
import { showSheet } from '../../page/sheet.ts'
import type { Route } from '../../wiring/route.ts'
import { provenanceShown } from '../drafting/provenance-view.ts'
import type { SiteNeeds } from '../needs.ts'
import { frozenPreviewPath } from '../preview.ts'
import { recordOf } from '../read.ts'
import { compare, compareWords } from './compare.ts'
import { type LookedAt, WIDTHS } from './pictures.ts'
import { decideOn, recordOpening } from './review.ts'
import { REVIEW_SHEET } from './review-style.ts'
import { NOTE_MAX, reviewPage } from './review-view.ts'

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

const lookedAt = ({ query }: ApiRequest): LookedAt => ({
  page: query.page ?? '/',
  width: WIDTHS.find((width) => String(width) === query.width) ?? null,
  against: BASES.find((base) => base === query.against) ?? 'approved',
})

const showPage = async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
  const { row, facts, linkVersions } = await siteOf(deps, request)
  const last = submissionIn({ facts })
  const rounds = roundsOf(facts)
  const round = rounds.find(({ submission }) => submission.seq === last.seq)
  const looked = lookedAt(request)
  const before = baseOf(rounds, last, looked.against)
  const digests = { before: before?.digest ?? null, after: last.digest }
  const comparison = await compare(deps, row.name, digests)
  if (!round || !comparison) throw new Problem('UNAVAILABLE', 'What was submitted cannot be read just now.')
  const page = comparison.pages.find(({ path }) => path === looked.page) ?? comparison.pages[0]
  if (!page) throw new Problem('UNAVAILABLE', 'What was submitted has no page.')
  const { view } = row
  const { caller, params } = request
  const meta = view.content.meta as { company_name: string }
  const frozen = (digest: string) => frozenPreviewPath(deps, row.name, digest, linkVersions.preview)
  const shown = reviewPage({
    site: { id: row.name, account: row.account, company: meta.company_name, domain: view.domain, url: view.url },
    rounds,
    round,
    looked: { ...looked, page: page.path },
    base: rounds.find(({ submission }) => submission.seq === before?.seq) ?? null,
    comparison,
    page,
    diff: await compareWords(deps, row.name, { ...digests, file: page.file }),
    previews: { before: before && frozen(before.digest), after: frozen(last.digest) },
    provenance: await provenanceShown(deps, row.name, comparison.content),
    isOwn: isOwn(row, caller),
    formToken: deps.keys.formToken(caller.by.id),
    path: `/review/${params.token}`,
  })
  return framingAnswer(200, shown)
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
const query = {
  page: { type: 'string' as const, description: 'Path of the page that is looked at.', maxLength: 500 },
  width: oneOf('One width alone.', WIDTHS.map(String)),
  against: oneOf('What it is held against.', BASES),
}

export const reviewPageRoutes: Route<SiteNeeds>[] = [
  {
    hidden: true,
    method: 'GET',
    path: REVIEW_SHEET.path,
    scope: { kind: 'public', limit: 'file' },
    summary: 'Style of the review page',
    handle: showSheet(REVIEW_SHEET),
  },
  { ...own, method: 'GET', path: '/review/:token', summary: 'Review a site', query, handle: showPage },
  { ...own, method: 'POST', path: '/review/:token/open', summary: 'Open what was submitted', handle: openPreview },
  { ...own, method: 'POST', path: '/review/:token', summary: 'Decide on a site', handle: decide },
]
