/** What the client did on the page, decided: first looks, and claims of payment. */

import { booksOf } from '../money/books.ts'
import { ruleClaim } from '../money/claim.ts'
import { orderOf } from '../order/order.ts'
import type { InvoiceResource } from '../schema.ts'
import type { InvoiceFacts } from '../status.ts'
import type { InvoiceWorld } from '../world.ts'
import { type RequestVerdict, standOf } from './decide.ts'
import { eventOf, type Subject } from './subject.ts'

/** In the order of their making, each seeing those before it. */
export const claimVerdicts = (subject: Subject, standing: 'open' | 'voided'): RequestVerdict[] => {
  const { world, order } = subject
  const claims = [...world.claims]
  const asked = {
    books: booksOf(order.totalCents, world),
    standing,
    currency: order.currency,
    number: world.record?.number ?? '',
  }
  return world.pendingClaims.map((pending): RequestVerdict => {
    const { seq, id, paidOn } = pending
    const ruled = ruleClaim(pending, { ...asked, claims })
    if ('code' in ruled) return { seq, accept: false, ...ruled }
    const { amountCents } = ruled
    claims.push({ ...pending, amountCents, at: '' })
    const event = eventOf('invoice.payment_claimed', subject)
    const claim = { id, amount_cents: amountCents, paid_on: paidOn }
    return { seq, accept: true, outcome: { amountCents }, event: { ...event, data: { ...event.data, claim } } }
  })
}

/** Empty when there is nothing to decide, or when the invoice is still being sent for the first time. */
export const activityVerdicts = (
  object: InvoiceResource,
  world: InvoiceWorld,
  facts: InvoiceFacts,
): RequestVerdict[] => {
  if (world.pendingClaims.length === 0 && world.pendingViews.length === 0) return []
  const standing = standOf(object, world)
  const order = orderOf(object.spec, world)
  if (standing === null || standing === 'draft' || order === null) return []
  const subject = { object, world, facts, order }
  const views = world.pendingViews.map(
    ({ seq }): RequestVerdict => ({ seq, accept: true, outcome: {}, event: eventOf('invoice.viewed', subject) }),
  )
  return [...views, ...claimVerdicts(subject, standing)]
}
