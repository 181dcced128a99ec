/** `metadata.name` of an invoice, which is its REST id. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'

const HEX_DIGITS = 32 // 128 bits
const RANDOM_BYTES = HEX_DIGITS / 2

/** The name that an account's reference always leads to, so the API server itself makes a repeat an AlreadyExists. */
export const nameOf = ({ account, externalRef }: { account: string; externalRef: string }): string =>
  `inv-${createHash('sha256').update(`${account}\n${externalRef}`).digest('hex').slice(0, HEX_DIGITS)}`

/** A name for an invoice without a reference, from at least 16 random bytes. */
export const freshName = (random: Uint8Array): string => {
  assert(random.length >= RANDOM_BYTES, `a fresh name needs ${RANDOM_BYTES} random bytes`)
  return `inv-${Buffer.from(random).toString('hex').slice(0, HEX_DIGITS)}`
}
