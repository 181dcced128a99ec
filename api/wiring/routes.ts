/** Routes about the service itself: its description, and a page for each code that it refuses with. */

import { isProblemCode, PROBLEMS } from '../../crds/kernel/problem.ts'
import { policyOf, SELF } from '../../crds/text/policy.ts'
import { accountRoutes } from '../account/account.ts'
import { adminRoutes } from '../account/admin-routes.ts'
import { auditRoutes } from '../account/audit-routes.ts'
import { quarantineRoutes } from '../account/quarantine.ts'
import { sessionsPageRoutes } from '../account/sessions-page.ts'
import { sshKeyRoutes } from '../account/ssh-keys.ts'
import { teamRoutes } from '../account/teams.ts'
import { accountPageRoutes } from '../account/tokens-page.ts'
import { accessRoutes } from '../app/publishing/gate/gate.ts'
import { publishingRoutes } from '../app/publishing/routes.ts'
import { appRoutes } from '../app/routes.ts'
import { registryRoutes } from '../app/sources/registries/routes.ts'
import { sourceRoutes } from '../app/sources/routes.ts'
import { authRoutes } from '../auth/routes.ts'
import { sessionRoutes } from '../auth/session-routes.ts'
import { jwksRoutes } from '../auth/signin/jwks.ts'
import { signinRoutes } from '../auth/signin/signin-page.ts'
import { clientRoutes } from '../client/routes.ts'
import { makeOperationRoutes } from '../command/operation-routes.ts'
import { devboxesPageRoutes } from '../devinstance/reading/page.ts'
import { devInstanceRoutes } from '../devinstance/routes.ts'
import { hostRoutes } from '../host/routes.ts'
import { Problem } from '../http/problem.ts'
import { described, type RouteHead } from '../http/route.ts'
import { booksPageRoutes } from '../invoice/books/books-page.ts'
import { collectRoutes, railRoutes } from '../invoice/cards/collect-routes.ts'
import { revisionRoutes } from '../invoice/documents/revision.ts'
import { draftRoutes } from '../invoice/drafting/draft-routes.ts'
import { issuerRoutes } from '../invoice/issuers/issuer-routes.ts'
import { pageRoutes } from '../invoice/page/routes.ts'
import { invoiceRoutes } from '../invoice/routes.ts'
import { openapiOf } from '../openapi/openapi.ts'
import { problemPage } from '../page/account.ts'
import { catalogueRoutes } from '../site/choosing/catalogue.ts'
import { variantPageRoutes } from '../site/choosing/variants.ts'
import { statementKeyRoutes } from '../site/live/attest.ts'
import { formRoutes } from '../site/live/messages/form.ts'
import { previewRoutes } from '../site/preview.ts'
import { certificatePageRoutes } from '../site/reviewing/certificate.ts'
import { ownReviewRoutes } from '../site/reviewing/history.ts'
import { queuePageRoutes } from '../site/reviewing/queue.ts'
import { reviewPageRoutes } from '../site/reviewing/review-page.ts'
import { siteRoutes } from '../site/routes.ts'
import { webhooksPageRoutes } from '../webhook/page.ts'
import { webhookRoutes } from '../webhook/routes.ts'
import { commands } from './commands.ts'
import type { Deps } from './deps.ts'
import type { Route } from './route.ts'

const open = { scope: { kind: 'public', limit: 'file' }, hidden: true } as const

/**
 * One description served to clients: where, what of, and which routes. The version is the surface's
 * (rules/platform.md#routes-as-data).
 */
type Surface = { path: string; title: string; version: string; description: string; routes: readonly RouteHead[] }

const operationRoutes = makeOperationRoutes(commands)

