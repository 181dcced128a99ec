/** How a site stands in review, for its owner and for reviewers: its rounds, and how the newest submission differs. */
import { named } from '../../../crds/kernel/named.ts'
import { BASES, baseOf, type ReviewRound, roundsOf } from '../../../crds/site/reviewing/rounds.ts'
import { html } from '../../../crds/text/html.ts'
import { isOwn } from '../../command/own.ts'
import { decidesOnSites } from '../../http/caller.ts'
import { pageAnswer } from '../../http/pages.ts'
import { Problem } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { list, object, oneOf, text, textOrNull, whole } from '../../openapi/schemas.ts'
import { accountHeader } from '../../page/account.ts'
import { fact } from '../../page/facts.ts'
import type { Route } from '../../wiring/route.ts'
import type { SiteNeeds } from '../needs.ts'
import { factsOf, type ShownSiteRow, siteRow, sites } from '../read.ts'
import { type Comparison, compare, compareWords } from './compare.ts'
import { deskPage } from './desk.ts'
import { roundList } from './review-view.ts'

/** The owner's, and for reviewers everybody's. @throws Problem NOT_FOUND, to whom it is not shown */
const shownTo = (deps: SiteNeeds, request: ApiRequest): Promise<ShownSiteRow> =>
  decidesOnSites(request.caller)
    ? siteRow(deps, request.params.id ?? '', { because: 'role' })
    : sites.find(deps, request)

const roundView = ({ round, submission, decision, openings }: ReviewRound) => ({
  ...{ round, digest: submission.digest, submitted_at: submission.at, submitted_by: submission.by },
  opened: openings.map(({ by, at }) => ({ by, at })),
  decision: decision?.decision ?? null,
  decided_by: decision?.by ?? null,
  decided_at: decision?.at ?? null,
  note: decision?.note ?? null,
})

const changesView = ({ changes }: Comparison) => {
  const links = ({ items, left }: Comparison['changes']['links']) => ({
    items: items.map(({ is, url, host, isHost, pages, words }) => ({ is, url, host, new_host: isHost, pages, words })),
    left,
  })
  const { prices, contacts, heads } = changes
  return { loads: links(changes.loads), links: links(changes.links), prices, contacts, heads }
}

const showReview = async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await shownTo(deps, request)
  const rounds = roundsOf(await factsOf(deps, row))
  const last = rounds.at(-1)?.submission
  if (!last) throw new Problem('NOT_SUBMITTED', `${row.name} was not submitted.`)
  const { against = 'approved', page = '/' } = request.query
  const before = baseOf(rounds, last, BASES.find((base) => base === against) ?? 'approved')
  const digests = { before: before?.digest ?? null, after: last.digest }
  const found = await compare(deps, row.name, digests)
  if (!found) throw new Problem('UNAVAILABLE', 'What was submitted cannot be read just now.')
  const shown = found.pages.find(({ path }) => path === page)
  if (!shown) throw new Problem('NOT_FOUND', `The site has no page ${page}.`)
  const { lines, isWhole } = await compareWords(deps, row.name, { ...digests, file: shown.file })
  const review = {
    ...{ site: row.name, against, base: before?.digest ?? null, digest: last.digest },
    rounds: rounds.map(roundView).toReversed(),
    pages: found.pages.map(({ path, state }) => ({ path, state })),
    sections: found.sections,
    changes: changesView(found),
    warnings: found.warnings,
    words: { page: shown.path, compared: !isWhole, lines },
    cut: found.isCut,
  }
  return { status: 200, body: { review } }
}

/** Where the mail of a decision leads. */
const showOwn = async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await sites.find(deps, request)
  const { view } = row
  const rounds = roundsOf(await factsOf(deps, row))
  const title = `${(view.content.meta as { company_name: string }).company_name} in review`
  return pageAnswer(
    200,
    deskPage({
      title,
      isReviewer: decidesOnSites(request.caller) && !isOwn(row, request.caller),
      main: html`${accountHeader(title, request.caller.profile.email, html``)}
<dl class="facts">${fact('Site', row.name)}${fact('Stands', view.status.replaceAll('_', ' '))}${fact('An edit', view.pending_status?.replaceAll('_', ' ') ?? 'none waits')}${fact('Live at', view.url ?? 'not live')}</dl>
<section aria-labelledby="rounds-title"><h2 id="rounds-title">Rounds</h2>
${rounds.length === 0 ? html`<p>It was not submitted yet.</p>` : roundList(rounds)}</section>`,
    }),
  )
}

