/**
 * Sessions: a JWT signed with Ed25519 and nothing else, as bearer or as cookie. What it says is checked here in full; a
 * row by its id lets it be revoked, which acts within ten seconds everywhere (rules/platform.md#sessions).
 * Source: RFC 8725 (JWT best current practices) 3.1, 3.8, 3.9, 3.11.
 */

import { randomBytes } from 'node:crypto'
import { errors, jwtVerify, SignJWT } from 'jose'
import type { Keys } from '../../../controllers/base/keys.ts'
import type { MirrorReader } from '../../../controllers/store/mirror.ts'
import type { Pg } from '../../../controllers/store/pg/pg.ts'
import { ACCOUNT } from '../../../crds/account/kind.ts'
import type { AccountView } from '../../../crds/account/view.ts'
import { belongsTo } from '../../../crds/kernel/fields.ts'
import type { Caller, CallerCredentials } from '../../http/caller.ts'
import { type ReadSession, refuseCredential } from '../auth.ts'
import { cookieOf } from '../cookie.ts'
import { makeSessionKeys, type SessionKeys } from './session-keys.ts'

export const SESSION_COOKIE = 'bottega_session'
export const SESSION_MS = 7 * 24 * 60 * 60 * 1000
export const AUDIENCE = 'bottega'
const ALGORITHM = 'EdDSA'
const TYPE = 'JWT'
const SKEW_SECONDS = 60
/** A session that was ended in another process is known here for so long. */
export const REMEMBER_MS = 10_000
const REMEMBER_MAX = 10_000
const JWT_MAX = 1_000
const REQUIRED = ['iss', 'aud', 'sub', 'jti', 'iat', 'nbf', 'exp']

export type SignedInBy = 'mail' | 'oidc'
export type Issued = { jwt: string; sessionId: string; expiresAt: string }
export type Verified = { account: string; sessionId: string }

export type Sessions = {
  issue(account: string, how: SignedInBy): Promise<Issued>
  /** @throws Problem UNAUTHENTICATED, whatever is wrong with it */
  verify(jwt: string): Promise<Verified>
  /** Acts at once here, and within ten seconds in every other process. */
  revoke(sessionId: string): Promise<void>
  keys: SessionKeys
}

export type SessionDeps = {
  pg: Pg
  /** Of the platform. */
  keys: Pick<Keys, 'sealer'>
  /** Who issues: `iss` of every session. */
  publicUrl: string
  now: () => Date
  /** Monotonic, for what is remembered. */
  nowMs: () => number
}

const ISSUE = 'insert into sessions (id, account, how, created_at, expires_at) values ($1, $2, $3, $4, $5)'
const CLEAR = `
delete from sessions where id = any (array(
  select s.id from sessions s where s.expires_at < $1 order by s.expires_at limit 20 for update skip locked))`
const LIVE = 'select account from sessions where id = $1 and revoked_at is null and expires_at > $2'
const REVOKE = 'update sessions set revoked_at = $2 where id = $1 and revoked_at is null'

type SessionState = Pick<SessionDeps, 'pg' | 'publicUrl' | 'now' | 'nowMs'> & {
  keys: SessionKeys
  /** By the whole text, so that an altered token is never taken for a remembered one. */
  remembered: Map<string, { verified: Verified; untilMs: number }>
}

const claimsOf = async ({ keys, publicUrl, now }: SessionState, jwt: string) => {
  if (jwt.length > JWT_MAX) return refuseCredential('This is no session.')
  const found = await jwtVerify(
    jwt,
    async ({ kid }) => {
      const key = kid === undefined ? null : await keys.verifier(kid)
      return key ?? refuseCredential('The session is signed with an unknown key.')
    },
    {
      algorithms: [ALGORITHM],
      typ: TYPE,
      issuer: publicUrl,
      audience: AUDIENCE,
      requiredClaims: REQUIRED,
      clockTolerance: SKEW_SECONDS,
      currentDate: now(),
    },
  ).catch((error: unknown) => {
    // Only what jose says about the token is a refusal; a database that is away is not.
    if (error instanceof errors.JOSEError)
      return refuseCredential('The session is not valid or is over; sign in again.')
    throw error
  })
  return found.payload
}

const look = async (state: SessionState, jwt: string): Promise<Verified> => {
  const { sub, jti } = await claimsOf(state, jwt)
  if (typeof sub !== 'string' || typeof jti !== 'string') return refuseCredential('The session names nobody.')
  const values = [jti, state.now().toISOString()]
  const { rows } = await state.pg.query<{ account: string }>('live_session', LIVE, values)
  if (!belongsTo(rows[0], sub)) return refuseCredential('The session was ended; sign in again.')
  return { account: sub, sessionId: jti }
}

