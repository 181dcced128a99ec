/**
 * Sessions: a JWT signed with Ed25519 and nothing else, as bearer or as cookie. What it says is checked here in full; a
 * row by its id lets it be revoked, which acts within ten seconds everywhere (rules/platform.md#sessions).
 * Source: RFC 8725 (JWT best current practices) 3.1, 3.8, 3.9, 3.11.
 */

import { randomBytes } from 'node:crypto'
import { errors, jwtVerify, SignJWT } from 'jose'
import type { Keys } from '../../../controllers/base/keys.ts'
import type { MirrorReader } from '../../../controllers/store/mirror.ts'
import type { Page } from '../../../controllers/store/pg/page.ts'
import type { Pg } from '../../../controllers/store/pg/pg.ts'
import { ACCOUNT } from '../../../crds/account/kind.ts'
import type { AccountView } from '../../../crds/account/view.ts'
import { belongsTo } from '../../../crds/kernel/fields.ts'
import type { Caller, CallerCredentials } from '../../http/caller.ts'
import { type ReadSession, refuseCredential } from '../auth.ts'
import { cookieOf, hostCookie } from '../cookie.ts'
import { makeSessionKeys, type SessionKeys } from './session-keys.ts'

const SESSION_NAME = 'bottega_session'
export const sessionCookie = (publicUrl: string): string => hostCookie(SESSION_NAME, publicUrl)
export const SESSION_MS = 7 * 24 * 60 * 60 * 1000
export const AUDIENCE = 'bottega'
const ALGORITHM = 'EdDSA'
const TYPE = 'JWT'
const SKEW_SECONDS = 60
/** A session that was ended in another process is known here for so long. */
export const REMEMBER_MS = 10_000
const REMEMBER_MAX = 10_000
const JWT_MAX = 1_000
/** Use is noted to the minute. */
const NOTED_MS = 60_000
const AGENT_MAX = 200
const IP_MAX = 64
const REQUIRED = ['iss', 'aud', 'sub', 'jti', 'iat', 'nbf', 'exp']

export type SignedInBy = 'mail' | 'oidc'
export type Issued = { jwt: string; sessionId: string; expiresAt: string }
/** `email`: the account's address when the session was begun, in lower case; null: not kept. */
export type Verified = { account: string; sessionId: string; email: string | null }
/** What is kept of who signed in: the address that was proved, from where, and what the browser calls itself. */
export type Beginning = { email: string; ip: string; agent: string | undefined }

export type SessionView = {
  id: string
  how: SignedInBy
  created_at: string
  last_used_at: string | null
  expires_at: string
  ip_address: string | null
  user_agent: string | null
}

export type Sessions = {
  issue(account: string, how: SignedInBy, beginning?: Beginning): Promise<Issued>
  /** Those that open, newest first. */
  list(account: string, page: Page): Promise<{ items: SessionView[]; total: number }>
  /** Ends one of the account's. @returns whether there was one */
  end(account: string, sessionId: string): Promise<boolean>
  /** @throws Problem UNAUTHENTICATED, whatever is wrong with it */
  verify(jwt: string): Promise<Verified>
  /** It is looked up at its next use. */
  forget(sessionId: string): void
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
  /** A session that was not used for so long is over. */
  idleMs: number
}

const ISSUE = `
insert into sessions (id, account, how, created_at, expires_at, email, ip, agent) values ($1, $2, $3, $4, $5, $6, $7, $8)`
const CLEAR = `
delete from sessions where id = any (array(
  select s.id from sessions s where s.expires_at < $1 order by s.expires_at limit 20 for update skip locked))`
/** $2 now, $3 since when it has to have been used. */
const OPENS = 'revoked_at is null and expires_at > $2 and coalesce(seen_at, created_at) > $3'
const LIVE = `select account, email, coalesce(seen_at, created_at) as "seenAt" from sessions where id = $1 and ${OPENS}`
const SEEN = 'update sessions set seen_at = greatest(seen_at, $2) where id = $1'
const REVOKE = 'update sessions set revoked_at = $2 where id = $1 and revoked_at is null'
const END = `update sessions set revoked_at = $2 where account = $1 and id = $4 and ${OPENS} returning id`
const LIST = `
select id, how, iso_ms(created_at) as created_at, iso_ms(seen_at) as last_used_at, iso_ms(expires_at) as expires_at, ip as ip_address, agent as user_agent, count(*) over ()::integer as total
from sessions where account = $1 and ${OPENS} order by created_at desc, id limit $4 offset $5`
const COUNT = `select count(*)::integer as total from sessions where account = $1 and ${OPENS}`

