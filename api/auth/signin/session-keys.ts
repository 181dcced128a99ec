/**
 * The keys that sign sessions: Ed25519, made here, kept in PostgreSQL under seal. A new key is
 * published before it signs, and an old one verifies until the last session that it signed is over: a rotation is
 * noticed by nobody, whatever number of processes runs.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import type { Keys } from '../../../controllers/base/keys.ts'
import type { Sealer } from '../../../controllers/base/seal.ts'
import type { Pg, Query } from '../../../controllers/store/pg/pg.ts'

const minute = 60_000
const day = 24 * 60 * minute
/** A key signs for so long; then the next process that issues a session makes another. */
export const ROTATE_AFTER_MS = 30 * day
/** A new key is known everywhere before it signs: longer than any process keeps what it read. */
export const PUBLISH_MS = 5 * minute
const REREAD_MS = minute
/** An unknown key id makes us look again, but not more often: anybody can make up ids. */
const REREAD_UNKNOWN_MS = 1_000

export type PublicJwk = { kty: 'OKP'; crv: 'Ed25519'; x: string; kid: string; alg: 'EdDSA'; use: 'sig' }
type Row = { kid: string; publicJwk: PublicJwk; sealed: Buffer; signsFrom: string; verifiesUntil: string | null }
type Known = {
  kid: string
  publicKey: KeyObject
  publicJwk: PublicJwk
  sealed: Buffer
  fromMs: number
  untilMs: number
}

export type SessionKeys = {
  /** The key that signs now. Makes the first one, and the next one when it is time. */
  signer(): Promise<{ kid: string; key: KeyObject }>
  /** The key of that id, if it may still verify. */
  verifier(kid: string): Promise<KeyObject | null>
  /** All that may verify, for others to check our sessions by (JWKS, RFC 7517). */
  published(): Promise<PublicJwk[]>
  /** Makes another key now, which signs once it has been published long enough. Gives its id. */
  rotate(): Promise<string>
}

const LOCK = 7_106_001
const LIST = `
select kid, public_jwk as "publicJwk", sealed, signs_from as "signsFrom", verifies_until as "verifiesUntil"
from session_keys where verifies_until is null or verifies_until > $1 order by signs_from desc, kid`
const INSERT = 'insert into session_keys (kid, public_jwk, sealed, created_at, signs_from) values ($1, $2, $3, $4, $5)'

const freshKey = () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const { x = '', d = '' } = privateKey.export({ format: 'jwk' })
  const kid = randomBytes(12).toString('base64url')
  const publicJwk: PublicJwk = { kty: 'OKP', crv: 'Ed25519', x, kid, alg: 'EdDSA', use: 'sig' }
  return { kid, publicKey, publicJwk, secret: Buffer.from(d, 'base64url') }
}

const asKnown = ({ kid, publicJwk, sealed, signsFrom, verifiesUntil }: Row): Known => {
  const { x } = publicJwk
  const publicKey = createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x } })
  const untilMs = verifiesUntil === null ? Number.POSITIVE_INFINITY : Date.parse(verifiesUntil)
  return { kid, publicKey, publicJwk, sealed, fromMs: Date.parse(signsFrom), untilMs }
}

type SessionKeyDeps = {
  pg: Pg
  /** What seals the private halves. */
  ring: Pick<Keys, 'sealer'>
  now: () => Date
  nowMs: () => number
  /** How long a session lasts; a key that was replaced verifies for as long. */
  lifetimeMs: number
}

/** What was read of the keys, and when. */
type KeyState = Omit<SessionKeyDeps, 'ring'> & {
  sealer: Sealer
  /** By id, the newest first. */
  known: Map<string, Known>
  readAtMs: number
  reading: Promise<void> | undefined
  signing: { kid: string; key: KeyObject } | undefined
}

