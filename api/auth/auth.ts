/**
 * Who calls. A token is looked up by its id, together with its account, in one indexed read, and compared in constant
 * time. A good answer is remembered for ten seconds under the hash of the whole token; a change of the token or of its
 * account is announced on the mirror's channel and forgets it at once (rules/platform.md#tokens; RFC 6750).
 */

import { hash as digestOf } from 'node:crypto'
import { makeBatch } from '../../controllers/base/batch.ts'
import { joinProfile, type ProfileRow } from '../../controllers/store/account/accounts.ts'
import type { Pg } from '../../controllers/store/pg/pg.ts'
import type { Caller, CallerCredentials } from '../http/caller.ts'
import type { Stage } from '../http/exchange.ts'
import { Problem } from '../http/problem.ts'
import { matches, parseToken, TOKEN_PREFIX, type TokenKeys, type TokenParts } from './tokens.ts'

/** No process trusts a token for longer than this after it was revoked, even when it misses the notice. */
export const REMEMBER_MS = 10_000
const REMEMBER_MAX = 10_000

/** @throws Problem UNAUTHENTICATED, with a challenge, also when there is no credential */
export type Authenticate = (credentials: CallerCredentials) => Promise<Caller>

/**
 * Reads a session, from the bearer or else from the cookie; undefined when the request carries none.
 * @throws Problem UNAUTHENTICATED for one that is not good
 */
export type ReadSession = (credentials: CallerCredentials) => Promise<Caller | undefined>

/** `WWW-Authenticate` of RFC 6750. A request without a credential gets no error; neither value holds quotes. */
export const challenge = (why: { error?: 'invalid_token' | 'insufficient_scope'; scope?: string } = {}) => {
  const parts = ['realm="bottega"', ...Object.entries(why).map(([name, value]) => `${name}="${value}"`)]
  return { 'www-authenticate': `Bearer ${parts.join(', ')}` }
}

/** Refuses a credential that was sent and is not good. */
export const refuseCredential = (detail: string): never => {
  throw new Problem('UNAUTHENTICATED', detail, { headers: challenge({ error: 'invalid_token' }) })
}

/** Refuses a request without a credential. */
export const refuseNobody = (): never => {
  throw new Problem('UNAUTHENTICATED', 'Send Authorization: Bearer <token>.', { headers: challenge() })
}

type TokenRow = ProfileRow & {
  id: string
  account: string
  secretHash: Buffer
  previousHash: Buffer | null
  scopes: string[] | null
  isRevoked: boolean
  /** Milliseconds left; null: for ever. */
  leftMs: number | null
  previousLeftMs: number | null
}

/** The database's clock decides, so that all processes agree on when a token ends. */
const FIND = `
select t.id, t.account, t.secret_hash as "secretHash", t.previous_hash as "previousHash", t.scopes,
  t.revoked_at is not null as "isRevoked",
  (extract(epoch from t.expires_at - now()) * 1000)::float8 as "leftMs",
  (extract(epoch from t.previous_until - now()) * 1000)::float8 as "previousLeftMs",
  m.profile
from unnest($1::text[]) as k(id)
  cross join lateral (select * from tokens where tokens.id = k.id limit 1) t
  ${joinProfile('t')}`

type Known = { caller: Caller; untilMs: number }

