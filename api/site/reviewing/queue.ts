/** What waits for a reviewer, over all accounts, and what was decided (rules/site.md#review-desk). */
import { REVIEW_LISTS, type ReviewList } from '../../../controllers/store/site/reviews.ts'
import { named } from '../../../crds/kernel/named.ts'
import { baseOf, roundsOf } from '../../../crds/site/reviewing/rounds.ts'
import type { SiteView } from '../../../crds/site/view.ts'
import { isOwn } from '../../command/own.ts'
import { goTo, pageAnswer } from '../../http/pages.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { pagedAnswer, pageOf, pageQuery, paging } from '../../openapi/paging.ts'
import { flag, list, object, oneOf, text, textOrNull, whole } from '../../openapi/schemas.ts'
import type { Route } from '../../wiring/route.ts'
import type { SiteNeeds } from '../needs.ts'
import { factsOf, type ShownSiteRow, siteRow } from '../read.ts'
import { sectionsChanged } from './compare.ts'
import { type QueuedReview, queuePage } from './queue-view.ts'

const companyOf = ({ content }: SiteView): string => (content.meta as { company_name: string }).company_name

const queued = async (deps: SiteNeeds, request: ApiRequest, row: ShownSiteRow): Promise<QueuedReview[]> => {
  const { view, name, account } = row
  const { review } = view
  if (review === null) return []
  const rounds = roundsOf(await factsOf(deps, row))
  const last = rounds.findLast(({ submission }) => submission.digest === review.digest)
  const before = last ? baseOf(rounds, last.submission, 'approved') : null
  const found = await sectionsChanged(deps, name, { before: before?.digest ?? null, after: review.digest })
  const { decision, decided_by, decided_at, note, digest, submitted_at } = review
  return [
    {
      ...{ site: name, account, company: companyOf(view), domain: view.domain, url: review.url },
      ...{ round: last?.round ?? rounds.length, digest, submitted_at, submitted_by: last?.submission.by ?? null },
      changed: before === null ? null : (found?.sections ?? []),
      warnings: found?.warnings ?? 0,
      opened: (last?.openings ?? []).map(({ by, at }) => ({ by, at })),
      own: isOwn(row, request.caller),
      ...{ decision, decided_by, decided_at, note },
    },
  ]
}

const queueOf = async (deps: SiteNeeds, request: ApiRequest) => {
  const { state = 'open', account = null } = request.query
  const page = pageOf(request)
  const { rows, total } = await deps.reviews.list(state as ReviewList, account, page)
  const reviews = (await Promise.all(rows.map((row) => queued(deps, request, row)))).flat()
  return { state: state as ReviewList, account, page, reviews, total }
}

const listReviews = async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
  const { reviews, total, page } = await queueOf(deps, request)
  return pagedAnswer('reviews', { items: reviews, total }, page)
}

const showQueue = async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
  const queue = await queueOf(deps, request)
  const { email } = request.caller.profile
  return pageAnswer(200, queuePage({ ...queue, email, now: deps.now().toISOString() }))
}

/** From a mail, which holds no link that opens something. */
const toReview = async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
  const { view } = await siteRow(deps, request.params.id ?? '', { because: 'role' })
  return goTo(view.review === null ? '/review' : new URL(view.review.url).pathname)
}

const opening = object('Who opened what was submitted.', { by: text('The account.'), at: text('When.') })
const queuedAnswer = named(
  'QueuedReview',
  object('A submission that waits for a decision, or the newest of a site that was decided on.', {
    site: text('The site.'),
    account: text('Whose it is.'),
    company: text('As the site calls it.'),
    domain: textOrNull('Where it is to be live.'),
    url: text('The page of the review.'),
    round: whole('How often it was submitted, this time included.'),
    digest: text('Names the bytes.'),
    submitted_at: text('Since when it waits.'),
    submitted_by: textOrNull('By whom; null where the resource itself asked for it.'),
    changed: {
      type: ['array', 'null'],
      description: 'Parts of the content that differ from what was approved last; null where nothing was.',
      items: text('One part.'),
    },
    warnings: whole('How many things deserve a look.'),
    opened: list('By whom it was opened.', opening),
    own: flag('It is your own: somebody else decides.'),
    decision: {
      type: ['string', 'null'],
      description: 'Null while it waits.',
      enum: ['approve', 'request_changes', null],
    },
    decided_by: textOrNull('Who decided.'),
    decided_at: textOrNull('When.'),
    note: textOrNull('For the owner.'),
  }),
)

const query = {
  state: oneOf('open, longest waiting first, when left out; decided, newest first.', REVIEW_LISTS),
  account: { type: 'string' as const, description: 'Of this account alone.', maxLength: 253 },
  ...pageQuery,
}
const page = { hidden: true, scope: { kind: 'session' }, role: 'reviewer' } as const

export const queueRoutes: Route<SiteNeeds>[] = [
  {
    method: 'GET',
    path: '/api/website/reviews',
    summary: 'List what waits for review',
    description: 'Over all accounts, for reviewers.',
    tag: 'Websites',
    scope: { kind: 'scope', scope: 'websites:read' },
    role: 'reviewer',
    query,
    answers: {
      200: {
        description: 'One page.',
        schema: object('One page.', { reviews: list('In their order.', queuedAnswer), ...paging }),
      },
    },
    codes: ['INVALID_FIELD', 'UNKNOWN_PARAMETER'],
    handle: listReviews,
  },
]

export const queuePageRoutes: Route<SiteNeeds>[] = [
  { ...page, method: 'GET', path: '/review', summary: 'What waits for review', query, handle: showQueue },
  { ...page, method: 'GET', path: '/review/sites/:id', summary: 'The review of a site', handle: toReview },
]
