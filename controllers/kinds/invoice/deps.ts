/** What the Invoice's controller is given. Wired by hand in main.ts; tests hand in the same. */
import { INVOICE } from '../../../crds/invoice/kind.ts'
import { DEFAULT_ISSUER, type InvoiceSpec } from '../../../crds/invoice/schema.ts'
import type { InvoiceStep } from '../../../crds/invoice/steps.ts'
import type { InvoiceWorld } from '../../../crds/invoice/world.ts'
import type { Keys } from '../../base/keys.ts'
import type { Log } from '../../base/log.ts'
import type { Renderer } from '../../io/pdf/renderer.ts'
import type { Kube } from '../../kube/kube.ts'
import type { Blobs } from '../../store/blobs.ts'
import type { RequestCard } from '../../store/invoice/card-requests.ts'
import type { FreezeSend, InvoiceReader } from '../../store/invoice/look.ts'
import type { SendQuota } from '../../store/invoice/send-quota.ts'
import type { AskDeletion, Desires } from '../../store/ledger/desires.ts'
import type { Ledger } from '../../store/ledger/ledger.ts'
import type { FailedDrawing } from '../../store/ledger/quarantine.ts'
import type { Schedule } from '../../store/ledger/schedule.ts'
import type { Mirror } from '../../store/mirror.ts'
import type { Directory } from '../account-index.ts'
import type { Ahead } from './ahead.ts'
import type { Behind } from './behind.ts'

export type InvoiceDeps = {
  kube: Pick<Kube, 'create' | 'get' | 'delete'>
  ledger: Ledger
  schedule: Schedule
  mirror: Mirror
  desires: Pick<Desires, 'stored' | 'keep'>
  deletions: Pick<AskDeletion, 'ask'>
  blobs: Blobs
  read: InvoiceReader
  freezeSend: FreezeSend
  accounts: Directory
  keys: Keys
  sendQuota: SendQuota
  /** Where the ledger is behind the cluster. */
  behind: Pick<Behind, 'note' | 'forget' | 'ofAccount' | 'known' | 'keep'>
  pdf: Pick<Renderer, 'render'>
  /** Names of invoices a document of which could not be drawn: the next try holds up only its like. */
  suspects: Set<string>
  putOffDrawing: (failed: FailedDrawing) => Promise<void>
  ahead: Ahead
  /** So many passes run that each is slowed by the others. */
  isCrowded(): boolean
  requestCard: RequestCard
  /** Null when this installation collects nothing by card. */
  processor: InvoiceWorld['processor']
  publicUrl: string
  /** The right-hand side of every Message-ID. */
  mailDomain: string
  log: Pick<Log, 'warn'>
  now: () => Date
  /** Look at this resource. */
  wake(kind: string, name: string): void
  /** Something is due in the outbox. */
  onQueued(): void
  /** Something may be due in the schedule. */
  onScheduled(): void
}

/** Under which issuer it is looked at. */
export const issuerIn = ({ issuerId }: InvoiceSpec): string => issuerId ?? DEFAULT_ISSUER

/** Whose fact it is. */
export const factOf = ({ name }: { name: string }) => ({ resource: name, resourceKind: INVOICE.kind })

export type InvoiceStepOf<Do extends InvoiceStep['do']> = Extract<InvoiceStep, { do: Do }>
