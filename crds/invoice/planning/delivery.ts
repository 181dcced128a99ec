/**
 * How the mails of an invoice fared, apart from how the invoice stands: what was taken by the recipient's mail server, what
 * is put off, what came back, and what nobody knows. Source: rules/invoice.md#delivery-of-mails.
 */
import type { MailDelivery, MailDeliveryState } from '../facts/deliveries.ts'
import { newestSend } from '../facts/ledger.ts'
import type { InvoiceSpec } from '../schema.ts'
import type { InvoiceWorld } from '../world.ts'

/** Mails to the account's owner about an invoice begin like this; all others go to its client. */
const OWNER = 'owner:'
export const ownerPurpose = (about: string): string => `${OWNER}${about}`

const isToClient = ({ purpose }: MailDelivery): boolean => !purpose.startsWith(OWNER)
export const clientDeliveries = ({ deliveries }: Pick<InvoiceWorld, 'deliveries'>): MailDelivery[] =>
  deliveries.filter(isToClient)

/** Given up for good: the client has not got this mail. */
export const hasFailed = ({ state }: MailDelivery): boolean => state === 'bounced' || state === 'failed'

/** Mails about one invoice to its client in a day (UTC): one an hour is more than anybody reads. */
export const CLIENT_MAILS_PER_DAY = 24

/** Whether the day's mails about this invoice are used up; whoever would write one more is refused RECIPIENT_CAP. */
export const isMailedOut = (world: Pick<InvoiceWorld, 'deliveries'>, now: Date): boolean => {
  const today = now.toISOString().slice(0, 10)
  return clientDeliveries(world).filter(({ at }) => at.slice(0, 10) === today).length >= CLIENT_MAILS_PER_DAY
}

export const recipientCapDetail = (number: string): string =>
  `${CLIENT_MAILS_PER_DAY} mails about ${number} went to its client today; the next can go from 00:00 UTC on`

export type DeliveryView = {
  state: 'none' | MailDeliveryState
  attempts: number
  last_error: string | null
  next_attempt_at: string | null
  /** Attempts of which nobody knows whether they arrived: the client may have the mail more than once. */
  unknown_attempts: number
  to: string | null
}

const NO_DELIVERY: DeliveryView = {
  state: 'none',
  attempts: 0,
  last_error: null,
  next_attempt_at: null,
  unknown_attempts: 0,
  to: null,
}

/** The newest mail to the client. */
export const viewDelivery = (spec: InvoiceSpec, world: InvoiceWorld | null): DeliveryView => {
  const last = world && clientDeliveries(world).at(-1)
  if (!last) return NO_DELIVERY
  const { state, attempts, lastError, nextAttemptAt, unknowns } = last
  const to = newestSend(world.sends)?.frozen.client.email || spec.clientEmail
  return {
    state,
    attempts,
    last_error: lastError,
    next_attempt_at: nextAttemptAt,
    unknown_attempts: unknowns,
    to: to ?? null,
  }
}
