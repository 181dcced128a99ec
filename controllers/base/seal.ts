/**
 * Sealing: what has to be stored and must not be readable in a copy of the database. Each value has a data key of its own
 * (AES-256-GCM), which is wrapped by the newest key of the ring (keyring.ts); what wrapped it stands at its head, so that SQL can
 * count what is under which key:
 *
 *   form 2 | id of the ring's key, 8 | length of the wrapped data key, 2 | it | nonce, 12 | tag, 16 | body
 *   form 1 | nonce, 12 | tag, 16 | body      under a key that follows from the purpose; still opens
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { deriveKey, KEY_ID_BYTES, KeyMissing, type KeyRing } from './keyring.ts'

const ALGORITHM = 'aes-256-gcm'
/** First byte of every sealed value. */
const PLAIN_FORM = 1
const WRAPPED_FORM = 2
const DATA_KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const LENGTH_BYTES = 2
/** What tells form and key: so many bytes of every sealed value. */
export const HEAD_BYTES = 1 + KEY_ID_BYTES

/** It was not sealed here, for this purpose and about this thing, or it was altered since. */
export class BadSeal extends Error {
  override name = 'BadSeal'
}

export type Sealer = {
  /** @param about what the value belongs to: it opens in no other place */
  seal(plain: Buffer, about: string): Buffer
  /** @throws BadSeal; KeyMissing where the ring does not hold what wrapped it */
  open(sealed: Buffer, about: string): Buffer
}

/** How everything begins that is sealed under this key of a ring. @param id hexadecimal */
export const headOf = (id: string): Buffer => Buffer.concat([Buffer.from([WRAPPED_FORM]), Buffer.from(id, 'hex')])

/** The key that a value says to be sealed under; null for one of form 1, which does not say. @param sealed its head is enough */
export const keyOfSealed = (sealed: Buffer): string | null =>
  sealed[0] === WRAPPED_FORM ? sealed.toString('hex', 1, HEAD_BYTES) : null

/** Nonce, tag and body. */
const encrypt = (key: Buffer, plain: Buffer, about: string): Buffer[] => {
  // Random nonces of 96 bits are sound for some 2^32 values under one key (NIST SP 800-38D, 8.3).
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(about))
  const body = [cipher.update(plain), cipher.final()]
  return [nonce, cipher.getAuthTag(), ...body]
}

const decrypt = (key: Buffer, text: Buffer, about: string): Buffer => {
  if (text.length < NONCE_BYTES + TAG_BYTES) throw new BadSeal('This is no sealed value')
  const opener = createDecipheriv(ALGORITHM, key, text.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
  opener.setAAD(Buffer.from(about)).setAuthTag(text.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
  try {
    return Buffer.concat([opener.update(text.subarray(NONCE_BYTES + TAG_BYTES)), opener.final()])
  } catch {
    throw new BadSeal('The seal does not hold')
  }
}

/** Under one key that is given, without a ring (form 1). @param key 32 bytes */
export const makePlainSealer = (key: Buffer, purpose: string): Sealer => {
  const own = deriveKey(key, `seal/${purpose}`)
  return {
    seal: (plain, about) => Buffer.concat([Buffer.from([PLAIN_FORM]), ...encrypt(own, plain, about)]),
    open: (sealed, about) => {
      if (sealed[0] !== PLAIN_FORM) throw new BadSeal('This is no sealed value')
      return decrypt(own, sealed.subarray(1), about)
    },
  }
}

/** By whichever of the keys sealed it: it does not say. */
const openPlain = (sealers: readonly Sealer[], sealed: Buffer, about: string): Buffer => {
  for (const sealer of sealers) {
    try {
      return sealer.open(sealed, about)
    } catch (error) {
      if (!(error instanceof BadSeal)) throw error
    }
  }
  throw new BadSeal('The seal does not hold')
}

const unwrapped = (ring: KeyRing, purpose: string, id: string, wrapped: Buffer): Buffer => {
  try {
    return ring.unwrap({ id, wrapped }, purpose)
  } catch (error) {
    if (error instanceof KeyMissing) throw error
    throw new BadSeal('The seal does not hold')
  }
}

/** @param purpose what is sealed for one opens for no other */
export const makeSealer = (ring: KeyRing, purpose: string): Sealer => {
  const plainSealers = ring.plainKeys.map((key) => makePlainSealer(key, purpose))
  return {
    seal: (plain, about) => {
      const dataKey = randomBytes(DATA_KEY_BYTES)
      const { id, wrapped } = ring.wrap(dataKey, purpose)
      const length = Buffer.alloc(LENGTH_BYTES)
      length.writeUInt16BE(wrapped.length)
      return Buffer.concat([headOf(id), length, wrapped, ...encrypt(dataKey, plain, about)])
    },
    open: (sealed, about) => {
      const id = keyOfSealed(sealed)
      if (id === null) return openPlain(plainSealers, sealed, about)
      const from = HEAD_BYTES + LENGTH_BYTES
      if (sealed.length < from) throw new BadSeal('This is no sealed value')
      const until = from + sealed.readUInt16BE(HEAD_BYTES)
      const dataKey = unwrapped(ring, purpose, id, sealed.subarray(from, until))
      return decrypt(dataKey, sealed.subarray(until), about)
    },
  }
}
