/**
 * Who calls. A token is looked up by its id and compared in constant time; a good answer is remembered for ten
 * seconds under the hash of the whole token, so a revocation acts within that time everywhere (CONTRACT section 3).
 */
import { createHash } from 'node:crypto'
import type { MirrorReader } from '../controllers/runtime/mirror.ts'
import type { Pg } from '../controllers/runtime/pg.ts'
import type { AccountView } from '../crds/account/view.ts'
import type { Stage } from './exchange.ts'
import { Problem } from './problem.ts'
import { findToken, parseToken, secretMatches } from './tokens.ts'

const REMEMBER_MS = 10_000
const REMEMBER_MAX = 10_000

/** The caller of one request. `scopes` is null for full access: a legacy token, or a session. */
export type Caller = {
  account: string
  by: { kind: 'token' | 'session'; id: string }
  scopes: string[] | null
  profile: AccountView
}

export type Authenticate = (authorization: string | undefined) => Promise<Caller>

const refuse = (detail: string): never => {
  throw new Problem('UNAUTHENTICATED', detail, { headers: { 'www-authenticate': 'Bearer realm="bottega"' } })
}

/** Checks the Authorization header. Throws UNAUTHENTICATED with a WWW-Authenticate challenge (RFC 6750). */
export const makeAuthenticate = (deps: {
  pg: Pg
  mirror: MirrorReader
  serverKey: Buffer
  nowMs: () => number
}): Authenticate => {
  const remembered = new Map<string, { caller: Caller; untilMs: number }>()

  const look = async (token: string): Promise<Caller> => {
    const parts = parseToken(token) ?? refuse('The token is not of the form btg_<id>_<secret>.')
    const row = await findToken(deps.pg, parts.id)
    // A missing row is compared too, so that the time tells nothing about which ids exist.
    const good = secretMatches(deps.serverKey, parts.secret, row?.secretHash ?? Buffer.alloc(32))
    if (!row || !good || row.revokedAt !== null) return refuse('The token is unknown or revoked.')
    const account = await deps.mirror.get('Account', row.account)
    if (!account) return refuse('The account of this token does not exist.')
    return {
      account: row.account,
      by: { kind: 'token', id: row.id },
      scopes: null,
      profile: account.view as AccountView,
    }
  }

  return async (authorization) => {
    const token = /^Bearer ([^\s]{1,200})$/i.exec(authorization ?? '')?.[1]
    if (!token) return refuse('Send Authorization: Bearer <token>.')
    const hash = createHash('sha256').update(token).digest('base64')
    const known = remembered.get(hash)
    if (known && known.untilMs > deps.nowMs()) return known.caller
    const caller = await look(token)
    if (remembered.size >= REMEMBER_MAX) remembered.clear()
    remembered.set(hash, { caller, untilMs: deps.nowMs() + REMEMBER_MS })
    return caller
  }
}

/** The stage that finds out who calls. Public routes are served without looking. */
export const makeAuthentication =
  ({ authenticate }: { authenticate: Authenticate }): Stage =>
  async (exchange, next) => {
    if (exchange.route.scope.kind !== 'public') exchange.caller = await authenticate(exchange.headers.authorization)
    return next()
  }
