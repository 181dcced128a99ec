/**
 * Signatures that anybody can check without us: Ed25519 over a text, as a compact JWS, and the public halves as a JWK set. The keys
 * follow from the roots (hack/docs/keys.md): nothing is stored, both processes have the same, and another root signs anew.
 * Source: RFC 7515 (JWS), RFC 8037 (EdDSA, OKP), RFC 7638 (thumbprints), RFC 5958 (private keys).
 */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'

/** What stands before the seed of an Ed25519 key in PKCS #8. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')
/** What the seeds are for, 32 bytes each: the first signs, and what any of them signed holds. */
export const STATEMENT_SEEDS = 'site statements'

export type StatementKey = { kty: 'OKP'; crv: 'Ed25519'; x: string; kid: string; use: 'sig'; alg: 'EdDSA' }

const privateOf = (seed: Buffer): KeyObject =>
  createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' })

const publicOf = (key: KeyObject): StatementKey => {
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' })
  const named = `{"crv":"Ed25519","kty":"OKP","x":"${x}"}`
  const kid = createHash('sha256').update(named).digest('base64url')
  return { kty: 'OKP', crv: 'Ed25519', x, kid, use: 'sig', alg: 'EdDSA' }
}

/** Those of all roots that were not retired, the one that signs first. */
export const statementKeys = (seeds: readonly Buffer[]): StatementKey[] =>
  seeds.map((seed) => publicOf(privateOf(seed)))

/** Always the same for the same text, until another root makes. */
export const signStatement = (seeds: readonly Buffer[], text: string): string => {
  const [seed] = seeds
  if (seed === undefined) throw new Error('there is no key to sign with')
  const key = privateOf(seed)
  const header = JSON.stringify({ alg: 'EdDSA', kid: publicOf(key).kid, typ: 'bottega-site+jws' })
  const signed = [header, text].map((part) => Buffer.from(part).toString('base64url')).join('.')
  return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`
}

const JWS_CHARS_MAX = 1_000_000
const JWS = /^[A-Za-z0-9_-]{1,400}\.([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]{86}$/

/** @returns what was signed; null when it is not by one of our keys */
export const verifyStatement = (seeds: readonly Buffer[], jws: string): string | null => {
  const payload = jws.length > JWS_CHARS_MAX ? undefined : JWS.exec(jws)?.[1]
  if (payload === undefined) return null
  const dot = jws.lastIndexOf('.')
  const [signed, signature] = [Buffer.from(jws.slice(0, dot)), Buffer.from(jws.slice(dot + 1), 'base64url')]
  // whatever its header says: there is one algorithm, and there are our keys
  const isOurs = seeds.some((seed) => verify(null, signed, createPublicKey(privateOf(seed)), signature))
  return isOurs ? Buffer.from(payload, 'base64url').toString('utf8') : null
}
