/**
 * The gate of private apps. An app's proxy asks on each request; the page is served on the app's own host, and its cookies
 * stay there (rules/app.md#private-apps). Whatever goes wrong is a refusal.
 */

import type { IncomingHttpHeaders } from 'node:http'
import { APP } from '../../../../crds/app/kind.ts'
import { isInScope } from '../../../../crds/app/lifecycle/publishing/access.ts'
import { ACCESS_PATH, GATE_HEADER, VERIFY_PATH, VIA_HEADER, VIA_LINK } from '../../../../crds/app/lifecycle/route.ts'
import { cookieOf } from '../../../auth/cookie.ts'
import { refuseForeign } from '../../../auth/csrf.ts'
import { Problem } from '../../../http/problem.ts'
import { fieldsOf } from '../../../http/reading/form.ts'
import type { Answer, ApiRequest } from '../../../http/route.ts'
import { makePageAnswer } from '../../../page/answer.ts'
import { acceptedLang } from '../../../page/lang.ts'
import type { Route } from '../../../wiring/route.ts'
import type { AppNeeds } from '../../needs.ts'
import { passwordFits } from '../password.ts'
import type { GateState } from './decisions.ts'
import { type GateNeeds, isByLink, LINK_COOKIE, openByLink } from './linksession.ts'
import { ACCESS_POLICY, accessPage } from './page.ts'

/** Of this host alone, over https alone (RFC 6265bis, cookie name prefixes). */
const COOKIE = '__Host-bottega_access'
const SESSION_MS = 12 * 60 * 60 * 1000

const page = makePageAnswer({ policy: ACCESS_POLICY, referrer: 'same-origin' })

const load = (deps: GateNeeds, name: string) => async (): Promise<GateState | null> => {
  const [row, links] = await Promise.all([
    deps.mirror.get(APP, name, { because: 'link' }),
    deps.publishing.linkStands(name),
  ])
  if (!row) return null
  const { id, slug, url, access, password_version } = row.view
  return { app: { id, slug, url, access, password_version }, links: new Map(links.map((one) => [one.id, one])) }
}

/** The private app that a proxy of ours asks for. @throws Problem NOT_FOUND for anybody else */
const asked = async (deps: GateNeeds, { headers }: Pick<ApiRequest, 'headers'>): Promise<GateState> => {
  const name = deps.keys.appOfGate(String(headers[GATE_HEADER.toLowerCase()] ?? ''))
  const state = name === null ? null : await deps.publishing.decisions.state(name, load(deps, name))
  if (state === null) throw new Problem('NOT_FOUND', 'There is no such app.')
  return state
}

const isByPassword = (
  deps: Pick<GateNeeds, 'keys' | 'now'>,
  { app }: GateState,
  headers: IncomingHttpHeaders,
): boolean =>
  app.password_version !== null &&
  deps.keys.accessSessionOpens(cookieOf(headers, COOKIE), app.id, app.password_version, deps.now().getTime())

/** A path on the same host, and nothing that a browser reads as another host. */
const safeNext = (next: string | null | undefined): string => {
  const isPath = next?.startsWith('/') && !/^\/[/\\]|[\s\\\0]/.test(next) && !next.startsWith(ACCESS_PATH)
  return isPath && next ? next.slice(0, 2_000) : '/'
}

const langOf = ({ headers }: ApiRequest) => acceptedLang(headers['accept-language'] ?? '')

const wantsPage = (headers: IncomingHttpHeaders): boolean =>
  ['GET', 'HEAD'].includes(String(headers['x-forwarded-method'] ?? 'GET')) &&
  /\btext\/html\b/.test(headers.accept ?? '')

