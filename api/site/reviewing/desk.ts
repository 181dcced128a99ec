/** What the pages of reviewers share: their frame, and marks. */
import { type Html, html, safeUrl } from '../../../crds/text/html.ts'
import { TOKENS_PATH } from '../../page/account.ts'
import { page } from '../../page/page.ts'
import { REVIEW_SHEET } from './review-style.ts'

export const QUEUE_PATH = '/review'

const places = ({ isQueue = false, isReviewer = true }: DeskPage): Html =>
  html`<nav class="places" aria-label="Places">${isReviewer && html`<a href="${QUEUE_PATH}"${isQueue && html` aria-current="page"`}>Reviews</a>`}
<a href="${safeUrl(TOKENS_PATH)}">Your account</a></nav>`

/** `isReviewer`: the queue is for them alone. */
type DeskPage = { title: string; isQueue?: boolean; isReviewer?: boolean; main: Html }

export const deskPage = (facts: DeskPage): string => {
  const { title, main } = facts
  return page({ title: `${title} – Bottega`, sheet: REVIEW_SHEET, layout: 'wide', header: places(facts), main })
}

/** Colour says nothing that its words do not. */
export const mark = (tone: 'new' | 'gone' | 'changed' | 'same', words: string): Html =>
  html`<span class="mark ${tone}">${words}</span>`

export type Tab = { href: string; words: Html | string; isCurrent: boolean }

export const tabs = (label: string, all: readonly Tab[]): Html =>
  html`<nav class="tabs" aria-label="${label}"><span>${label}</span>
${all.map(
  ({ href, words, isCurrent }) => html`<a href="${safeUrl(href)}"${isCurrent && html` aria-current="true"`}>${words}</a>
`,
)}</nav>`

const HOUR_MS = 3_600_000
const DAY_HOURS = 24

/** How long something has waited, in the largest unit that tells it. */
export const waited = (since: string, now: string): string => {
  const hours = Math.floor((Date.parse(now) - Date.parse(since)) / HOUR_MS)
  const days = Math.floor(hours / DAY_HOURS)
  if (days > 0) return days === 1 ? '1 day' : `${days} days`
  if (hours > 0) return hours === 1 ? '1 hour' : `${hours} hours`
  return 'less than an hour'
}
