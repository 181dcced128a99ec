/**
 * The two signatures of a delivery, from one secret (rules/webhook.md#signature): ours (`X-Service-Signature`) and that
 * of Standard Webhooks 1.0.0. Ours keys with the whole text `whsec_…`, Standard Webhooks with the bytes it stands for.
 */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'

export const SECRET_PREFIX = 'whsec_'
export const SECRET_BYTES = 32
/** What `secretOf` gives: the prefix, and 32 bytes in padded base64 of the standard alphabet. */
export const SECRET_PATTERN = '^whsec_[A-Za-z0-9+/]{43}=$'
/** How far a receiver's clock may be from the time that was signed (rules/webhook.md#signature). */
export const TOLERANCE_SECONDS = 300

export const SERVICE_HEADER = 'x-service-signature'
export const ID_HEADER = 'webhook-id'
export const TIMESTAMP_HEADER = 'webhook-timestamp'
export const STANDARD_HEADER = 'webhook-signature'

/** @param bytes 32 random ones */
export const secretOf = (bytes: Buffer): string => `${SECRET_PREFIX}${bytes.toString('base64')}`

/** One secret as both schemes key with it. */
type Keys = { service: KeyObject; standard: KeyObject }

const keysOf = (secret: string): Keys => ({
  service: createSecretKey(secret, 'utf8'),
  standard: createSecretKey(secret.slice(SECRET_PREFIX.length), 'base64'),
})

/** `id` holds no dot and stays the same over all attempts; `at` is the attempt's; the body's bytes are its UTF-8. */
export type SignedDelivery = { id: string; body: string; at: Date }
export type SignatureHeaders = {
  [SERVICE_HEADER]: string
  [ID_HEADER]: string
  [TIMESTAMP_HEADER]: string
  [STANDARD_HEADER]: string
}
export type Signer = (delivery: SignedDelivery) => SignatureHeaders

/**
 * Decodes the keys once; what it gives signs any number of deliveries. Standard Webhooks signs `id.t.body`, ours
 * `t.body`: the end of the same bytes, so that the body is encoded once.
 * @param secrets newest first; during a rotation both sign (rules/webhook.md#rotation)
 */
export const makeSigner = (secrets: readonly string[]): Signer => {
  const keys = secrets.map(keysOf)
  return ({ id, body, at }) => {
    const t = String(Math.floor(at.getTime() / 1000))
    const signed = Buffer.from(`${id}.${t}.${body}`)
    const timed = signed.subarray(Buffer.byteLength(id) + 1)
    let service = `t=${t}`
    let standard = ''
    for (const key of keys) {
      service += `,v1=${createHmac('sha256', key.service).update(timed).digest('hex')}`
      standard += `${standard === '' ? '' : ' '}v1,${createHmac('sha256', key.standard).update(signed).digest('base64')}`
    }
    return {
      [SERVICE_HEADER]: service,
      [ID_HEADER]: id,
      [TIMESTAMP_HEADER]: t,
      [STANDARD_HEADER]: standard,
    }
  }
}

/** The same for one delivery. */
export const signatureHeaders = ({
  secrets,
  ...delivery
}: SignedDelivery & { secrets: readonly string[] }): SignatureHeaders => makeSigner(secrets)(delivery)

/** Whether two digests, as text, are one; takes as long wherever they differ. */
export const isSameDigest = (one: string, other: string): boolean => {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