/** Whether a visitor may see what he asks for; asked at each request. @throws Problem PRIVATE_APP */
export const verify = async (deps: GateNeeds, request: Pick<ApiRequest, 'headers'>): Promise<Answer> => {
  const { headers } = request
  const state = await asked(deps, request)
  if (state.app.access === 'public' || isByPassword(deps, state, headers)) return { status: 204 }
  const uri = String(headers['x-forwarded-uri'] ?? '/')
  if (await isByLink(deps, state, { cookie: cookieOf(headers, LINK_COOKIE), uri })) {
    return { status: 204, headers: { [VIA_HEADER.toLowerCase()]: VIA_LINK } }
  }
  if (!wantsPage(headers)) {
    throw new Problem('PRIVATE_APP', 'This app is private: open its address in a browser and enter its password.')
  }
  return page(303, '', { location: `${ACCESS_PATH}?next=${encodeURIComponent(safeNext(uri))}` })
}

/** By a link the visitor goes on to what it opens; nothing is counted before something of the app is asked for. */
const showPage = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const state = await asked(deps, request)
  const { slug } = state.app
  const next = safeNext(request.query.next)
  const lang = langOf(request)
  if (request.query.link === undefined) return page(200, accessPage({ lang, slug, next }))
  const opened = await openByLink(deps, state, request.query.link, SESSION_MS)
  if (opened === null) return page(403, accessPage({ lang, slug, next, fault: 'lost' }))
  const to = request.query.next !== undefined && isInScope(next, opened.scope) ? next : opened.scope
  return page(303, '', { location: to, 'set-cookie': opened.cookie })
}

/** The visitor as the app's proxy saw it, which was believed for its token. */
const visitorOf = ({ headers, ip }: ApiRequest): string =>
  String(headers['x-forwarded-for'] ?? '')
    .split(',')
    .at(-1)
    ?.trim() || ip

const enter = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const { app } = await asked(deps, request)
  const { id, slug, password_version } = app
  refuseElsewhere(request, app.url)
  const lang = langOf(request)
  const form = fieldsOf(request.form)
  const next = safeNext(form.get('next'))
  const { waitMs, right } = await deps.attempts.begin({ ip: visitorOf(request), target: `app:${id}` })
  if (waitMs > 0) {
    const waitSeconds = Math.ceil(waitMs / 1000)
    const retry = { 'retry-after': String(waitSeconds) }
    return page(429, accessPage({ lang, slug, next, fault: { waitSeconds } }), retry)
  }
  const kept = password_version === null ? null : await deps.apps.password(id, password_version)
  if (!kept || !(await passwordFits(form.get('password') ?? '', kept))) {
    return page(403, accessPage({ lang, slug, next, fault: 'wrong' }))
  }
  await right()
  const session = deps.keys.accessSession(id, kept.version, deps.now().getTime() + SESSION_MS)
  const cookie = `${COOKIE}=${session}; Path=/; Max-Age=${SESSION_MS / 1000}; HttpOnly; SameSite=Lax; Secure`
  return page(303, '', { location: next, 'set-cookie': cookie })
}

/** A post comes from a page of the host that the visitor is at: the app may have several, and its proxy says which it is. */
const refuseElsewhere = ({ headers }: ApiRequest, url: string | null): void => {
  const host = headers['x-forwarded-host']
  const at = typeof host === 'string' && /^[a-z0-9.-]+(:\d{1,5})?$/i.test(host) ? `https://${host}` : url
  if (at !== null) refuseForeign(headers, at)
}

const open = { scope: { kind: 'public', limit: 'gate' }, hidden: true } as const
const query = {
  next: { type: 'string', description: 'Where to go afterwards.', maxLength: 2_048 },
  link: { type: 'string', description: 'A link that opens the app.', maxLength: 200 },
}

export const accessRoutes: Route<AppNeeds>[] = [
  { ...open, method: 'GET', path: VERIFY_PATH, summary: 'Whether a visitor may see a private app', handle: verify },
  { ...open, method: 'GET', path: ACCESS_PATH, summary: 'The sign-in page of a private app', query, handle: showPage },
  { ...open, method: 'POST', path: ACCESS_PATH, summary: 'Enter the password of a private app', handle: enter },
]
