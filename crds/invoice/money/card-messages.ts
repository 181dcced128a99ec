/** What a signed message of the card processor says of an invoice; messages of any other kind say nothing. */

import type { CardPayment, RefundState } from '../facts/collected.ts'

/** `invoice` and `account` as we gave them to the processor; the account is null where it is not repeated. */
type About = { invoice: string; account: string | null }
export type ProcessorEvent = About &
  (
    | { kind: 'paid'; card: CardPayment }
    | { kind: 'expired'; id: string }
    | { kind: 'refund'; refund: string; part: string; state: RefundState; reason: string | null }
  )

type Fields = Record<string, unknown>
const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)
/** A name, or the whole thing with its name in it. */
const idOf = (value: unknown): string | null => textOf(value) ?? textOf(fieldsOf(value).id)

const REFUND_STATES: Record<string, RefundState> = {
  pending: 'pending',
  requires_action: 'pending',
  succeeded: 'succeeded',
  failed: 'failed',
  canceled: 'failed',
}

const aboutOf = ({ metadata, client_reference_id }: Fields): About | null => {
  const { invoice_id, account } = fieldsOf(metadata)
  const invoice = textOf(invoice_id) ?? textOf(client_reference_id)
  return invoice === null ? null : { invoice, account: textOf(account) }
}

const paidOf = (session: Fields, livemode: boolean): ProcessorEvent | null => {
  const about = aboutOf(session)
  const [id, intent, currency] = [textOf(session.id), idOf(session.payment_intent), textOf(session.currency)]
  const { amount_total: units, payment_status } = session
  if (!about || !id || !intent || !currency || typeof units !== 'number' || payment_status !== 'paid') return null
  return { ...about, kind: 'paid', card: { session: id, intent, units, currency: currency.toUpperCase(), livemode } }
}

const expiredOf = (session: Fields): ProcessorEvent | null => {
  const about = aboutOf(session)
  const id = textOf(session.id)
  return about && id ? { ...about, kind: 'expired', id } : null
}

const refundOf = (refund: Fields): ProcessorEvent | null => {
  const about = aboutOf(refund)
  const id = textOf(refund.id)
  const part = textOf(fieldsOf(refund.metadata).part)
  const state = REFUND_STATES[textOf(refund.status) ?? '']
  if (!about || !id || !part || !state) return null
  return { ...about, kind: 'refund', refund: id, part, state, reason: textOf(refund.failure_reason) }
}

/** @param message the verified JSON of the processor's event  @returns null for what is not of ours, or of no interest */
export const processorEventOf = (message: unknown): ProcessorEvent | null => {
  const { type, data, livemode, account } = fieldsOf(message)
  // of an account that is connected to ours, so not of ours
  if (textOf(account) !== null) return null
  const object = fieldsOf(fieldsOf(data).object)
  switch (type) {
    case 'checkout.session.completed':
    case 'checkout.session.async_payment_succeeded':
      return paidOf(object, livemode === true)
    case 'checkout.session.expired':
      return expiredOf(object)
    case 'refund.created':
    case 'refund.updated':
    case 'refund.failed':
    case 'charge.refund.updated':
      return refundOf(object)
    default:
      return null
  }
}