/** Keeps what was found out, for a while. Bounded; the oldest goes first. */
const makeMemory = (nowMs: () => number) => {
  const known = new Map<string, Known>()
  let forgotten = 0
  return {
    get(hash: string): Caller | undefined {
      const found = known.get(hash)
      return found && found.untilMs > nowMs() ? found.caller : undefined
    },
    /** Remembers what `look` gives, unless something was forgotten meanwhile: then it may already be out of date. */
    async keep(hash: string, look: () => Promise<Known>): Promise<Caller> {
      const before = forgotten
      const found = await look()
      if (before !== forgotten) return found.caller
      known.delete(hash)
      for (const oldest of known.keys()) {
        if (known.size < REMEMBER_MAX) break
        known.delete(oldest)
      }
      known.set(hash, found)
      return found.caller
    },
    forget(keys: readonly string[] | null): void {
      // The channel names an account by its resource, which is its key where it is the first of that name.
      const isMeant = ({ caller: { by, account, profile } }: Known) =>
        keys === null ||
        [`Token/${by.id}`, `Account/${account}`, `Account/${profile.id}`].some((key) => keys.includes(key))
      if (keys !== null && !keys.some((key) => /^(Token|Account)\//.test(key))) return
      forgotten++
      for (const [hash, one] of known) if (isMeant(one)) known.delete(hash)
    },
  }
}

export type AuthDeps = {
  pg: Pg
  keys: Pick<TokenKeys, 'tokenHash'>
  /** Monotonic. */
  nowMs: () => number
  /** Told of every good use. */
  onUse?: (tokenId: string) => void
  /** Without it there are no sessions. */
  readSession?: ReadSession
}

export type Authentication = {
  authenticate: Authenticate
  /** Whether a token was found good so lately that it would not be looked up. */
  isRemembered(credentials: CallerCredentials): boolean
  /** Forgets what changed: keys `Token/<id>` and `Account/<name>`; null forgets everything. */
  forget(keys: readonly string[] | null): void
}

const bearerOf = (authorization: string | undefined): string | undefined =>
  /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1]

export const makeAuth = (deps: AuthDeps): Authentication => {
  const memory = makeMemory(deps.nowMs)
  const find = makeBatch<string, TokenRow | undefined>({
    inFlight: 2,
    async run(ids) {
      const { rows } = await deps.pg.query<TokenRow>('find_tokens', FIND, [[...new Set(ids)]])
      const found = new Map(rows.map((row) => [row.id, row]))
      return ids.map((id) => found.get(id))
    },
  })

  const look = async ({ id, secret }: TokenParts): Promise<Known> => {
    const askedMs = deps.nowMs()
    const row = await find(id)
    const opens = matches(deps.keys.tokenHash(secret), row?.secretHash, row?.previousHash)
    const isGood = opens.current || (opens.previous && (row?.previousLeftMs ?? 0) > 0)
    if (!row || !isGood || row.isRevoked) return refuseCredential('The token is unknown or revoked.')
    if (row.leftMs !== null && row.leftMs <= 0) return refuseCredential('The token has expired.')
    if (!row.profile) return refuseCredential('The account of this token does not exist.')
    const { account, scopes, profile } = row
    const graceMs = opens.current ? REMEMBER_MS : (row.previousLeftMs ?? 0)
    return {
      caller: { account, by: { kind: 'token', id }, scopes, profile },
      untilMs: askedMs + Math.min(REMEMBER_MS, row.leftMs ?? REMEMBER_MS, graceMs),
    }
  }

  const ofToken = async (token: string): Promise<Caller> => {
    const hash = digestOf('sha256', token, 'base64')
    let caller = memory.get(hash)
    if (!caller) {
      const parsed = parseToken(token)
      if (!parsed.ok) {
        return refuseCredential(
          parsed.fault === 'checksum'
            ? 'The token has a typing error: its checksum does not fit.'
            : 'The token is not of the form btg_<id>_<secret>.',
        )
      }
      caller = await memory.keep(hash, () => look(parsed))
    }
    deps.onUse?.(caller.by.id)
    return caller
  }

  const isRemembered = ({ authorization }: CallerCredentials): boolean => {
    const bearer = bearerOf(authorization)
    return bearer !== undefined && memory.get(digestOf('sha256', bearer, 'base64')) !== undefined
  }

  const authenticate: Authenticate = async (credentials) => {
    const { authorization } = credentials
    const bearer = bearerOf(authorization)
    if (bearer?.startsWith(TOKEN_PREFIX)) return ofToken(bearer)
    const session = await deps.readSession?.(credentials)
    if (session) return session
    return authorization === undefined ? refuseNobody() : refuseCredential('This is neither a token nor a session.')
  }
  return { authenticate, isRemembered, forget: (keys) => memory.forget(keys) }
}

/**
 * The stage that finds out who calls. Public routes are served without looking; a report token opens its own route and no
 * other, and nothing else opens that one.
 */
export const makeAuthentication =
  (deps: { authenticate: Authenticate; authenticateReport: Authenticate }): Stage =>
  async (exchange, next) => {
    const { kind } = exchange.route.scope
    if (kind === 'report') exchange.caller = await deps.authenticateReport(exchange.headers)
    else if (kind !== 'public') exchange.caller = await deps.authenticate(exchange.headers)
    return next()
  }
