/**
 * The gate of private apps. An app's proxy asks on each request; the page is served on the app's own host, and its cookie
 * stays there (rules/app.md#private-apps). Whatever goes wrong is a refusal.
 */

import type { IncomingHttpHeaders } from 'node:http'
import { APP } from '../../crds/app/kind.ts'
import { ACCESS_PATH, GATE_HEADER, VERIFY_PATH } from '../../crds/app/lifecycle/route.ts'
import type { AppView } from '../../crds/app/view.ts'
import { cookieOf } from '../auth/cookie.ts'
import { refuseForeign } from '../auth/csrf.ts'
import { Problem } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import { makePageAnswer } from '../page/answer.ts'
import type { Route } from '../wiring/route.ts'
import { ACCESS_POLICY, accessPage } from './access-page.ts'
import type { AppNeeds } from './needs.ts'
import { passwordFits } from './password.ts'

/** Of this host alone, over https alone (RFC 6265bis, cookie name prefixes). */
const COOKIE = '__Host-bottega_access'
const SESSION_MS = 12 * 60 * 60 * 1000

const page = makePageAnswer({ policy: ACCESS_POLICY, referrer: 'same-origin' })

/** The private app that a proxy of ours asks for. @throws Problem NOT_FOUND for anybody else */
const askedApp = async (deps: AppNeeds, { headers }: ApiRequest): Promise<AppView> => {
  const name = deps.keys.appOfGate(String(headers[GATE_HEADER.toLowerCase()] ?? ''))
  const row = name === null ? undefined : await deps.mirror.get(APP, name, { because: 'link' })
  if (!row) throw new Problem('NOT_FOUND', 'There is no such app.')
  return row.view
}

const isOpen = (deps: AppNeeds, { id, password_version }: AppView, headers: IncomingHttpHeaders): boolean =>
  password_version !== null &&
  deps.keys.accessSessionOpens(cookieOf(headers, COOKIE), id, password_version, deps.now().getTime())

/** A path on the same host, and nothing that a browser reads as another host. */
const safeNext = (next: string | null | undefined): string => {
  const isPath = next?.startsWith('/') && !/^\/[/\\]|[\s\\\0]/.test(next) && !next.startsWith(ACCESS_PATH)
  return isPath && next ? next.slice(0, 2_000) : '/'
}

const wantsPage = (headers: IncomingHttpHeaders): boolean =>
  ['GET', 'HEAD'].includes(String(headers['x-forwarded-method'] ?? 'GET')) &&
  /\btext\/html\b/.test(headers.accept ?? '')

const verify = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const app = await askedApp(deps, request)
  if (app.access === 'public' || isOpen(deps, app, request.headers)) return { status: 204 }
  if (!wantsPage(request.headers)) throw new Problem('UNAUTHENTICATED', 'This app is private: sign in with a browser.')
  const next = safeNext(String(request.headers['x-forwarded-uri'] ?? '/'))
  return page(303, '', { location: `${ACCESS_PATH}?next=${encodeURIComponent(next)}` })
}

const showPage = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const { slug } = await askedApp(deps, request)
  return page(200, accessPage({ slug, next: safeNext(request.query.next) }))
}

/** The visitor as the app's proxy saw it, which was believed for its token. */
const visitorOf = ({ headers, ip }: ApiRequest): string =>
  String(headers['x-forwarded-for'] ?? '')
    .split(',')
    .at(-1)
    ?.trim() || ip

const enter = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const { id, slug, url, password_version } = await askedApp(deps, request)
  if (url) refuseForeign(request.headers, url)
  const form = new URLSearchParams((request.form ?? Buffer.alloc(0)).toString('utf8'))
  const next = safeNext(form.get('next'))
  const { waitMs, right } = await deps.attempts.begin({ ip: visitorOf(request), target: `app:${id}` })
  if (waitMs > 0) {
    const retry = { 'retry-after': String(Math.ceil(waitMs / 1000)) }
    return page(429, accessPage({ slug, next, fault: 'tooMany' }), retry)
  }
  const kept = password_version === null ? null : await deps.apps.password(id, password_version)
  if (!kept || !(await passwordFits(form.get('password') ?? '', kept))) {
    return page(403, accessPage({ slug, next, fault: 'wrong' }))
  }
  await right()
  const session = deps.keys.accessSession(id, kept.version, deps.now().getTime() + SESSION_MS)
  const cookie = `${COOKIE}=${session}; Path=/; Max-Age=${SESSION_MS / 1000}; HttpOnly; SameSite=Lax; Secure`
  return page(303, '', { location: next, 'set-cookie': cookie })
}

const open = { scope: { kind: 'public' }, hidden: true } as const
const query = { next: { type: 'string', description: 'Where to go afterwards.', maxLength: 2_048 } }

export const accessRoutes: Route<AppNeeds>[] = [
  { ...open, method: 'GET', path: VERIFY_PATH, summary: 'Whether a visitor may see a private app', handle: verify },
  { ...open, method: 'GET', path: ACCESS_PATH, summary: 'The sign-in page of a private app', query, handle: showPage },
  { ...open, method: 'POST', path: ACCESS_PATH, summary: 'Enter the password of a private app', handle: enter },
]
