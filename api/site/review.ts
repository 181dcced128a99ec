/** Submitting for review and deciding: facts that the controllers' plan accepts or refuses (rules/site.md#review). */
import type { NewFact } from '../../controllers/store/ledger/facts.ts'
import { isProblemCode } from '../../crds/kernel/problem.ts'
import { decisionKey, openingKey, submitKey } from '../../crds/site/facts.ts'
import { SITE } from '../../crds/site/kind.ts'
import { openSubmission } from '../../crds/site/review.ts'
import type { ReviewVerdict, Submission } from '../../crds/site/world.ts'
import { sameOwner } from '../command/own.ts'
import { afterStored, wakeStored } from '../command/report.ts'
import { accepted, refuseStalled, wantsAsync } from '../command/verdict.ts'
import type { Watched } from '../command/wait.ts'
import { Problem } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import type { Deps } from '../wiring/deps.ts'
import { factsOf, locationOf, ownSite, type ShownSiteRow, siteRow } from './read.ts'

type Asked = Pick<NewFact, 'key' | 'kind' | 'body'>

/** @returns the site once it has taken the fact in; null when the time was up @throws Problem as the plan refused */
const verdictOn = async (deps: Deps, watched: Watched, name: string, seq: number): Promise<ShownSiteRow | null> => {
  const found = await watched.until((now) => now === undefined || (now as ShownSiteRow).view.fact_seq >= seq)
  if (!found?.row) return null
  const decided = (await deps.ledger.observe(name)).facts.find((one) => one.seq === seq)
  const code = decided?.refusedCode ?? null
  if (code !== null)
    throw new Problem(isProblemCode(code) ? code : 'INTERNAL', 'The site was not as this expected it to be.')
  return found.row as ShownSiteRow
}

/** Appends what was asked, waits for the verdict, and answers with the site as it is then. @throws Problem as the plan refused */
const ask = async (
  deps: Deps,
  request: ApiRequest,
  row: ShownSiteRow,
  asked: Asked,
): Promise<ShownSiteRow | Answer> => {
  const { name } = row
  const watched = deps.waiter.watch(SITE.kind, name, sameOwner(row))
  try {
    const { fact } = await deps.appendFact({
      ...asked,
      resource: name,
      resourceKind: SITE.kind,
      state: 'pending',
      at: deps.now().toISOString(),
    })
    await wakeStored(deps, SITE, name)
    const pending = accepted(locationOf(name), { site: row.view })
    if (wantsAsync(request)) return pending
    return (await afterStored(verdictOn(deps, watched, name, fact.seq))) ?? pending
  } finally {
    watched.leave()
  }
}

const siteAnswer = (result: ShownSiteRow | Answer): Answer =>
  'view' in result ? { status: 200, body: { site: result.view } } : result

export const submitReview = async (deps: Deps, request: ApiRequest): Promise<Answer> => {
  const row = await ownSite(deps, request)
  const { digest, review_state: state } = row.view
  if (digest === null) {
    refuseStalled(row)
    throw new Problem('UNAVAILABLE', 'The site is not rendered yet.', { headers: { 'retry-after': '2' } })
  }
  if (state === 'in_review' || state === 'approved') return { status: 200, body: { site: row.view } }
  const { decisions } = await factsOf(deps, row)
  const body = { digest, by: request.caller.account }
  const key = submitKey(row.uid, decisions.length, digest)
  return siteAnswer(await ask(deps, request, row, { key, kind: 'submit', body }))
}

/** Nobody decides on their own; a reviewer's second word on the same submission is the first one, or refused. */
const refuseReviewer = ({ caller }: ApiRequest, row: ShownSiteRow): void => {
  if (caller.account === row.account) {
    throw new Problem('SELF_APPROVAL', `${row.name} belongs to ${caller.account}, who wants to decide on it.`)
  }
}

export type GivenDecision = { decision: ReviewVerdict; note: string; digest?: string | undefined }

const decidedAlready = async (deps: Deps, row: ShownSiteRow, by: string, asked: GivenDecision): Promise<Answer> => {
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
  deps: Deps,
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
  return siteAnswer(await ask(deps, request, row, { key: decisionKey(row.uid, open.seq), kind: 'decision', body }))
}

export const decideSite = async (deps: Deps, request: ApiRequest): Promise<Answer> => {
  const row = await siteRow(deps, request.params.id ?? '', { because: 'role' })
  const { decision, note = '' } = request.body as { decision: ReviewVerdict; note?: string }
  return decideOn(deps, request, row, { decision, note })
}

/** Somebody opened what was submitted: recorded once for each who did. */
export const recordOpening = async (
  deps: Deps,
  row: ShownSiteRow,
  submission: Submission,
  by: string,
): Promise<void> => {
  const key = openingKey(row.uid, submission.seq, by)
  const body = { submission: submission.seq, by }
  const fact = { resource: row.name, resourceKind: SITE.kind, key, kind: 'opened', body, state: 'accepted' as const }
  await deps.appendFact({ ...fact, at: deps.now().toISOString() })
}
