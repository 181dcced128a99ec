/**
 * The pages of signing in. A GET never signs anybody in or out: mail scanners open every link. The one exception is the
 * return from the provider of OpenID Connect, which counts only in the browser that was sent there (oidc.ts).
 */

import type { JsonSchema } from '../../../crds/kernel/rest.ts'
import { goTo, pageAnswer } from '../../http/pages.ts'
import { Problem } from '../../http/problem.ts'
import { fieldsOf } from '../../http/reading/form.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { recordAudit } from '../../http/stages/audit.ts'
import { ACCOUNT_SHEET } from '../../page/account-style.ts'
import { showSheet } from '../../page/sheet.ts'
import type { Deps } from '../../wiring/deps.ts'
import type { Route } from '../../wiring/route.ts'
import { cookieOf, hostCookie, setCookie } from '../cookie.ts'
import { refuseForeign } from '../csrf.ts'
import { CALLBACK_PATH, NotSignedIn, VISIT_MS } from './oidc.ts'
import { SESSION_MS, type SignedInBy, sessionCookie } from './session.ts'
import { isEmail, LINK_MS, nextPath } from './signin.ts'
import { confirmPage, failedPage, sentPage, signinPage } from './signin-html.ts'

type SignInPageNeeds = Pick<Deps, 'audit' | 'oidc' | 'publicUrl' | 'sessions' | 'signIn' | 'now'>

const MINUTE_MS = 60_000
const visitName = (publicUrl: string): string => hostCookie('bottega_visit', publicUrl)
const VISIT_PATH = '/signin/oidc'

export const formOf = ({ form }: ApiRequest): URLSearchParams => fieldsOf(form)

const visitCookie = ({ publicUrl }: SignInPageNeeds, value: string): string =>
  setCookie(visitName(publicUrl), value, { path: '/', maxAgeMs: value === '' ? 0 : VISIT_MS, publicUrl })

const over = (): Answer =>
  pageAnswer(
    410,
    failedPage({ title: 'This link is over', detail: 'It was used already, or its time is up. Links work once.' }),
  )

const unknownCaller = (headers: Record<string, string> = {}): Answer => {
  const detail = 'There is no account with this address, and new accounts are made by the operator only.'
  return pageAnswer(403, failedPage({ title: 'No account', detail }), headers)
}

type Proved = { account: string; email: string; how: SignedInBy; next: string }
const VERBS = { mail: 'sign in by mail link', oidc: 'sign in with OpenID Connect' } as const

/** A new session in the visitor's cookie, and on to where it wanted to go. */
const enter = async (deps: SignInPageNeeds, request: ApiRequest, proved: Proved): Promise<Answer> => {
  const { account, email, how, next } = proved
  const { ip, requestId, headers } = request
  const { jwt, sessionId } = await deps.sessions.issue(account, how, { email, ip, agent: headers['user-agent'] })
  const { publicUrl } = deps
  const who = { kind: 'session', id: sessionId } as const
  await recordAudit(deps, { account, who, verb: VERBS[how], ip, requestId, status: 303 })
  return goTo(next, {
    'set-cookie': setCookie(sessionCookie(publicUrl), jwt, { path: '/', maxAgeMs: SESSION_MS, publicUrl }),
  })
}

const showSignin = async ({ oidc }: SignInPageNeeds, { query }: ApiRequest): Promise<Answer> =>
  pageAnswer(200, signinPage({ next: nextPath(query.next), provider: oidc?.name ?? null }))

const ask = async (deps: SignInPageNeeds, request: ApiRequest): Promise<Answer> => {
  refuseForeign(request.headers, deps.publicUrl)
  const form = formOf(request)
  const email = (form.get('email') ?? '').trim()
  const next = nextPath(form.get('next'))
  if (!isEmail(email)) {
    const fault = 'Enter an e-mail address, as name@example.com.'
    return pageAnswer(400, signinPage({ next, provider: deps.oidc?.name ?? null, fault, email }))
  }
  await deps.signIn.ask({ email, next })
  return pageAnswer(200, sentPage(LINK_MS / MINUTE_MS))
}

const showLink = async (deps: SignInPageNeeds, { params }: ApiRequest): Promise<Answer> => {
  const link = await deps.signIn.look(params.token ?? '')
  return link ? pageAnswer(200, confirmPage(link)) : over()
}

