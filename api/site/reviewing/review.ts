/** Submitting for review and deciding: facts that the controllers' plan accepts or refuses (rules/site.md#review). */
import type { NewFact } from '../../../controllers/store/ledger/facts.ts'
import { aheadKey, decisionKey, openingKey, submitKey } from '../../../crds/site/facts.ts'
import { SITE } from '../../../crds/site/kind.ts'
import { openSubmission } from '../../../crds/site/reviewing/review.ts'
import type { ReviewVerdict, Submission } from '../../../crds/site/world.ts'
import { isOwn } from '../../command/own.ts'
import { append } from '../../command/report.ts'
import { settle } from '../../command/settle.ts'
import { refuseStalled } from '../../command/verdict.ts'
import { Problem } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { reviewCommand, shownDigest } from '../commands.ts'
import type { SiteNeeds } from '../needs.ts'
import { factsOf, locationOf, originOfSite, type ShownSiteRow, siteRow, sites } from '../read.ts'

type ReviewFact = Pick<NewFact, 'key' | 'kind' | 'body'>

/** Appends what was asked, waits for the verdict, and answers with the site as it is then. @throws Problem as the plan refused */
const ask = (deps: SiteNeeds, request: ApiRequest, row: ShownSiteRow, fact: ReviewFact): Promise<Answer> =>
  settle(deps, request, reviewCommand, {
    ...sites.commandOn(row),
    act: () => append(deps, { kind: SITE, name: row.name, fact }),
  })

export const submitReview = async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await sites.find(deps, request)
  const { digest, review_state: state } = row.view
  const shown = shownDigest(row.view)
  if (digest === null) refuseStalled(row)
  if (shown === null) {
    throw new Problem('UNAVAILABLE', 'The site is not rendered yet.', { headers: { 'retry-after': '2' } })
  }
  if (state === 'in_review' || state === 'approved') return { status: 200, body: { site: row.view } }
  const { decisions } = await factsOf(deps, row)
  const round = decisions.length
  const origin = await originOfSite(deps, row)
  const body = { digest: shown, by: request.caller.account }
  // while pictures are under way it takes effect with the last of them
  if (digest === null) return ask(deps, request, row, { key: aheadKey(origin, round, shown), kind: 'ahead', body })
  return ask(deps, request, row, { key: submitKey(origin, round, digest), kind: 'submit', body })
}

/** Nobody decides on their own; a reviewer's second word on the same submission is the first one, or refused. */
const refuseReviewer = ({ caller }: ApiRequest, row: ShownSiteRow): void => {
  if (isOwn(row, caller)) {
    throw new Problem('SELF_APPROVAL', `${row.name} belongs to ${caller.account}, who wants to decide on it.`)
  }
}

export type GivenDecision = { decision: ReviewVerdict; note: string; digest?: string | undefined }

const decidedAlready = async (
  deps: SiteNeeds,
  row: ShownSiteRow,
  by: string,
  asked: GivenDecision,
): Promise<Answer> => {
  const { submissions, decisions } = await factsOf(deps, row)
  const last = submissions.at(-1)
  const decision = decisions.find(({ submission }) => submission === last?.seq)
  if (!last || !decision) throw new Problem('NOT_SUBMITTED', `${row.name} was not submitted.`)
  const isSame = decision.by === by && decision.decision === asked.decision && decision.note === asked.note
  if (isSame) return { status: 200, body: { site: row.view } }
  throw new Problem('ALREADY_DECIDED', `${decision.by} decided on it: ${decision.decision}.`)
}

/** Records a decision on the newest submission. `digest`, where given, is what the reviewer looked at. */
export const decideOn = async (
  deps: SiteNeeds,
  request: ApiRequest,
  row: ShownSiteRow,
  asked: GivenDecision,
): Promise<Answer> => {
  refuseReviewer(request, row)
  if (request.audited) Object.assign(request.audited, { account: row.account, resource: locationOf(row.name) })
  const by = request.caller.account
  const open = openSubmission(await factsOf(deps, row))
  if (!open) return decidedAlready(deps, row, by, asked)
  if (asked.digest !== undefined && asked.digest !== open.digest) {
    throw new Problem('CHANGED_SINCE', 'Something else has been submitted since the page was opened.')
  }
  const { decision, note } = asked
  const body = { submission: open.seq, digest: open.digest, decision, note, by }
  return ask(deps, request, row, { key: decisionKey(await originOfSite(deps, row), open.seq), kind: 'decision', body })
}

export const decideSite = async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await siteRow(deps, request.params.id ?? '', { because: 'role' })
  const { decision, note = '' } = request.body as { decision: ReviewVerdict; note?: string }
  return decideOn(deps, request, row, { decision, note })
}

/** Somebody opened what was submitted: recorded once for each who did. */
export const recordOpening = async (
  deps: SiteNeeds,
  row: ShownSiteRow,
  submission: Submission,
  by: string,
): Promise<void> => {
  const key = openingKey(await originOfSite(deps, row), submission.seq, by)
  const body = { submission: submission.seq, by }
  const fact = { resource: row.name, resourceKind: SITE.kind, key, kind: 'opened', body, state: 'accepted' as const }
  await deps.appendFact({ ...fact, at: deps.now().toISOString() })
}
