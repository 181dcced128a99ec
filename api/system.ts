/** Routes about the service itself: its description, and a page for each code that it refuses with. */

import { html, textOf } from '../crds/html.ts'
import { PROBLEMS, type ProblemCode } from '../crds/problem.ts'
import { accountRoutes } from './account.ts'
import { accountPageRoutes } from './account-page.ts'
import { adminRoutes } from './admin-routes.ts'
import { auditRoutes } from './audit-routes.ts'
import { jwksRoutes } from './auth/jwks.ts'
import { authRoutes } from './auth/routes.ts'
import { signinRoutes } from './auth/signin-page.ts'
import { pageRoutes } from './invoice/page.ts'
import { invoiceRoutes } from './invoice.ts'
import { openapiOf } from './openapi.ts'
import { Problem } from './problem.ts'
import { described, type Route } from './route.ts'
import { teamRoutes } from './teams.ts'

/** `info` of the invoicing description; the version is the document's (CONTRACT section 10). */
export const INVOICING = {
  title: 'Bottega invoicing',
  version: '2026-07',
  description: 'Invoices, numbered without gaps, frozen, delivered and followed until they are paid.',
}

/** Invoicing, and what belongs to every surface: who may do what (spec/1 Endpoints). */
const describedRoutes = [
  ...invoiceRoutes,
  ...accountRoutes,
  ...authRoutes,
  ...teamRoutes,
  ...adminRoutes,
  ...auditRoutes,
]

/** The description that `hack/generate` writes down and the server serves. */
export const invoicingDescription = () => openapiOf(described(describedRoutes), INVOICING)

let description: Buffer | undefined

const isCode = (word: string): word is ProblemCode => Object.hasOwn(PROBLEMS, word)

const problemPage = (code: ProblemCode): string => {
  const { status, title, next } = PROBLEMS[code]
  return textOf(html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${code}</title></head>
<body><main><h1>${code}</h1><p>${title} (HTTP ${String(status)}).</p><p>${next}</p></main></body>
</html>
`)
}

const open = { scope: { kind: 'public' }, hidden: true } as const

export const systemRoutes: Route[] = [
  {
    ...open,
    method: 'GET',
    path: '/api/openapi-invoices.json',
    summary: 'The description of the invoicing API',
    handle: async () => {
      description ??= Buffer.from(JSON.stringify(invoicingDescription()), 'utf8')
      return { status: 200, bytes: description, headers: { 'cache-control': 'public, max-age=300' } }
    },
  },
  {
    ...open,
    method: 'GET',
    path: '/problems/:code',
    summary: 'What a code means',
    handle: async (_deps, { params }) => {
      const code = params.code ?? ''
      if (!isCode(code)) throw new Problem('NOT_FOUND', 'There is no such code.')
      const headers = {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
      }
      return { status: 200, bytes: Buffer.from(problemPage(code), 'utf8'), headers }
    },
  },
]

/** Every route of the service. */
export const allRoutes: Route[] = [
  ...invoiceRoutes,
  ...accountRoutes,
  ...adminRoutes,
  ...teamRoutes,
  ...authRoutes,
  ...jwksRoutes,
  ...signinRoutes,
  ...accountPageRoutes,
  ...pageRoutes,
  ...auditRoutes,
  ...systemRoutes,
]
