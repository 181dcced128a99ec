/** What was reported of an invoice → verdicts, with what is told when they are written. */
import type { ProblemCode } from '../../kernel/problem.ts'
import { type InvoiceEvent, invoiceEvent } from '../events.ts'
import { type Books, booksOf, type Ruling, ruleAll, type Standing } from '../money/books.ts'
import { refundableCents } from '../money/collect.ts'
import { isVoided, orderOf, unsentOf } from '../order/order.ts'
import type { Payload } from '../order/payload.ts'
import type { InvoiceResource } from '../schema.ts'
import type { InvoiceWorld } from '../world.ts'

/** How one pending fact ends. What is in `outcome` is kept with the fact; `event` is told in the same transaction. */
export type RequestVerdict = { seq: number } & (
  | {
      accept: true
      outcome: FactOutcome | Partial<Pick<FactOutcome, 'amountCents'>> | { session: number } | null
      event: InvoiceEvent | null
    }
  | { accept: false; code: ProblemCode; detail: string }
)
/** The amount that was decided, and the order that it was decided on: from the first one on it is fixed. */
export type FactOutcome = {
  amountCents: number
  order: Payload
  isWhole?: true
  unsent?: NonNullable<InvoiceWorld['unsent']>
}

/** Null while nothing can be said: the invoice is being sent for the first time. */
export const standOf = (object: InvoiceResource, world: InvoiceWorld): Standing | null => {
  if (!world.record) return 'draft'
  if (isVoided(object.spec, world)) return 'voided'
  return world.sends.length > 0 ? 'open' : null
}

const NOTHING: Books = { totalCents: 0, paidCents: 0, creditedCents: 0 }

/** Verdicts on what is pending, in the order of its recording; empty when nothing is, or when it has to wait. */
export const verdictsOf = (object: InvoiceResource, world: InvoiceWorld): RequestVerdict[] => {
  const standing = standOf(object, world)
  if (world.requests.length === 0 || standing === null) return []
  const { spec } = object
  const order = orderOf(spec, world)
  const rulings = ruleAll(world.requests, {
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

const verdictOf = (
  object: InvoiceResource,
  world: InvoiceWorld,
  order: Payload | null,
  ruling: Ruling,
): RequestVerdict => {
  const { seq } = ruling
  if (!ruling.accept) return { seq, accept: false, code: ruling.code, detail: ruling.detail }
  if (!order || !world.record) throw new Error('money is accepted for a numbered order only')
  const { amountCents, isWhole, books, kind, settles } = ruling
  const unsent = unsentOf(object.spec, world)
  const outcome: FactOutcome = { amountCents, order, ...(isWhole && { isWhole }), ...(unsent && { unsent }) }
  // by a credit note an invoice may be settled, but it is not paid by it; and money for a voided one is no payment of it
  if (kind !== 'payment' || !settles || isVoided(object.spec, world)) return { seq, accept: true, outcome, event: null }
  const stand = { number: world.record.number, issuerId: order.issuerId, currency: order.currency, books }
  return { seq, accept: true, outcome, event: invoiceEvent('invoice.paid', object, { ...stand, status: 'paid' }) }
}
