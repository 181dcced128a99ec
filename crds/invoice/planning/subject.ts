/** One invoice in one pass, with what it is worth: most steps and every event are made from these four. */

import { type InvoiceEventType, invoiceEvent } from '../events.ts'
import { booksOf } from '../money/books.ts'
import type { Payload } from '../order/payload.ts'
import type { InvoiceResource } from '../schema.ts'
import type { InvoiceFacts } from '../status.ts'
import type { InvoiceWorld } from '../world.ts'

export type Subject = { object: InvoiceResource; world: InvoiceWorld; facts: InvoiceFacts; order: Payload }

/** The event of a numbered invoice as it stands in this pass. */
export const eventOf = (type: InvoiceEventType, { object, world, facts, order }: Subject) =>
  invoiceEvent(type, object, {
    number: world.record?.number ?? '',
    issuerId: order.issuerId,
    status: facts.phase,
    currency: order.currency,
    books: booksOf(order.totalCents, world),
  })
