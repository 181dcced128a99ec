/** Mails about a review: to reviewers that a site waits, to its owner what was decided (rules/site.md#review-desk). */
import type { MailParts } from '../../text/mail.ts'
import { noticeMail, oneLine } from '../../text/notice.ts'
import type { ReviewVerdict } from '../world.ts'
import { TOLD_AFTER_WORKING_DAYS } from './notices.ts'

type About = { to: string; site: string; company: string }
/** What is queued, so that a repeat says the same. No link that opens something by itself: paths alone, behind a session. */
export type ReviewWaitsMail = About & {
  mail: 'review-waits'
  account: string
  stage: number
  since: string
  round: number
}
export type ReviewDecidedMail = About & { mail: 'review-decided'; decision: ReviewVerdict; note: string }

const NAME_MAX = 200
const NOTE_MAX = 4_000
const name = (text: string): string => oneLine(text).slice(0, NAME_MAX)
const minute = (at: string): string => `${at.slice(0, 16).replace('T', ' ')} UTC`

/** Where a reviewer finds a site, and where its owner reads how it stands. */
export const reviewPathOf = (site: string): string => `/review/sites/${encodeURIComponent(site)}`
export const ownReviewPathOf = (site: string): string => `/account/reviews/${encodeURIComponent(site)}`

const roundOf = (round: number): string => (round === 1 ? 'for the first time' : `again (round ${round})`)
const days = (count: number): string => (count === 1 ? '1 working day' : `${count} working days`)

/** Pure: the same notice gives the same mail. @param publicUrl without a slash at its end */
export const reviewWaitsMail = (notice: ReviewWaitsMail, publicUrl: string): MailParts => {
  const company = name(notice.company)
  const waited = TOLD_AFTER_WORKING_DAYS[notice.stage] ?? 0
  const which = `${company} (website ${notice.site} of account ${notice.account}) was submitted ${roundOf(notice.round)} on ${minute(notice.since)}.`
  return noticeMail({
    subject: waited === 0 ? `Waits for review: ${company}` : `Still waits for review: ${company}`,
    lead: [
      waited === 0 ? which : `${which} Nobody has decided on it for ${days(waited)}.`,
      'The page of the review shows what changed since the last approval, every page beside the one before, and takes the decision. It asks you to sign in.',
    ],
    label: 'The review',
    words: 'Look at the review',
    url: `${publicUrl}${reviewPathOf(notice.site)}`,
  })
}

const DECIDED: Record<ReviewVerdict, { subject: string; lead: string; next: string }> = {
  approve: {
    subject: 'Approved',
    lead: 'was approved, exactly as it was submitted',
    next: 'It can be published now, and goes live by itself where that was asked for. Any later change needs a new review.',
  },
  request_changes: {
    subject: 'Changes requested',
    lead: 'was not approved: the reviewer asks for changes',
    next: 'Change what the note says, and submit it again. What is live stays as it is.',
  },
}

/** The same to the owner. */
export const reviewDecidedMail = (notice: ReviewDecidedMail, publicUrl: string): MailParts => {
  const company = name(notice.company)
  const { subject, lead, next } = DECIDED[notice.decision]
  const note = notice.note.slice(0, NOTE_MAX).split(/\n+/).map(oneLine).filter(Boolean)
  return noticeMail({
    subject: `${subject}: ${company}`,
    lead: [
      `Your website ${company} (${notice.site}) ${lead}.`,
      ...(note.length === 0 ? [] : ['The note of the reviewer:', ...note]),
      next,
    ],
    label: 'Your website in review',
    words: 'See the review',
    url: `${publicUrl}${ownReviewPathOf(notice.site)}`,
  })
}
