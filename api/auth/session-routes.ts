/** The routes about sessions: where the account is signed in, and the end of one of them (rules/platform.md#sessions). */
import { named } from '../../crds/kernel/named.ts'
import { Problem } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import { pagedAnswer, pageOf, pageQuery, paging } from '../openapi/paging.ts'
import { flag, list, object, text, textOrNull } from '../openapi/schemas.ts'
import type { Deps } from '../wiring/deps.ts'
import type { Route } from '../wiring/route.ts'

type SessionNeeds = Pick<Deps, 'sessions'>

const session = named(
  'Session',
  object('One sign-in that still opens.', {
    id: text('Names the session; it opens nothing.'),
    how: { type: 'string', description: 'By a link in a mail, or by OpenID Connect.', enum: ['mail', 'oidc'] },
    created_at: text('When it was begun.'),
    last_used_at: textOrNull('When it was last used, to the minute; null: not since.'),
    expires_at: text('When it ends, also when it is used.'),
    ip_address: textOrNull('From where it was begun.'),
    user_agent: textOrNull('What the browser called itself.'),
    current: flag('Whether this request came by it.'),
  }),
)

const listSessions = async ({ sessions }: SessionNeeds, request: ApiRequest): Promise<Answer> => {
  const { account, by } = request.caller
  const page = pageOf(request)
  const { items, total } = await sessions.list(account, page)
  const shown = items.map((one) => ({ ...one, current: by.kind === 'session' && by.id === one.id }))
  return pagedAnswer('sessions', { items: shown, total }, page)
}

const endSession = async ({ sessions }: SessionNeeds, { caller, params }: ApiRequest): Promise<Answer> => {
  if (await sessions.end(caller.account, params.id ?? '')) return { status: 204 }
  throw new Problem('NOT_FOUND', 'The account has no such session, or it is over.')
}

const path = '/api/auth/sessions'
const common = { tag: 'Tokens', scope: { kind: 'full' } } as const

export const sessionRoutes: Route<SessionNeeds>[] = [
  {
    ...common,
    method: 'GET',
    path,
    summary: 'List sessions',
    description: 'Where the account is signed in, newest first. Those that are over are left out.',
    query: pageQuery,
    answers: {
      200: {
        description: 'One page.',
        schema: object('One page.', { sessions: list('Newest first.', session), ...paging }),
      },
    },
    codes: [],
    handle: listSessions,
  },
  {
    ...common,
    method: 'DELETE',
    path: `${path}/:id`,
    summary: 'End a session',
    description: 'Acts at once in the process that answers, and within ten seconds in every other one.',
    answers: { 204: { description: 'Ended.' } },
    codes: ['NOT_FOUND'],
    handle: endSession,
  },
]