const read = async (state: KeyState): Promise<void> => {
  const { rows } = await state.pg.query<Row>('session_keys', LIST, [state.now().toISOString()])
  state.known = new Map(rows.map((row) => [row.kid, asKnown(row)]))
  state.readAtMs = state.nowMs()
}

const reread = async (state: KeyState, afterMs: number): Promise<void> => {
  if (state.nowMs() - state.readAtMs < afterMs) return
  state.reading ??= read(state).finally(() => {
    state.reading = undefined
  })
  await state.reading
}

const current = ({ known, now }: KeyState): Known | undefined => {
  const all = [...known.values()]
  // Clocks differ by moments: the first key of all signs also where it lies a little ahead.
  return all.find(({ fromMs }) => fromMs <= now().getTime()) ?? all.at(-1)
}

const insert = async ({ sealer, lifetimeMs }: KeyState, query: Query, at: number, fromMs: number): Promise<string> => {
  const { kid, publicJwk, secret } = freshKey()
  const untilMs = fromMs + lifetimeMs + PUBLISH_MS
  await query('retire_session_keys', 'update session_keys set verifies_until = $1 where verifies_until is null', [
    new Date(untilMs).toISOString(),
  ])
  const [createdAt, signsFrom] = [new Date(at).toISOString(), new Date(fromMs).toISOString()]
  const values = [kid, JSON.stringify(publicJwk), sealer.seal(secret, kid), createdAt, signsFrom]
  await query('insert_session_key', INSERT, values)
  return kid
}

/** One process at a time. `ifOlderThanMs`: somebody else may just have made one. */
const make = (state: KeyState, ifOlderThanMs: number): Promise<string> =>
  state.pg.tx(async (query: Query) => {
    await query('lock_session_keys', 'select pg_advisory_xact_lock($1)', [LOCK])
    const { rows } = await query<Row>('session_keys', LIST, [state.now().toISOString()])
    const at = state.now().getTime()
    const last = rows[0]
    if (last && at - Date.parse(last.signsFrom) < ifOlderThanMs) return last.kid
    // The first key signs at once: there is nobody who knows another.
    return insert(state, query, at, last ? at + PUBLISH_MS : at)
  })

const open = ({ sealer }: KeyState, { kid, publicJwk: { x }, sealed }: Known) => {
  const d = sealer.open(sealed, kid).toString('base64url')
  return { kid, key: createPrivateKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x, d } }) }
}

const signer = async (state: KeyState): Promise<{ kid: string; key: KeyObject }> => {
  await reread(state, REREAD_MS)
  const newest: Known | undefined = state.known.values().next().value
  if (!newest || state.now().getTime() - newest.fromMs > ROTATE_AFTER_MS) {
    await make(state, ROTATE_AFTER_MS)
    await read(state)
  }
  const key = current(state)
  if (!key) throw new Error('no key signs sessions yet')
  const signing = state.signing?.kid === key.kid ? state.signing : open(state, key)
  state.signing = signing
  return signing
}

const verifier = async (state: KeyState, kid: string): Promise<KeyObject | null> => {
  await reread(state, REREAD_MS)
  if (!state.known.has(kid)) await reread(state, REREAD_UNKNOWN_MS)
  const key = state.known.get(kid)
  return key && key.untilMs > state.now().getTime() ? key.publicKey : null
}

export const makeSessionKeys = ({ ring, ...deps }: SessionKeyDeps): SessionKeys => {
  const state: KeyState = {
    ...deps,
    sealer: ring.sealer('session-keys'),
    known: new Map(),
    readAtMs: Number.NEGATIVE_INFINITY,
    reading: undefined,
    signing: undefined,
  }
  return {
    signer: () => signer(state),
    verifier: (kid) => verifier(state, kid),
    published: async () => {
      await reread(state, REREAD_MS)
      return [...state.known.values()].map(({ publicJwk }) => publicJwk)
    },
    rotate: async () => {
      const kid = await make(state, 0)
      await read(state)
      return kid
    },
  }
}
