/** The routes about tokens: what scopes there are, which the caller holds, and its tokens (rules/platform.md#scopes). */

import { Problem, refuseFaults } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import { pagedAnswer, pageOf, pageQuery } from '../openapi/paging.ts'
import { withExamples } from '../openapi/schemas.ts'
import type { Deps } from '../wiring/deps.ts'
import type { Route } from '../wiring/route.ts'
import { inOrder, PRESETS, type Preset, SCOPES, type Scope } from './scopes.ts'
import { catalogueAnswer, graceBody, heldAnswer, listAnswer, mintBody, mintedAnswer } from './shapes.ts'
import { TOKENS_MAX } from './token-store.ts'

type TokenNeeds = Pick<Deps, 'tokens' | 'now'>

/** Longer than any key should live; nobody means more. */
export const EXPIRES_IN_MAX_DAYS = 36_525
const DAY_MS = 86_400_000

const listScopes = async (): Promise<Answer> => ({
  status: 200,
  headers: { 'cache-control': 'public, max-age=300' },
  body: {
    scopes: Object.entries(SCOPES).map(([name, description]) => ({ name, description })),
    presets: Object.entries(PRESETS).map(([name, preset]) => ({ name, ...preset })),
  },
})

const showHeld = async (deps: TokenNeeds, { caller }: ApiRequest): Promise<Answer> => {
  const { account, by, scopes } = caller
  const token = by.kind === 'token' ? await deps.tokens.get(account, by.id) : undefined
  const held = { kind: by.kind, account, full_access: scopes === null, scopes }
  return { status: 200, body: { ...held, token: token ?? null } }
}

const listTokens = async (deps: TokenNeeds, request: ApiRequest): Promise<Answer> => {
  const page = pageOf(request)
  const { tokens: items, total } = await deps.tokens.list(request.caller.account, page)
  return pagedAnswer('tokens', { items, total }, page)
}

type Order = { name: string; scopes?: Scope[]; preset?: Preset; expires_at?: string | null }

/** @throws Problem INVALID_FIELD unless the instant lies ahead, and not too far */
const expiryOf = (given: string | null | undefined, nowMs: number): string | null => {
  if (given === undefined || given === null) return null
  const atMs = Date.parse(given)
  const isGood = atMs > nowMs && atMs <= nowMs + EXPIRES_IN_MAX_DAYS * DAY_MS
  const detail = `expires_at must lie ahead, at most ${EXPIRES_IN_MAX_DAYS} days.`
  refuseFaults(isGood ? [] : [{ code: 'INVALID_FIELD', pointer: '/expires_at', detail }])
  return new Date(atMs).toISOString()
}

const scopesOf = ({ scopes, preset }: Order): Scope[] => {
  if ((scopes === undefined) === (preset === undefined)) {
    const detail = 'Give either scopes or preset.'
    refuseFaults([{ code: 'INVALID_FIELD', pointer: scopes === undefined ? '/scopes' : '/preset', detail }])
  }
  return inOrder(preset === undefined ? (scopes ?? []) : PRESETS[preset].scopes)
}

const mint = async (deps: TokenNeeds, { caller, body, idempotencyKey, audited }: ApiRequest): Promise<Answer> => {
  const order = body as Order
  const scopes = scopesOf(order)
  const beyond = scopes.find((scope) => caller.scopes !== null && !caller.scopes.includes(scope))
  if (beyond) throw new Problem('FORBIDDEN', `A token cannot be given the scope ${beyond}, which the caller lacks.`)
  const mintRequest = {
    account: caller.account,
    name: order.name.trim(),
    scopes,
    preset: order.preset ?? null,
    expiresAt: expiryOf(order.expires_at, deps.now().getTime()),
  }
  const minted = await deps.tokens.mint(mintRequest, idempotencyKey)
  if (minted && audited) audited.resource = `${path}/${minted.token.id}`
  if (!minted) throw new Problem('TOKEN_LIMIT', `The account has ${TOKENS_MAX} tokens, which is as many as it may.`)
  return { status: 201, body: minted }
}

const unknownToken = (): never => {
  throw new Problem('NOT_FOUND', 'The account has no such token, or it no longer opens anything.')
}

const rotate = async (deps: TokenNeeds, { caller, params, body, idempotencyKey }: ApiRequest): Promise<Answer> => {
  const { grace_seconds: graceSeconds = 0 } = body as { grace_seconds?: number }
  const rotated = await deps.tokens.rotate(caller.account, params.id ?? '', graceSeconds, idempotencyKey)
  return { status: 200, body: rotated ?? unknownToken() }
}

const revoke = async (deps: TokenNeeds, { caller, params }: ApiRequest): Promise<Answer> =>
  (await deps.tokens.revoke(caller.account, params.id ?? '')) ? { status: 204 } : unknownToken()

const tag = 'Tokens'
const path = '/api/auth/tokens'

export const authRoutes: Route<TokenNeeds>[] = [
  {
    method: 'GET',
    path: '/api/auth/scopes',
    summary: 'List scopes and presets',
    tag,
    scope: { kind: 'public', limit: 'file' },
    answers: { 200: { description: 'The catalogue.', schema: catalogueAnswer } },
    codes: [],
    handle: listScopes,
  },
  {
    method: 'GET',
    path: `${path}/self`,
    summary: 'Show what this credential may do',
    tag,
    scope: { kind: 'token' },
    answers: { 200: { description: 'What is held.', schema: heldAnswer } },
    codes: [],
    handle: showHeld,
  },
  {
    method: 'GET',
    path,
    summary: 'List tokens',
    description: 'Newest first; revoked ones are left out. Secrets are never shown again.',
    tag,
    scope: { kind: 'full' },
    query: pageQuery,
    answers: { 200: { description: 'One page.', schema: listAnswer } },
    codes: [],
    handle: listTokens,
  },
  {
    method: 'POST',
    path,
    summary: 'Mint a token',
    description: 'Takes scopes or a preset. The secret is shown this once.',
    tag,
    scope: { kind: 'full' },
    secretAnswer: true,
    body: withExamples(
      mintBody,
      { name: 'Shop', preset: 'invoicing' },
      { name: 'Reports', scopes: ['invoices:read'], expires_at: '2030-01-01T00:00:00Z' },
    ),
    answers: { 201: { description: 'Made.', schema: mintedAnswer } },
    codes: ['TOKEN_LIMIT'],
    handle: mint,
  },
  {
    method: 'POST',
    path: `${path}/:id/rotate`,
    summary: 'Rotate a token',
    description: 'Gives it a new secret, shown this once. The old one dies at once, or after grace_seconds.',
    tag,
    scope: { kind: 'full' },
    secretAnswer: true,
    body: withExamples(graceBody, {}, { grace_seconds: 3600 }),
    answers: { 200: { description: 'The token and its new secret.', schema: mintedAnswer } },
    codes: ['NOT_FOUND'],
    handle: rotate,
  },
  {
    method: 'DELETE',
    path: `${path}/:id`,
    summary: 'Revoke a token',
    description: 'Acts at once; at most ten seconds later where the notice is lost.',
    tag,
    scope: { kind: 'full' },
    answers: { 204: { description: 'Revoked.' } },
    codes: ['NOT_FOUND'],
    handle: revoke,
  },
]
