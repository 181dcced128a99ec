/** The rounds of a review: what was submitted, who opened it, and what was decided, oldest first. */
import type { SiteFacts } from '../facts.ts'
import type { Opening, ReviewDecision, Submission } from '../world.ts'

export type ReviewRound = {
  /** From 1. */
  round: number
  submission: Submission
  decision: ReviewDecision | null
  openings: Opening[]
}
type Reviewed = Pick<SiteFacts, 'submissions' | 'decisions' | 'openings'>

export const roundsOf = ({ submissions, decisions, openings }: Reviewed): ReviewRound[] =>
  submissions.map((submission, index) => ({
    round: index + 1,
    submission,
    decision: decisions.find((one) => one.submission === submission.seq) ?? null,
    openings: openings.filter((one) => one.submission === submission.seq),
  }))

/** What a submission is held against: what was approved last before it, or what was submitted last before it. */
export const BASES = ['approved', 'round'] as const
export type Base = (typeof BASES)[number]

/** @returns the submission whose bytes those are; null where there is none */
export const baseOf = (rounds: readonly ReviewRound[], of: Submission, base: Base): Submission | null => {
  const before = rounds.filter(({ submission }) => submission.seq < of.seq)
  const wasApproved = ({ decision }: ReviewRound) => decision?.decision === 'approve' && decision.seq < of.seq
  const found = base === 'round' ? before.at(-1) : before.findLast(wasApproved)
  return found?.submission ?? null
}
