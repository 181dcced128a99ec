/** What the controller has observed of the world around one invoice: rows of the ledger and the account it belongs to. */

import type { Scheduled } from '../schedule.ts'
import type { Wish } from './books.ts'
import type { Collected } from './collected.ts'
import type { Delivery } from './delivery.ts'
import type { Frozen, FrozenLogo } from './frozen.ts'
import type { Gate } from './gate.ts'
import type { Heard } from './heard.ts'
import type { Payload } from './payload.ts'
import type { Recurring } from './recurrence.ts'
import type { Chasing } from './reminders.ts'
import type { InvoiceItem } from './schema.ts'

/** An identity to invoice under. `address` holds lines divided by newlines; '' means not given. */
export type Issuer = {
  id: string
  legalName: string
  taxId: string
  address: string
  city: string
  postcode: string
  country: string
  email: string
  iban: string
  footer: string
  timeZone: string
  numberPrefix: string
  logo: FrozenLogo | null
}

/** The register's entry. `uids` are the resources that this invoice has been, the present one among them. */
export type InvoiceRecord = {
  number: string
  seriesId: string
  seq: number
  issuedAt: string
  uids: string[]
  claimed: Payload
}

/** The n-th send (from 1): its snapshot and what stood on it. */
export type SendRecord = { n: number; at: string; gate: Gate; sha256: string; bytes: number; frozen: Frozen }

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

/** Lists are in the order of their happening. Instants are ISO. */
export type InvoiceWorld = Heard & {
  account: { name: string; plan: string; email: string; rails?: readonly string[] } | null
  /** Null when this installation collects nothing by card. `livemode`: it moves real money. */
  processor: { livemode: boolean } | null
  /** Null when the issuer that the spec names (or the default) is not the account's, or is archived and nothing is numbered. */
  issuer: Issuer | null
  /** Whether clientEmail is the address of an account. */
  clientIsAccount: boolean
  record: InvoiceRecord | null
  /** Whether the first send has its place under the account's daily cap; what comes by REST takes it before. */
  hasPlace: boolean
  sends: SendRecord[]
  /** How many sends have been asked for beside the first. */
  resends: number
  payments: Payment[]
  credits: Credit[]
  snapshots: Snapshot[]
  /** What was reported and nobody has decided on yet. */
  wishes: Wish[]
  /** Checkout sessions and refunds at the card processor. */
  collected: Collected
  /** The order as it stood when the first money was recorded, or when it was voided; from then on it is fixed. */
  order: Payload | null
  deliveries: Delivery[]
  /** Purposes of mails to the client that failed for good, of which the owner was told. */
  undelivered: string[]
  /** How it stood when its resource was last deleted; null of one that never was. */
  returned: { createdAt: string; version: number } | null
  /** Drawings of this draft that somebody asked for and nobody made yet (preview.ts). */
  openPreviews: string[]
  chasing: Chasing
  recurring: Recurring
  /** What is to happen to it at which instant. */
  scheduled: Scheduled[]
  factSeq: number
  linkToken: string
  /** Without a slash at its end. */
  publicUrl: string
  /** The right-hand side of every Message-ID. */
  mailDomain: string
}