const useLink = async (deps: SignInPageNeeds, request: ApiRequest): Promise<Answer> => {
  refuseForeign(request.headers, deps.publicUrl)
  const link = await deps.signIn.look(request.params.token ?? '')
  if (!link) return over()
  // Before the link is used up: should this fail, the visitor may press the button again.
  const account = await deps.signIn.accountOf(link.email)
  if (account === null) return unknownCaller()
  return (await deps.signIn.use(link.id))
    ? enter(deps, request, { account, email: link.email, how: 'mail', next: link.next })
    : over()
}

const noProvider = (): never => {
  throw new Problem('NOT_FOUND', 'No provider of OpenID Connect is configured.')
}

const notSignedIn = (error: unknown, headers: Record<string, string> = {}): Answer => {
  if (!(error instanceof NotSignedIn)) throw error
  return pageAnswer(400, failedPage({ title: 'You are not signed in', detail: error.message }), headers)
}

const visit = async (deps: SignInPageNeeds, { query }: ApiRequest): Promise<Answer> => {
  const provider = deps.oidc ?? noProvider()
  try {
    const begun = await provider.begin(nextPath(query.next))
    return goTo(begun.url, { 'set-cookie': visitCookie(deps, begun.visit) })
  } catch (error) {
    return notSignedIn(error)
  }
}

const comeBack = async (deps: SignInPageNeeds, request: ApiRequest): Promise<Answer> => {
  const provider = deps.oidc ?? noProvider()
  // The cookie of the visit has served, however it ends. One header: the session's cookie needs it more.
  const clear = { 'set-cookie': visitCookie(deps, '') }
  try {
    const { email, next } = await provider.finish(request.query, cookieOf(request.headers, visitName(deps.publicUrl)))
    const account = await deps.signIn.accountOf(email)
    return account === null ? unknownCaller(clear) : await enter(deps, request, { account, email, how: 'oidc', next })
  } catch (error) {
    return notSignedIn(error, clear)
  }
}

/** POST behind the session; csrf.ts has looked at the form. */
const signOut = async (deps: SignInPageNeeds, { caller }: ApiRequest): Promise<Answer> => {
  await deps.sessions.revoke(caller.by.id)
  const { publicUrl } = deps
  return goTo('/signin', {
    'set-cookie': setCookie(sessionCookie(publicUrl), '', { path: '/', maxAgeMs: 0, publicUrl }),
  })
}

const open = { scope: { kind: 'public' }, hidden: true } as const
const asks = { scope: { kind: 'public', limit: 'signin' }, hidden: true } as const
const text = (description: string): JsonSchema => ({ type: 'string', description, maxLength: 4000 })
const next = { next: text('A path of this service to go to afterwards.') }
/** What providers are known to send along, beside what the standard says. */
const returned = ['code', 'state', 'iss', 'session_state', 'error', 'error_description', 'error_uri']
const extras = ['scope', 'authuser', 'prompt', 'hd']
const callbackQuery = Object.fromEntries([...returned, ...extras].map((name) => [name, text('From the provider.')]))

export const signinRoutes: Route<SignInPageNeeds>[] = [
  {
    ...open,
    scope: { kind: 'public', limit: 'file' },
    method: 'GET',
    path: ACCOUNT_SHEET.path,
    summary: 'Style of the account pages',
    handle: showSheet(ACCOUNT_SHEET),
  },
  { ...open, method: 'GET', path: '/signin', summary: 'Sign in', query: next, handle: showSignin },
  { ...asks, method: 'POST', path: '/signin', summary: 'Ask for a link to sign in by', handle: ask },
  { ...asks, method: 'GET', path: VISIT_PATH, summary: 'Go to the provider', query: next, handle: visit },
  { ...asks, method: 'GET', path: CALLBACK_PATH, summary: 'Come back', query: callbackQuery, handle: comeBack },
  { ...open, method: 'GET', path: '/signin/link/:token', summary: 'Look at a link', handle: showLink },
  { ...asks, method: 'POST', path: '/signin/link/:token', summary: 'Use a link', handle: useLink },
  { hidden: true, scope: { kind: 'session' }, method: 'POST', path: '/signout', summary: 'Sign out', handle: signOut },
]
