/** How one mail of an invoice fared. */

/**
 * - `queued`: not tried yet
 * - `deferred`: tried, and tried again at `nextAttemptAt`: the server said "later", or could not be reached
 * - `accepted`: the recipient's server has taken it
 * - `bounced`: the recipient's server refuses it for good
 * - `failed`: given up, by us or after the last try
 * - `unknown`: all was handed over and no answer came; it is repeated under the same Message-ID
 */
export const DELIVERY_STATES = ['queued', 'deferred', 'accepted', 'bounced', 'failed', 'unknown'] as const

export type MailDeliveryState = (typeof DELIVERY_STATES)[number]

/** One mail. `unknowns` of its `attempts` ended nobody knows how. Instants are ISO. */
export type MailDelivery = {
  purpose: string
  state: MailDeliveryState
  attempts: number
  unknowns: number
  lastError: string | null
  nextAttemptAt: string | null
  /** When it was decided that it goes out. */
  at: string
}