type SessionState = Pick<SessionDeps, 'pg' | 'publicUrl' | 'now' | 'nowMs' | 'idleMs'> & {
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
  const at = state.now()
  const values = [jti, ...openAt(state, at)]
  type Row = { account: string; email: string | null; seenAt: Date }
  const [row] = (await state.pg.query<Row>('live_session', LIVE, values)).rows
  if (!row || !belongsTo(row, sub))
    return refuseCredential('The session was ended, or not used for long; sign in again.')
  if (at.getTime() - new Date(row.seenAt).getTime() >= NOTED_MS)
    await state.pg.query('session_seen', SEEN, [jti, at.toISOString()])
  return { account: sub, sessionId: jti, email: row.email }
}

const openAt = ({ idleMs }: SessionState, at: Date): [now: string, usedSince: string] => [
  at.toISOString(),
  new Date(at.getTime() - idleMs).toISOString(),
]

const lineOf = (text: string): string =>
  text
    .slice(0, AGENT_MAX)
    .toWellFormed()
    .replace(/\p{Cc}/gu, ' ')

const issue = async (
  state: SessionState,
  account: string,
  how: SignedInBy,
  beginning: Beginning | undefined,
): Promise<Issued> => {
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
  const { email, ip, agent } = beginning ?? {}
  const told = [email?.toLowerCase() ?? null, ip?.slice(0, IP_MAX) ?? null, agent === undefined ? null : lineOf(agent)]
  await pg.query('insert_session', ISSUE, [sessionId, account, how, at.toISOString(), expiresAt, ...told])
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

const forget = ({ remembered }: SessionState, sessionId: string): void => {
  for (const [jwt, { verified }] of remembered) if (verified.sessionId === sessionId) remembered.delete(jwt)
}

const revoke = async (state: SessionState, sessionId: string): Promise<void> => {
  await state.pg.query('revoke_session', REVOKE, [sessionId, state.now().toISOString()])
  forget(state, sessionId)
}

const list = async (state: SessionState, account: string, { limit, offset }: Page) => {
  const opening = [account, ...openAt(state, state.now())]
  type Row = SessionView & { total: number }
  const { rows } = await state.pg.query<Row>('list_sessions', LIST, [...opening, limit, offset])
  const [first] = rows
  const counted = first ?? (await state.pg.query<{ total: number }>('count_sessions', COUNT, opening)).rows[0]
  return { items: rows.map(({ total: _all, ...view }) => view), total: counted?.total ?? 0 }
}

const end = async (state: SessionState, account: string, sessionId: string): Promise<boolean> => {
  const values = [account, ...openAt(state, state.now()), sessionId]
  const { rows } = await state.pg.query('end_session', END, values)
  forget(state, sessionId)
  return rows.length === 1
}

export const makeSessions = (deps: SessionDeps): Sessions => {
  const { pg, publicUrl, now, nowMs, idleMs } = deps
  const keys = makeSessionKeys({ pg, now, nowMs, ring: deps.keys, lifetimeMs: SESSION_MS })
  const state: SessionState = { pg, publicUrl, now, nowMs, idleMs, keys, remembered: new Map() }
  return {
    keys,
    issue: (account, how, beginning) => issue(state, account, how, beginning),
    list: (account, page) => list(state, account, page),
    end: (account, sessionId) => end(state, account, sessionId),
    forget: (sessionId) => forget(state, sessionId),
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

type CallerDeps = { sessions: Pick<Sessions, 'verify' | 'forget'>; mirror: MirrorReader; nowMs: () => number }

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
      const { account, sessionId, email } = await sessions.verify(jwt)
      const isItsAddress = (one: AccountView) => email === null || email === one.email.toLowerCase()
      let profile = await profileOf(account)
      if (!isItsAddress(profile)) {
        // What is remembered may be the older of the two.
        profiles.delete(account)
        profile = await profileOf(account)
      }
      if (!isItsAddress(profile)) {
        // Whoever reads mail at the former address may not sign in any more. The controllers end it for good.
        sessions.forget(sessionId)
        return refuseCredential("The account's address changed; sign in again.")
      }
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
  ({ callerOf }: SessionCaller, publicUrl: string): ReadSession =>
  async ({ authorization, cookie }: CallerCredentials) => {
    const inCookie = () => cookieOf({ cookie }, sessionCookie(publicUrl))
    const jwt = authorization === undefined ? inCookie() : BEARER.exec(authorization)?.[1]
    return jwt ? callerOf(jwt) : undefined
  }
