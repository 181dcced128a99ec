/** The page of one's sessions: where one is signed in, and a form to end each. By the same store as api/auth/session-routes.ts. */
import type { JsonSchema } from '../../crds/kernel/rest.ts'
import { type Html, html } from '../../crds/text/html.ts'
import type { SessionView } from '../auth/signin/session.ts'
import { decidesOnSites } from '../http/caller.ts'
import { goTo, pageAnswer } from '../http/pages.ts'
import { Problem } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import { accountHeader, accountPage, SESSIONS_PATH } from '../page/account.ts'
import { fact, instant } from '../page/facts.ts'
import { button, form, notice } from '../page/form.ts'
import type { Deps } from '../wiring/deps.ts'
import type { Route } from '../wiring/route.ts'

type SessionsPageNeeds = Pick<Deps, 'keys' | 'sessions'>

const SHOWN_MAX = 100
const HOW = { mail: 'By a link in a mail', oidc: 'With OpenID Connect' } as const
const DONE: Record<string, string> = { ended: 'The session was ended. That browser has to sign in again.' }

const item = (session: SessionView, own: string, formToken: string): Html => {
  const {
    id,
    how,
    created_at: begun,
    last_used_at: used,
    expires_at: expires,
    ip_address: ip,
    user_agent: agent,
  } = session
  const isOwn = id === own
  const name = agent ?? 'Unknown browser'
  return html`<li>
<h3>${isOwn ? 'This browser' : name}</h3>
<dl class="facts">
${isOwn && fact('Browser', name)}
${fact('Signed in', html`${instant(begun)}. ${HOW[how]}`)}
${fact('Last used', used === null ? 'Not since' : instant(used))}
${fact('Ends', instant(expires))}
${ip !== null && fact('From', ip)}
</dl>
${
  !isOwn &&
  form({ action: `${SESSIONS_PATH}/${id}/end`, formToken }, [
    button({ words: 'End', about: `the session of ${name}, signed in ${begun}`, tone: 'danger' }),
  ])
}
</li>`
}

const show = async ({ keys, sessions }: SessionsPageNeeds, { caller, query }: ApiRequest): Promise<Answer> => {
  const { items, total } = await sessions.list(caller.account, { limit: SHOWN_MAX, offset: 0 })
  const formToken = keys.formToken(caller.by.id)
  const done = DONE[query.done ?? '']
  const signOut = form({ action: '/signout', formToken }, button({ words: 'Sign out', tone: 'plain' }))
  const page = accountPage({
    title: 'Your sessions',
    layout: 'wide',
    at: SESSIONS_PATH,
    isReviewer: decidesOnSites(caller),
    main: html`${accountHeader('Your sessions', caller.profile.email, signOut)}
${done !== undefined && notice('good', done)}
<p>Where you are signed in. A session also ends when it is not used for a while, and all of them end when your address changes.</p>
<section aria-labelledby="sessions"><h2 id="sessions">Sessions</h2>
<ul class="tokens">${items.map((one) => item(one, caller.by.id, formToken))}</ul>
${total > items.length && html`<p class="hint">${items.length} of ${total} are shown, the newest first.</p>`}
</section>`,
  })
  return pageAnswer(200, page)
}

const end = async ({ sessions }: SessionsPageNeeds, { caller, params }: ApiRequest): Promise<Answer> => {
  if (await sessions.end(caller.account, params.id ?? '')) return goTo(`${SESSIONS_PATH}?done=ended`)
  throw new Problem('NOT_FOUND', 'You have no such session; it may be over already.')
}

const own = { hidden: true, scope: { kind: 'session' } } as const
const done: JsonSchema = { type: 'string', description: 'What was done last.', maxLength: 20 }

export const sessionsPageRoutes: Route<SessionsPageNeeds>[] = [
  { ...own, method: 'GET', path: SESSIONS_PATH, summary: 'Your sessions', query: { done }, handle: show },
  { ...own, method: 'POST', path: `${SESSIONS_PATH}/:id/end`, summary: 'End a session', handle: end },
]
