/** What the ledger keeps of an invoice: its entry, its sends, its money, its documents. The store writes and reads these. */

import type { Frozen } from '../order/frozen.ts'
import type { Gate } from '../order/gate.ts'
import type { Payload } from '../order/payload.ts'
import type { InvoiceItem } from '../schema.ts'

/** The register's entry. `uids` are the resources that this invoice has been, the present one among them. */
export type InvoiceRecord = {
  number: string
  seriesId: string
  seq: number
  issuedAt: string
  uids: string[]
  /** With the account whose number it is. */
  claimed: Payload & { account?: string }
}

/**
 * The n-th send (from 1): its snapshot and what stood on it. The store reads `frozen` of the newest alone, and null for those
 * before it: a document that was sent fifty times would be megabytes in every pass (sql/functions/observe_resources.sql).
 */
export type SendRecord = { n: number; at: string; gate: Gate; sha256: string; bytes: number; frozen: Frozen | null }

export type NewestSend = SendRecord & { frozen: Frozen }

/** The last of them, with what stood on it; undefined while there is none. */
export const newestSend = (sends: readonly SendRecord[]): NewestSend | undefined => {
  const last = sends.at(-1)
  if (last === undefined) return undefined
  const { frozen } = last
  if (frozen === null) throw new Error(`the newest send, ${last.n}, was read without its document`)
  return { ...last, frozen }
}

export type Payment = {
  id: string
  /** Its place among the facts of the invoice. */
  seq: number
  amountCents: number
  method: string
  reference: string
  declaredBy: 'owner' | 'gateway'
  receivedAt: string
}

/** What was credited: of the whole invoice, of items, or of an amount. Its number and PDF follow in passes to come. */
export type Credit = {
  id: string
  seq: number
  amountCents: number
  /** Nothing had been credited before, and this credits all: the note shows the invoice's own lines. */
  isWhole: boolean
  items: InvoiceItem[] | null
  reason: string
  /** The money goes back the way it came, by card. */
  refund: boolean
  at: string
  /** Its entry in the register, when this very pass claimed it. */
  claimed?: { number: string; issuedAt: string }
}

/**
 * A document that was frozen because of what happened, beside the sends: the invoice stamped PAID or VOID, or a credit
 * note, whose `id` is that of the credit. `afterSends`: how often the invoice had been sent by then.
 */
export type Snapshot = {
  id: string
  kind: 'paid' | 'void' | 'credit_note'
  number: string
  afterSends: number
  sha256: string
  bytes: number
  at: string
}
