/**
 * The keys of BOTTEGA_SECRET_KEY, the newest first: they wrap the data key of each sealed value (seal.ts) and do nothing else.
 * Each is known by an id that follows from it and tells nothing of it; whoever wraps names the id, so that several open side by
 * side and how far a change has come can be counted. A service that keeps keys of its own (KMS) would be another KeyRing.
 */
import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto'

/** Bytes of a key of the ring. */
export const RING_KEY_BYTES = 32
/** A change of keys needs two. */
export const RING_KEYS_MAX = 8
/** Of an id; shown as hexadecimal digits. */
export const KEY_ID_BYTES = 8
/** AES key wrap: deterministic, for what is random, so that no nonce can repeat. Source: RFC 3394; NIST SP 800-38F. */
const WRAP = 'id-aes256-wrap'
const WRAP_IV = Buffer.alloc(8, 0xa6)

export type Wrapped = { id: string; wrapped: Buffer }

export type KeyRing = {
  /** Hexadecimal; the first one wraps. */
  ids: readonly string[]
  /** @param purpose what is wrapped for one opens for no other */
  wrap(dataKey: Buffer, purpose: string): Wrapped
  /** @throws KeyMissing, or Error where it was altered or is for another purpose */
  unwrap(wrapped: Wrapped, purpose: string): Buffer
  /** Those that may have sealed values before there were data keys (form 1); none for a ring that keeps its keys elsewhere. */
  plainKeys: readonly Buffer[]
}

/** What is wanted was wrapped by a key that this ring does not hold. */
export class KeyMissing extends Error {
  override name = 'KeyMissing'
  readonly id: string
  constructor(id: string) {
    super(`the key ${id} is not in BOTTEGA_SECRET_KEY`)
    this.id = id
  }
}

/** A key of its own for one purpose; 32 bytes. */
export const deriveKey = (key: Buffer, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', key, '', `bottega/${purpose}`, 32))

/** By what a key is known; it tells nothing of it. */
export const keyIdOf = (key: Buffer): string => deriveKey(key, 'key-id').toString('hex', 0, KEY_ID_BYTES)

/** Keys in base64, separated by commas or lines; undefined unless all are sound, and each stands once. */
export const parseRingKeys = (text: string): Buffer[] | undefined => {
  const parts = text.split(/[\s,]+/).filter((one) => one !== '')
  const keys = parts.map((one) => Buffer.from(one, 'base64'))
  const areKeys = parts.every((one, n) => /^[A-Za-z0-9+/]+={0,2}$/.test(one) && keys[n]?.length === RING_KEY_BYTES)
  const isOnceEach = new Set(keys.map(keyIdOf)).size === keys.length
  return areKeys && isOnceEach && keys.length >= 1 && keys.length <= RING_KEYS_MAX ? keys : undefined
}

/** What is asked for again and again is derived once. */
const makeDerived = (key: Buffer): ((purpose: string) => Buffer) => {
  const known = new Map<string, Buffer>()
  return (purpose) => {
    const found = known.get(purpose) ?? deriveKey(key, purpose)
    known.set(purpose, found)
    return found
  }
}

/** @param keys at least one, each of 32 bytes, the newest first */
export const makeKeyRing = (keys: readonly Buffer[]): KeyRing => {
  const held = new Map(keys.map((key) => [keyIdOf(key), makeDerived(key)]))
  const [[newestId, newest] = []] = held
  if (newestId === undefined || newest === undefined) throw new Error('a ring has at least one key')
  return {
    ids: [...held.keys()],
    plainKeys: keys,
    wrap(dataKey, purpose) {
      const cipher = createCipheriv(WRAP, newest(`wrap/${purpose}`), WRAP_IV)
      return { id: newestId, wrapped: Buffer.concat([cipher.update(dataKey), cipher.final()]) }
    },
    unwrap({ id, wrapped }, purpose) {
      const key = held.get(id)
      if (!key) throw new KeyMissing(id)
      const opener = createDecipheriv(WRAP, key(`wrap/${purpose}`), WRAP_IV)
      return Buffer.concat([opener.update(wrapped), opener.final()])
    },
  }
}