const decision = {
  type: ['string', 'null'],
  description: 'Null while it waits.',
  enum: ['approve', 'request_changes', null],
}
const roundAnswer = object('One submission.', {
  round: whole('From 1.'),
  digest: text('Names the bytes.'),
  submitted_at: text('When.'),
  submitted_by: textOrNull('By whom; null where the resource itself asked for it.'),
  opened: list('By whom it was opened.', object('Once for each.', { by: text('The account.'), at: text('When.') })),
  decision,
  decided_by: textOrNull('Who decided.'),
  decided_at: textOrNull('When.'),
  note: textOrNull('For the owner.'),
})
const left = whole('How many more there are.')
const valuesAnswer = named(
  'SiteValueChanges',
  object('Values that differ.', {
    items: list(
      'What differs.',
      object('One value.', {
        what: text('Of what.'),
        before: textOrNull('Null where there was none.'),
        after: textOrNull('Null where there is none any more.'),
      }),
    ),
    left,
  }),
)
const linksAnswer = named(
  'SiteLinkChanges',
  object('Addresses that came or went.', {
    items: list(
      'New first.',
      object('One address.', {
        is: oneOf('Whether it came or went.', ['new', 'gone']),
        url: text('Where it leads.'),
        host: text('The host; mailto: and tel: for themselves.'),
        new_host: { type: 'boolean', description: 'Nothing of the site led to that host before, or does any more.' },
        pages: list('On which pages.', text('A path.')),
        words: text('What stands on it.'),
      }),
    ),
    left,
  }),
)
const line = {
  type: 'object',
  description: 'A line by itself (text), one that changed in words (pieces), or so many that stay as they are (count).',
  properties: {
    is: oneOf('What became of it.', ['same', 'gone', 'new', 'changed', 'left']),
    text: text('The line.'),
    pieces: list(
      'Its words.',
      object('Some words.', { is: oneOf('What became of them.', ['same', 'gone', 'new']), text: text('The words.') }),
    ),
    count: whole('How many.'),
  },
}

const reviewAnswer = named(
  'SiteReviewDetail',
  object('How the newest submission of a site stands, and how it differs.', {
    site: text('The site.'),
    against: oneOf('What it is held against.', BASES),
    base: textOrNull('The digest of that; null where there is nothing.'),
    digest: text('Names what was submitted last.'),
    rounds: list('Newest first.', roundAnswer),
    pages: list(
      'Of both.',
      object('A page.', {
        path: text('As visitors know it.'),
        state: oneOf('How it differs.', ['same', 'changed', 'new', 'gone']),
      }),
    ),
    sections: list('Parts of the content that differ.', text('One part.')),
    changes: object(
      'What must not be overlooked. loads: what a browser asks of others without a click; heads: titles, descriptions, and data for machines.',
      {
        loads: linksAnswer,
        links: linksAnswer,
        prices: valuesAnswer,
        contacts: valuesAnswer,
        heads: valuesAnswer,
      },
    ),
    warnings: list(
      'What deserves a look.',
      object('A finding.', {
        code: text('What it is.'),
        pointer: text('Where in the content.'),
        detail: text('The finding.'),
        page: textOrNull('The file of the page; null where it stands on none alone.'),
      }),
    ),
    words: object('The words of one page.', {
      page: text('Its path.'),
      compared: { type: 'boolean', description: 'False where the two have too little in common.' },
      lines: list('In their order.', line),
    }),
    cut: { type: 'boolean', description: 'The site is so long that not all of it was read.' },
  }),
)

export const historyRoutes: Route<SiteNeeds>[] = [
  {
    method: 'GET',
    path: '/api/website/:id/review',
    summary: 'Read how a submission differs',
    description:
      'The rounds of a site, and its newest submission against what was approved before, or against the round before: pages, words of one page, links, prices, contacts. For the owner and for reviewers.',
    tag: 'Websites',
    scope: { kind: 'scope', scope: 'websites:read' },
    query: {
      against: oneOf('The last approval when left out.', BASES),
      page: { ...text('Whose words are compared; the first page when left out.'), maxLength: 500 },
    },
    answers: { 200: { description: 'It.', schema: object('It.', { review: reviewAnswer }) } },
    codes: ['NOT_FOUND', 'NOT_SUBMITTED', 'INVALID_FIELD', 'UNKNOWN_PARAMETER'],
    handle: showReview,
  },
]

export const ownReviewRoutes: Route<SiteNeeds>[] = [
  {
    hidden: true,
    scope: { kind: 'session' },
    method: 'GET',
    path: '/account/reviews/:id',
    summary: 'Your site in review',
    handle: showOwn,
  },
]
