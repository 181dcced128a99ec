/** What the controller has observed of the world around one invoice: rows of the ledger and the account it belongs to. */

import type { Scheduled } from '../kernel/schedule.ts'
import type { RecordedLinks } from '../values/links.ts'
import type { Collected } from './facts/collected.ts'
import type { MailDelivery } from './facts/deliveries.ts'
import type { Credit, InvoiceRecord, Payment, SendRecord, Snapshot } from './facts/ledger.ts'
import type { Recurring } from './facts/recurring.ts'
import type { Chasing } from './facts/reminded.ts'
import type { FactRequest } from './facts/requests.ts'
import type { RestoredTo } from './facts/restored.ts'
import type { InvoiceLink, InvoiceLinks } from './facts/versions.ts'
import type { ClientActivity } from './facts/visits.ts'
import type { FrozenLogo } from './order/frozen.ts'
import type { Payload } from './order/payload.ts'
import type { Undrawn } from './planning/undrawn.ts'

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

/** Lists are in the order of their happening. Instants are ISO. */
export type InvoiceWorld = ClientActivity & {
  account: { name: string; plan: string; email: string; rails?: readonly string[] } | null
  /** Null when this installation collects nothing by card. `livemode`: it moves real money. */
  processor: { livemode: boolean } | null
  /** Null when the issuer that the spec names (or the default) is not the account's, or is archived and nothing is numbered. */
  issuer: Issuer | null
  /** Whether clientEmail is the address of an account. */
  clientIsAccount: boolean
  record: InvoiceRecord | null
  /** Whether the first send has its place under the account's daily cap; what comes by REST takes it before. */
  hasQuota: boolean
  sends: SendRecord[]
  /** How many sends have been asked for beside the first. */
  resends: number
  payments: Payment[]
  credits: Credit[]
  snapshots: Snapshot[]
  /** What was reported and nobody has decided on yet. */
  requests: FactRequest[]
  /** Checkout sessions and refunds at the card processor. */
  collected: Collected
  /** The order as it stood when the first money was recorded, or when it was voided; from then on it is fixed. */
  order: Payload | null
  /**
   * An edit that had not been sent when the order was fixed, and has no effect; null where there was none. `edit` is null
   * when it broke a rule.
   */
  unsent: { edit: Payload | null } | null
  deliveries: MailDelivery[]
  /** Purposes of mails to the client that failed for good, of which the owner was told. */
  undelivered: string[]
  /** How it stood when its resource was last deleted; null of one that never was. */
  returned: { createdAt: string; version: number } | null
  /** How it stood when an older copy of the ledger was given back what its status knew; null where nothing was lost. */
  restored: RestoredTo | null
  /** Drawings of this draft that somebody asked for and nobody made yet (preview.ts). */
  openPreviews: string[]
  /** Tries to draw a document of it that came to nothing. */
  undrawn: Undrawn[]
  chasing: Chasing
  recurring: Recurring
  /** What is to happen to it at which instant. */
  scheduled: Scheduled[]
  factSeq: number
  /** That links were ended. */
  links: RecordedLinks<InvoiceLink>
  /** Which are good. */
  linkVersions: InvoiceLinks
  /** Of the good link. */
  linkToken: string
  /** Without a slash at its end. */
  publicUrl: string
  /** The right-hand side of every Message-ID. */
  mailDomain: string
}
