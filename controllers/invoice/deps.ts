/** What the Invoice's controller is given. Wired by hand in main.ts; tests hand in the same. */
import type { InvoiceStep } from '../../crds/invoice/plan.ts'
import type { InvoiceWorld } from '../../crds/invoice/world.ts'
import type { Directory } from '../directory.ts'
import type { Pdf } from '../io/pdf.ts'
import type { Blobs } from '../runtime/blobs.ts'
import type { CardAsks } from '../runtime/cardasks.ts'
import type { InvoiceReader } from '../runtime/issuers.ts'
import type { Keys } from '../runtime/keys.ts'
import type { Kube } from '../runtime/kube.ts'
import type { Ledger } from '../runtime/ledger.ts'
import type { Mirror } from '../runtime/mirror.ts'
import type { Schedule } from '../runtime/schedule.ts'
import type { Slots } from '../runtime/slots.ts'

export type InvoiceDeps = {
  kube: Pick<Kube, 'create' | 'get' | 'delete'>
  ledger: Ledger
  schedule: Schedule
  mirror: Mirror
  blobs: Blobs
  read: InvoiceReader
  accounts: Directory
  keys: Keys
  slots: Slots
  pdf: Pdf
  cardAsks: CardAsks
  /** Null when this installation collects nothing by card. */
  processor: InvoiceWorld['processor']
  publicUrl: string
  /** The right-hand side of every Message-ID. */
  mailDomain: string
  now: () => Date
  /** Something is due in the outbox. */
  onQueued(): void
  /** Something may be due in the schedule. */
  onScheduled(): void
}

export type Step<Do extends InvoiceStep['do']> = Extract<InvoiceStep, { do: Do }>
