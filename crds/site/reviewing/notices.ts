/**
 * When reviewers are told of a submission: at once, and again while it waits. Each is told once, by a fact; of several that are due
 * the last alone is told (rules/site.md#review-desk).
 */
import type { DueNotice, ReviewNotice, SiteWorld } from '../world.ts'
import { openSubmission } from './review.ts'

/** After how many working days, Monday to Friday in UTC. The first notice is of the submission itself. */
export const TOLD_AFTER_WORKING_DAYS = [0, 1, 3] as const
/** Mails of one notice; more reviewers than these look at the queue. */
export const REVIEWERS_TOLD_MAX = 50

const DAY_MS = 86_400_000

const isWorkingDay = (atMs: number): boolean => ![0, 6].includes(new Date(atMs).getUTCDay())

/** The same time of day, so many working days later. */
const afterWorkingDays = (since: string, days: number): number => {
  let atMs = Date.parse(since)
  for (let left = days; left > 0; ) {
    atMs += DAY_MS
    if (isWorkingDay(atMs)) left--
  }
  return atMs
}

/** The stage that has come, for what waits since then. */
export const stageAt = (since: string, now: Date): number =>
  TOLD_AFTER_WORKING_DAYS.findLastIndex((days) => afterWorkingDays(since, days) <= now.getTime())

/** What reviewers are to be told of now; null when they know, or nothing waits. */
export const dueNotice = (
  facts: Pick<SiteWorld, 'submissions' | 'decisions'> & { notices: readonly ReviewNotice[] },
  now: Date,
): DueNotice | null => {
  const open = openSubmission(facts)
  if (!open) return null
  const told = facts.notices.filter(({ submission }) => submission === open.seq).map(({ stage }) => stage)
  const stage = stageAt(open.at, now)
  return stage > Math.max(-1, ...told) ? { submission: open.seq, stage, since: open.at } : null
}
