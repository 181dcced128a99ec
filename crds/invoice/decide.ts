/** What was reported of an invoice → verdicts, with what is told when they are written. */
import type { ProblemCode } from '../problem.ts'
import { type Books, booksOf, type Ruling, ruleAll, type Standing } from './books.ts'
import { refundableCents } from './collect.ts'
import { type InvoiceEvent, invoiceEvent } from './events.ts'
import { isVoided, orderOf } from './order.ts'
import type { Payload } from './payload.ts'
import type { InvoiceResource } from './plan.ts'
import type { InvoiceWorld } from './world.ts'

/** How one pending fact ends. What is in `outcome` is kept with the fact; `event` is told in the same transaction. */
export type Verdict = { seq: number } & (
  | {
      accept: true
      outcome: Outcome | Partial<Pick<Outcome, 'amountCents'>> | { session: number } | null
      event: InvoiceEvent | null
    }
  | { accept: false; code: ProblemCode; detail: string }
)
/** The amount that was decided, and the order that it was decided on: from the first one on it is fixed. */
export type Outcome = { amountCents: number; order: Payload; isWhole?: true }

/** Null while nothing can be said: the invoice is being sent for the first time. */
export const standOf = (object: InvoiceResource, world: InvoiceWorld): Standing | null => {
  if (!world.record) return 'draft'
  if (isVoided(object.spec, world)) return 'voided'
  return world.sends.length > 0 ? 'open' : null
}

const NOTHING: Books = { totalCents: 0, paidCents: 0, creditedCents: 0 }

/** Verdicts on what is pending, in the order of its recording; empty when nothing is, or when it has to wait. */
export const verdictsOf = (object: InvoiceResource, world: InvoiceWorld): Verdict[] => {
  const standing = standOf(object, world)
  if (world.wishes.length === 0 || standing === null) return []
  const { spec } = object
  const order = orderOf(spec, world)
  const rulings = ruleAll(world.wishes, {
    books: order ? booksOf(order.totalCents, world) : NOTHING,
    standing,
    currency: order?.currency ?? spec.currency,
    number: world.record?.number ?? '',
    taxRateBp: spec.taxRateBp,
    sessions: world.collected.sessions,
    refundableCents: refundableCents(world),
  })
  return rulings.map((ruling) => verdictOf(object, world, order, ruling))
}

const verdictOf = (object: InvoiceResource, world: InvoiceWorld, order: Payload | null, ruling: Ruling): Verdict => {
  const { seq } = ruling
  if (!ruling.accept) return { seq, accept: false, code: ruling.code, detail: ruling.detail }
  if (!order || !world.record) throw new Error('money is accepted for a numbered order only')
  const { amountCents, isWhole, books, kind, settles } = ruling
  const outcome: Outcome = { amountCents, order, ...(isWhole && { isWhole }) }
  // by a credit note an invoice may be settled, but it is not paid by it; and money for a voided one is no payment of it
  if (kind !== 'payment' || !settles || isVoided(object.spec, world)) return { seq, accept: true, outcome, event: null }
  const stand = { number: world.record.number, issuerId: order.issuerId, currency: order.currency, books }
  return { seq, accept: true, outcome, event: invoiceEvent('invoice.paid', object, { ...stand, status: 'paid' }) }
}
