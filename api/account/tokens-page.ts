/** The page of one's tokens. It does what the routes of api/auth/routes.ts do, by the same store, for a browser. */
import { randomBytes } from 'node:crypto'
import type { JsonSchema } from '../../crds/kernel/rest.ts'
import { inOrder, PRESETS, type Preset, SCOPES } from '../auth/scopes.ts'
import { formOf } from '../auth/signin/signin-page.ts'
import { TOKENS_MAX } from '../auth/token-store.ts'
import { decidesOnSites } from '../http/caller.ts'
import { goTo, pageAnswer } from '../http/pages.ts'
import { Problem } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import { TOKENS_PATH } from '../page/account.ts'
import type { Deps } from '../wiring/deps.ts'
import type { Route } from '../wiring/route.ts'
import {
  GRACES,
  LIFETIMES,
  NAME_MAX,
  OWN_CHOICE,
  secretPage,
  type TokenDraft,
  type TokensFacts,
  tokensPage,
} from './tokens-html.ts'

type TokensPageNeeds = Pick<Deps, 'keys' | 'tokens' | 'now'>

const SHOWN_MAX = 100
const DAY_MS = 86_400_000

const DONE: Record<string, string> = { revoked: 'The token was revoked. Nothing opens with it any more.' }
const CATALOGUE = { scopes: SCOPES, presets: PRESETS }
const isPreset = (word: string): word is Preset => Object.hasOwn(PRESETS, word)

type More = { status?: number } & Pick<Partial<TokensFacts>, 'fault' | 'done' | 'draft'>

const show = async (
  deps: TokensPageNeeds,
  { caller }: ApiRequest,
  { status = 200, ...more }: More,
): Promise<Answer> => {
  const { tokens, total } = await deps.tokens.list(caller.account, { limit: SHOWN_MAX, offset: 0 })
  const page = tokensPage({
    email: caller.profile.email,
    isReviewer: decidesOnSites(caller),
    tokens,
    total,
    catalogue: CATALOGUE,
    formToken: deps.keys.formToken(caller.by.id),
    once: randomBytes(16).toString('base64url'),
    nowMs: deps.now().getTime(),
    ...more,
  })
  return pageAnswer(status, page)
}

const showTokens = (deps: TokensPageNeeds, request: ApiRequest): Promise<Answer> => {
  const done = DONE[request.query.done ?? '']
  return show(deps, request, done === undefined ? {} : { done })
}

const draftOf = (form: URLSearchParams): TokenDraft => ({
  name: (form.get('name') ?? '').trim(),
  choice: form.get('choice') ?? '',
  scopes: inOrder(form.getAll('scope')),
  days: form.get('days') ?? '',
})

/** Names the showing of the form, so that a page that is loaded again makes no second secret. */
const intentOf = ({ caller }: ApiRequest, form: URLSearchParams): string | undefined => {
  const once = form.get('once') ?? ''
  return /^[\w-]{22}$/.test(once) ? `page ${caller.by.id} ${once}` : undefined
}

/** What is wrong with it, in words; undefined when nothing is. */
const faultOf = ({ name, choice, scopes, days }: TokenDraft): string | undefined => {
  if (name === '' || name.length > NAME_MAX || /\p{Cc}/u.test(name))
    return `Give it a name of at most ${NAME_MAX} characters.`
  if (choice !== OWN_CHOICE && !isPreset(choice)) return 'Choose what it may do.'
  if (choice === OWN_CHOICE && scopes.length === 0) return 'Pick at least one permission.'
  if (!LIFETIMES.some(([value]) => value === days)) return 'Choose how long it opens.'
  return undefined
}

const mint = async (deps: TokensPageNeeds, request: ApiRequest): Promise<Answer> => {
  const form = formOf(request)
  const draft = draftOf(form)
  const fault = faultOf(draft)
  if (fault !== undefined) return show(deps, request, { status: 400, fault, draft })
  const preset = isPreset(draft.choice) ? draft.choice : null
  const mintRequest = {
    account: request.caller.account,
    name: draft.name,
    scopes: inOrder(preset === null ? draft.scopes : PRESETS[preset].scopes),
    preset,
    expiresAt: draft.days === '' ? null : new Date(deps.now().getTime() + Number(draft.days) * DAY_MS).toISOString(),
  }
  const minted = await deps.tokens.mint(mintRequest, intentOf(request, form))
  if (minted && request.audited) request.audited.resource = `/api/auth/tokens/${minted.token.id}`
  if (minted) return pageAnswer(201, secretPage({ name: minted.token.name, secret: minted.secret, rotated: false }))
  const full = `You have ${TOKENS_MAX} tokens, which is as many as there may be. Revoke one first.`
  return show(deps, request, { status: 409, fault: full, draft })
}

const unknown = (): never => {
  throw new Problem('NOT_FOUND', 'You have no such token; it may have been revoked already.')
}

const rotate = async (deps: TokensPageNeeds, request: ApiRequest): Promise<Answer> => {
  const form = formOf(request)
  const wanted = form.get('grace_seconds')
  // What is not offered stops the old secret at once: the safe reading of a form that was tampered with.
  const grace = GRACES.find(([value]) => value === wanted)?.[0] ?? '0'
  const { caller, params } = request
  const rotated = await deps.tokens.rotate(caller.account, params.id ?? '', Number(grace), intentOf(request, form))
  const { token, secret } = rotated ?? unknown()
  return pageAnswer(200, secretPage({ name: token.name, secret, rotated: true }))
}

const revoke = async (deps: TokensPageNeeds, { caller, params }: ApiRequest): Promise<Answer> => {
  if (!(await deps.tokens.revoke(caller.account, params.id ?? ''))) unknown()
  return goTo(`${TOKENS_PATH}?done=revoked`)
}

const own = { hidden: true, scope: { kind: 'session' } } as const
const done: JsonSchema = { type: 'string', description: 'What was done last.', maxLength: 20 }

export const accountPageRoutes: Route<TokensPageNeeds>[] = [
  { ...own, method: 'GET', path: TOKENS_PATH, summary: 'Your tokens', query: { done }, handle: showTokens },
  { ...own, method: 'POST', path: TOKENS_PATH, summary: 'Make a token', secretAnswer: true, handle: mint },
  {
    ...own,
    method: 'POST',
    path: `${TOKENS_PATH}/:id/rotate`,
    summary: 'Make a new secret',
    secretAnswer: true,
    handle: rotate,
  },
  { ...own, method: 'POST', path: `${TOKENS_PATH}/:id/revoke`, summary: 'Revoke a token', handle: revoke },
]
