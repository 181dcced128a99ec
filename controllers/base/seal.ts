/**
 * Sealing: what has to be stored and must not be readable in a copy of the database. AES-256-GCM under a key that is
 * derived from the server key (HKDF-SHA256), one for each purpose.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

const ALGORITHM = 'aes-256-gcm'
/** First byte of every sealed value, so that another way of sealing can come later. */
const FORM = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16
const HEAD_BYTES = 1 + NONCE_BYTES

/** It was not sealed here, for this purpose and about this thing, or it was altered since. */
export class BadSeal extends Error {
  override name = 'BadSeal'
}

export type Sealer = {
  /** @param about what the value belongs to: it opens in no other place */
  seal(plain: Buffer, about: string): Buffer
  /** @throws BadSeal */
  open(sealed: Buffer, about: string): Buffer
}

/** A key of its own for one purpose; 32 bytes. */
export const deriveKey = (serverKey: Buffer, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', serverKey, '', `bottega/${purpose}`, 32))

/** @param serverKey 32 bytes (BOTTEGA_SECRET_KEY) */
export const makeSealer = (serverKey: Buffer, purpose: string): Sealer => {
  const key = deriveKey(serverKey, `seal/${purpose}`)
  return {
    seal: (plain, about) => {
      // Random nonces of 96 bits are sound for some 2^32 values under one key (NIST SP 800-38D, 8.3).
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(about))
      const body = Buffer.concat([cipher.update(plain), cipher.final()])
      return Buffer.concat([Buffer.from([FORM]), nonce, cipher.getAuthTag(), body])
    },
    open: (sealed, about) => {
      if (sealed.length < HEAD_BYTES + TAG_BYTES || sealed[0] !== FORM) throw new BadSeal('This is no sealed value')
      const tag = sealed.subarray(HEAD_BYTES, HEAD_BYTES + TAG_BYTES)
      const opener = createDecipheriv(ALGORITHM, key, sealed.subarray(1, HEAD_BYTES), { authTagLength: TAG_BYTES })
      opener.setAAD(Buffer.from(about)).setAuthTag(tag)
      try {
        return Buffer.concat([opener.update(sealed.subarray(HEAD_BYTES + TAG_BYTES)), opener.final()])
      } catch {
        throw new BadSeal('The seal does not hold')
      }
    },
  }
}
