/**
 * How bytes stand in review. An approval binds a digest, and with it the same site under another hostname: a rendering
 * whose bytes without any hostname are those that were approved differs from them in nothing but its own addresses
 * (canonical links, Open Graph, sitemap), which is checked by rendering it both ways. Everything else asks for a new approval
 * (rules/site.md#approval; hack/decisions/012).
 */
import type { Bytes, ReviewDecision, SiteWorld, Submission } from '../world.ts'

export type ReviewState = 'draft' | 'in_review' | 'changes_requested' | 'approved'
type Reviewed = Pick<SiteWorld, 'submissions' | 'decisions'>

const isSame = (a: Bytes, b: Bytes): boolean => a.digest === b.digest || a.neutral === b.neutral

const decisionOn = ({ decisions }: Reviewed, { seq }: Submission): ReviewDecision | undefined =>
  decisions.find(({ submission }) => submission === seq)

/** The newest submission that nobody has decided on, if it is the newest of all. */
export const openSubmission = (world: Reviewed): Submission | null => {
  const last = world.submissions.at(-1)
  return last && !decisionOn(world, last) ? last : null
}

/** The last decision that was made on these bytes, whatever was submitted since. */
export const lastDecision = (world: Reviewed, bytes: Bytes): ReviewDecision | null => {
  const own = world.submissions.filter((submission) => isSame(submission, bytes)).map(({ seq }) => seq)
  return world.decisions.findLast(({ submission }) => own.includes(submission)) ?? null
}

/** The last decision that approved these bytes; null when there is none. */
export const approvalOf = (world: Reviewed, bytes: Bytes): ReviewDecision | null => {
  const own = world.submissions.filter((submission) => isSame(submission, bytes)).map(({ seq }) => seq)
  return (
    world.decisions.findLast(({ submission, decision }) => decision === 'approve' && own.includes(submission)) ?? null
  )
}

export const isApproved = (world: Reviewed, bytes: Bytes): boolean => lastDecision(world, bytes)?.decision === 'approve'

export const reviewOf = (world: Reviewed, bytes: Bytes): ReviewState => {
  if (isApproved(world, bytes)) return 'approved'
  const submission = world.submissions.findLast((one) => isSame(one, bytes))
  if (!submission) return 'draft'
  return decisionOn(world, submission) ? 'changes_requested' : 'in_review'
}
