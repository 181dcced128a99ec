/** How often a site was visited, as the controllers counted it (rules/site.md#visits): as JSON, and as a page for browsers. */
import { quotaDay } from '../../../crds/account/quotas.ts'
import { named } from '../../../crds/kernel/named.ts'
import {
  metricsOf,
  NAMES_SHOWN,
  SPAN_DAYS,
  SPAN_DAYS_MAX,
  spanOf,
} from '../../../crds/site/publishing/visits/metrics.ts'
import { pageAnswer } from '../../http/pages.ts'
import { Problem } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { list, object, text, whole } from '../../openapi/schemas.ts'
import type { Route } from '../../wiring/route.ts'
import type { SiteNeeds } from '../needs.ts'
import { locationOf, sites } from '../read.ts'
import { metricsPage } from './page.ts'

/** Browsers name HTML, programs do not (RFC 9110 section 12.5.1). */
const wantsPage = ({ headers }: ApiRequest): boolean => /\btext\/html\b/i.test(headers.accept ?? '')

const showMetrics = async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
  const { name, view } = await sites.find(deps, request)
  const span = spanOf(request.query, quotaDay(deps.now()))
  if (span === null) {
    const detail = `from and to are days, YYYY-MM-DD, in this order, and at most ${SPAN_DAYS_MAX} of them.`
    throw new Problem('INVALID_FIELD', detail, { faults: [{ code: 'INVALID_FIELD', pointer: '/from', detail }] })
  }
  const [days, names] = await Promise.all([deps.visits.days(name, span), deps.visits.names(name, span, NAMES_SHOWN)])
  const metrics = metricsOf(span, days, names)
  if (!wantsPage(request)) return { status: 200, body: metrics }
  const meta = view.content.meta as { company_name: string }
  const facts = { email: request.caller.profile.email, name: meta.company_name, url: view.url, metrics }
  return pageAnswer(200, metricsPage({ ...facts, path: `${locationOf(name)}/metrics` }))
}

const counted = (description: string) => ({ ...whole(description), minimum: 0 })
const visits = counted('Pages that were looked at, by anybody but robots.')
const visitors = counted('Who looked, each once on a day.')
const robots = counted('Pages that robots and crawlers looked at.')
const day = (description: string) => ({ ...text(description), format: 'date' })

export const metricsAnswer = named(
  'SiteMetrics',
  object('Visits of a site.', {
    from: day('The first day, in UTC.'),
    to: day('The last day.'),
    visits,
    visitors,
    robots,
    days: list('Each day of them.', object('One day.', { date: day('Which.'), visits, visitors, robots })),
    pages: list('Most looked at first.', object('One page.', { path: text('Without what was asked for.'), visits })),
    referrers: list(
      'Where visitors came from, each visitor once on a day.',
      object('One site.', { host: text('Its hostname.'), visits }),
    ),
    other: object('What has no line of its own.', {
      pages: counted('Of pages.'),
      referrers: counted('Of referrers.'),
    }),
  }),
)

const dayQuery = (description: string) => ({ type: 'string' as const, description, format: 'date', maxLength: 10 })

export const metricsRoutes: Route<SiteNeeds>[] = [
  {
    method: 'GET',
    path: '/api/website/:id/metrics',
    summary: 'Read the visits of a site',
    description: `Counted by the server without cookies and without addresses, at most 30 seconds behind; a page with a chart to who accepts HTML.`,
    tag: 'Websites',
    scope: { kind: 'scope', scope: 'websites:read' },
    query: {
      from: dayQuery(`The first day, in UTC; ${SPAN_DAYS} days before the last when left out.`),
      to: dayQuery('The last day; today when left out.'),
    },
    answers: { 200: { description: 'The visits.', schema: metricsAnswer, orAs: ['text/html'] } },
    codes: ['NOT_FOUND', 'INVALID_FIELD', 'UNKNOWN_PARAMETER'],
    handle: showMetrics,
  },
]