/** Invoicing has, beside its own, what belongs to every surface: who may do what, and where verdicts stand. */
const SURFACES: readonly Surface[] = [
  {
    path: '/api/openapi-invoices.json',
    title: 'Bottega invoicing',
    version: '2026-07',
    description: 'Invoices, numbered without gaps, frozen, delivered and followed until they are paid.',
    routes: [
      ...issuerRoutes,
      ...railRoutes,
      ...draftRoutes,
      ...invoiceRoutes,
      ...revisionRoutes,
      ...webhookRoutes,
      ...accountRoutes,
      ...authRoutes,
      ...sessionRoutes,
      ...teamRoutes,
      ...adminRoutes,
      ...quarantineRoutes,
      ...auditRoutes,
      ...operationRoutes,
    ],
  },
  {
    path: '/api/openapi-websites.json',
    title: 'Bottega websites',
    version: '2026-09-18',
    description: 'Websites, rendered from content, approved by a reviewer, and published under TLS.',
    routes: siteRoutes,
  },
  {
    path: '/api/openapi-apps.json',
    title: 'Bottega apps',
    version: '2026-09',
    description: 'Apps and the hosts that they are put on.',
    routes: [...registryRoutes, ...appRoutes, ...sourceRoutes, ...publishingRoutes, ...hostRoutes],
  },
  {
    path: '/api/openapi-devboxes.json',
    title: 'Bottega dev instances',
    version: '2026-09-15',
    description: 'Reserved workbenches for coding agents: registry, policy and cost, without a call to any cloud.',
    // of the account, and for nothing but dev instances
    routes: [...devInstanceRoutes, ...sshKeyRoutes],
  },
]

/** The descriptions that `hack/generate` writes down and the server serves: path served under → document. */
export const descriptions = (): Map<string, object> =>
  new Map(SURFACES.map(({ path, routes, ...info }) => [path, openapiOf(described(routes), info)]))

/** Each document is made when it is first asked for. */
const descriptionRoute = ({ path, routes, ...info }: Surface): Route<unknown> => {
  let bytes: Buffer | undefined
  return {
    ...open,
    method: 'GET',
    path,
    summary: `The description of ${info.title}`,
    handle: async () => {
      bytes ??= Buffer.from(JSON.stringify(openapiOf(described(routes), info)), 'utf8')
      return { status: 200, bytes, headers: { 'cache-control': 'public, max-age=300' } }
    },
  }
}

/** For everybody and for search engines: no account stands behind it. */
const PROBLEM_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': policyOf({ styles: [SELF] }),
}

export const systemRoutes: Route<unknown>[] = [
  ...SURFACES.map(descriptionRoute),
  {
    ...open,
    method: 'GET',
    path: '/problems/:code',
    summary: 'What a code means',
    handle: async (_deps, { params }) => {
      const code = params.code ?? ''
      if (!isProblemCode(code)) throw new Problem('NOT_FOUND', 'There is no such code.')
      const { status, title, next } = PROBLEMS[code]
      const bytes = Buffer.from(problemPage({ code, status, title, next }), 'utf8')
      return { status: 200, bytes, headers: PROBLEM_HEADERS }
    },
  },
]

/** Every route of the service. */
export const allRoutes: Route<Deps>[] = [
  ...issuerRoutes,
  ...railRoutes,
  ...draftRoutes,
  ...invoiceRoutes,
  ...revisionRoutes,
  ...webhookRoutes,
  ...siteRoutes,
  ...catalogueRoutes,
  ...variantPageRoutes,
  ...previewRoutes,
  ...formRoutes,
  ...queuePageRoutes,
  ...reviewPageRoutes,
  ...ownReviewRoutes,
  ...certificatePageRoutes,
  ...devInstanceRoutes,
  ...accountRoutes,
  ...sshKeyRoutes,
  ...hostRoutes,
  ...registryRoutes,
  ...appRoutes,
  ...publishingRoutes,
  ...sourceRoutes,
  ...accessRoutes,
  ...clientRoutes,
  ...adminRoutes,
  ...quarantineRoutes,
  ...teamRoutes,
  ...authRoutes,
  ...sessionRoutes,
  ...jwksRoutes,
  ...statementKeyRoutes,
  ...signinRoutes,
  ...accountPageRoutes,
  ...sessionsPageRoutes,
  ...booksPageRoutes,
  ...webhooksPageRoutes,
  ...devboxesPageRoutes,
  ...pageRoutes,
  ...collectRoutes,
  ...auditRoutes,
  ...operationRoutes,
  ...systemRoutes,
]
