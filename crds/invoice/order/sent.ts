/** What the client has: the document of the last send. Reminders, receipts and lateness go by it, whatever was edited since. */
import { newestSend } from '../facts/ledger.ts'
import type { InvoiceSpec } from '../schema.ts'
import type { InvoiceWorld } from '../world.ts'
import type { Frozen } from './frozen.ts'

type Sends = Pick<InvoiceWorld, 'sends'>

export const sentOf = ({ sends }: Sends): Frozen | undefined => newestSend(sends)?.frozen

/** Whom the last send went to; '' when nobody. */
export const recipientOf = (world: Sends): string => sentOf(world)?.client.email ?? ''

/** The document's own due date once it was sent, else the one that is asked for. */
export const dueDateOf = (spec: InvoiceSpec, world: Sends): string | undefined => {
  const sent = sentOf(world)
  return sent ? (sent.dueDate ?? undefined) : spec.dueDate
}
