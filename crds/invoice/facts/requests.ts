/** What was reported or asked of an invoice and waits for the controllers to decide. */

import type { InvoiceItem } from '../schema.ts'
import type { CardPayment } from './collected.ts'

/** Something that was reported and is not decided yet. `amountCents` null: all that is left. */
export type FactRequest = { seq: number; id: string } & (
  | { kind: 'payment'; amountCents: number | null; card?: CardPayment }
  | { kind: 'credit'; amountCents: number | null; items: InvoiceItem[] | null; refund: boolean }
  | { kind: 'send' }
)