const issue = async (state: SessionState, account: string, how: SignedInBy): Promise<Issued> => {
  const { pg, keys, publicUrl } = state
  const sessionId = randomBytes(16).toString('base64url')
  const at = state.now()
  const seconds = Math.floor(at.getTime() / 1000)
  const expires = seconds + SESSION_MS / 1000
  const { kid, key } = await keys.signer()
  const jwt = await new SignJWT()
    .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid })
    .setIssuer(publicUrl)
    .setAudience(AUDIENCE)
    .setSubject(account)
    .setJti(sessionId)
    .setIssuedAt(seconds)
    .setNotBefore(seconds)
    .setExpirationTime(expires)
    .sign(key)
  const expiresAt = new Date(expires * 1000).toISOString()
  await pg.query('insert_session', ISSUE, [sessionId, account, how, at.toISOString(), expiresAt])
  await pg.query('clear_sessions', CLEAR, [at.toISOString()])
  return { jwt, sessionId, expiresAt }
}

const verify = async (state: SessionState, jwt: string): Promise<Verified> => {
  const { remembered, nowMs } = state
  const known = remembered.get(jwt)
  if (known && known.untilMs > nowMs()) return known.verified
  const askedMs = nowMs()
  const verified = await look(state, jwt)
  if (remembered.size >= REMEMBER_MAX) remembered.clear()
  remembered.set(jwt, { verified, untilMs: askedMs + REMEMBER_MS })
  return verified
}

const revoke = async ({ pg, now, remembered }: SessionState, sessionId: string): Promise<void> => {
  await pg.query('revoke_session', REVOKE, [sessionId, now().toISOString()])
  for (const [jwt, { verified }] of remembered) if (verified.sessionId === sessionId) remembered.delete(jwt)
}

export const makeSessions = (deps: SessionDeps): Sessions => {
  const { pg, publicUrl, now, nowMs } = deps
  const keys = makeSessionKeys({ pg, now, nowMs, ring: deps.keys, lifetimeMs: SESSION_MS })
  const state: SessionState = { pg, publicUrl, now, nowMs, keys, remembered: new Map() }
  return {
    keys,
    issue: (account, how) => issue(state, account, how),
    verify: (jwt) => verify(state, jwt),
    revoke: (sessionId) => revoke(state, sessionId),
  }
}

export type SessionCaller = {
  /** Who a session stands for: its account as it is, with full access. @throws Problem UNAUTHENTICATED */
  callerOf(jwt: string): Promise<Caller>
  /** Forgets accounts that changed: keys `Account/<name>`; null forgets all. Else they are remembered for ten seconds. */
  forget(keys: readonly string[] | null): void
}

type CallerDeps = { sessions: Pick<Sessions, 'verify'>; mirror: MirrorReader; nowMs: () => number }

/** What is remembered here is the account, not the session: so the two waits never add up. */
export const makeSessionCaller = ({ sessions, mirror, nowMs }: CallerDeps): SessionCaller => {
  const profiles = new Map<string, { profile: AccountView; untilMs: number }>()
  let forgotten = 0
  const profileOf = async (account: string): Promise<AccountView> => {
    const known = profiles.get(account)
    if (known && known.untilMs > nowMs()) return known.profile
    const before = forgotten
    const { rows } = await mirror.list({ kind: ACCOUNT, account }, {}, { limit: 1, offset: 0 })
    const [row] = rows
    if (!row) return refuseCredential('The account of this session does not exist.')
    const profile = row.view
    // It changed while it was looked up.
    if (before !== forgotten) return profile
    if (profiles.size >= REMEMBER_MAX) profiles.clear()
    profiles.set(account, { profile, untilMs: nowMs() + REMEMBER_MS })
    return profile
  }
  return {
    async callerOf(jwt) {
      const { account, sessionId } = await sessions.verify(jwt)
      const profile = await profileOf(account)
      return { account, by: { kind: 'session', id: sessionId }, scopes: null, profile }
    },
    forget(keys) {
      forgotten++
      if (keys === null) profiles.clear()
      for (const [account, { profile }] of profiles)
        if (keys?.includes(`Account/${profile.id}`)) profiles.delete(account)
    },
  }
}

const BEARER = /^Bearer +(\S+)$/i

/** A session as bearer, or as cookie where there is no Authorization header at all. */
export const makeReadSession =
  ({ callerOf }: SessionCaller): ReadSession =>
  async ({ authorization, cookie }: CallerCredentials) => {
    const jwt = authorization === undefined ? cookieOf({ cookie }, SESSION_COOKIE) : BEARER.exec(authorization)?.[1]
    return jwt ? callerOf(jwt) : undefined
  }
