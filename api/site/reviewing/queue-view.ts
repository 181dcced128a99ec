/** The queue of reviewers as a page: what waits, longest first, or what was decided. */
import type { Page } from '../../../controllers/store/pg/page.ts'
import { REVIEW_LISTS, type ReviewList } from '../../../controllers/store/site/reviews.ts'
import { type Html, html, safeUrl } from '../../../crds/text/html.ts'
import { accountHeader } from '../../page/account.ts'
import { fact, instant } from '../../page/facts.ts'
import { button, form, hiddenField, inputField } from '../../page/form.ts'
import { deskPage, mark, QUEUE_PATH, tabs, waited } from './desk.ts'

/** One line of the queue. */
export type QueuedReview = {
  site: string
  account: string
  company: string
  domain: string | null
  /** The page of the review. */
  url: string
  round: number
  digest: string
  submitted_at: string
  submitted_by: string | null
  /** Parts of the content that differ from what was approved last; null where nothing was. */
  changed: string[] | null
  warnings: number
  opened: { by: string; at: string }[]
  /** The reviewer's own, on which somebody else decides. */
  own: boolean
  decision: 'approve' | 'request_changes' | null
  decided_by: string | null
  decided_at: string | null
  note: string | null
}

export type QueueFacts = {
  email: string
  now: string
  state: ReviewList
  /** Only this one's; null for all. */
  account: string | null
  reviews: readonly QueuedReview[]
  total: number
  page: Page
}

const WORDS: Record<ReviewList, string> = { open: 'Waiting', decided: 'Decided' }

const addressOf = ({ state, account, page }: Pick<QueueFacts, 'state' | 'account' | 'page'>): string => {
  const query = new URLSearchParams({
    ...(state !== 'open' && { state }),
    ...(account !== null && { account }),
    ...(page.offset > 0 && { offset: String(page.offset) }),
  })
  return `${QUEUE_PATH}${query.size > 0 ? `?${query}` : ''}`
}

const changed = ({ changed: parts }: QueuedReview): Html => {
  if (parts === null) return html`${mark('new', 'first approval')} nothing of this site was approved before`
  if (parts.length === 0) return html`no words or pictures changed; its look or its address did`
  return html`${parts.join(', ').replaceAll('_', ' ')}`
}

const opened = ({ opened: all }: QueuedReview): Html =>
  all.length === 0 ? html`nobody yet` : html`${all.map(({ by }) => by).join(', ')}`

const decided = ({ decision, decided_by: by, decided_at: at, note }: QueuedReview): Html | null =>
  decision === null || at === null
    ? null
    : html`<p>${decision === 'approve' ? mark('new', 'approved') : mark('changed', 'changes requested')} by ${by ?? ''} on ${instant(at)}</p>
${note !== null && note !== '' && html`<p class="said">${note}</p>`}`

const item = (review: QueuedReview, now: string): Html => html`<li>
<h3><a href="${safeUrl(new URL(review.url).pathname)}">${review.company}</a> ${review.own && mark('same', 'your own')}</h3>
${decided(review)}
<dl class="facts">
${fact('Account', review.account)}
${fact('Submitted', html`${instant(review.submitted_at)}${review.decision === null && html`, waits ${waited(review.submitted_at, now)}`}`)}
${fact('Round', String(review.round))}
${fact('What changed', changed(review))}
${fact('Deserves a look', review.warnings === 0 ? 'nothing found' : `${review.warnings} warnings`)}
${fact('Opened by', opened(review))}
${fact('Domain', review.domain ?? 'not chosen yet')}
</dl>
</li>`

const empty = ({ state, account }: QueueFacts): Html => {
  const whose = account === null ? '' : ` of ${account}`
  return state === 'open'
    ? html`<p>Nothing${whose} waits for a decision. When a site is submitted it appears here, and reviewers are told by mail.</p>`
    : html`<p>Nothing${whose} was decided yet.</p>`
}

const pages = (facts: QueueFacts): Html | null => {
  const { page, total, reviews } = facts
  const at = (offset: number) => addressOf({ ...facts, page: { ...page, offset } })
  const [before, after] = [page.offset - page.limit, page.offset + page.limit]
  if (total <= reviews.length) return null
  return html`<nav class="row" aria-label="Pages of the list">
${page.offset > 0 && html`<a rel="prev" href="${safeUrl(at(Math.max(0, before)))}">Page before</a>`}
<span>${reviews.length === 0 ? 'none' : `${page.offset + 1} to ${page.offset + reviews.length}`} of ${total}</span>
${after < total && html`<a rel="next" href="${safeUrl(at(after))}">Next page</a>`}</nav>`
}

export const queuePage = (facts: QueueFacts): string => {
  const { email, state, account, reviews, now } = facts
  const first = { limit: facts.page.limit, offset: 0 }
  const title = 'Reviews'
  const filter = form({ method: 'get', action: QUEUE_PATH, className: 'filter' }, [
    html`${state !== 'open' && hiddenField('state', state)}`,
    inputField({
      id: 'account',
      label: 'Account',
      value: account ?? '',
      autocomplete: 'off',
      isOptional: true,
      isVerbatim: true,
    }),
    button({ words: 'Show', tone: 'plain' }),
    html`${account !== null && html`<a href="${safeUrl(addressOf({ state, account: null, page: first }))}">All accounts</a>`}`,
  ])
  return deskPage({
    title,
    isQueue: true,
    main: html`${accountHeader(title, email, html``)}
${tabs(
  'Show',
  REVIEW_LISTS.map((one) => ({
    href: addressOf({ state: one, account, page: first }),
    words: WORDS[one],
    isCurrent: one === state,
  })),
)}
${filter}
${reviews.length === 0 ? empty(facts) : html`<ul class="queue">${reviews.map((one) => item(one, now))}</ul>`}
${pages(facts)}`,
  })
}
