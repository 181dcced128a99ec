/** Messages of the card processor, believed by their signature over the raw body alone (rules/invoice.md#card-collection). */
import Stripe from 'stripe'

/** Wall time; signatures do not follow the platform's clock. */
const TOLERANCE_SECONDS = 300

/** The message is not signed by the processor, or too long ago. */
export class BadSignature extends Error {
  constructor(cause: unknown) {
    super('the signature does not fit the message', { cause })
    this.name = 'BadSignature'
  }
}

/** @returns the message of a body as it came in @throws BadSignature */
export type ReadCardEvent = (raw: Buffer, signature: string | undefined) => unknown

export const makeCardEvents =
  (secret: string): ReadCardEvent =>
  (raw, signature = '') => {
    try {
      return Stripe.webhooks.constructEvent(raw, signature, secret, TOLERANCE_SECONDS)
    } catch (error) {
      throw new BadSignature(error)
    }
  }
