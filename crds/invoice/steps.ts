/** What a pass over an invoice may do, one effect a step. */

import type { Plan } from '../kernel/plan.ts'
import type { ProblemCode } from '../kernel/problem.ts'
import type { Scheduled, ScheduledEffect } from '../kernel/schedule.ts'
import type { InvoiceEvent } from './events.ts'
import type { InvoiceLinkStep } from './facts/links.ts'
import type { OwnerNotice } from './mail/owner.ts'
import type { DocumentLang, Frozen, FrozenDraft } from './order/frozen.ts'
import type { Gate } from './order/gate.ts'
import type { Series } from './order/number.ts'
import type { LaterEntry } from './order/numbering.ts'
import type { Payload } from './order/payload.ts'
import type { RequestVerdict as FactVerdict } from './planning/decide.ts'
import type { InvoiceSpec } from './schema.ts'
import type { InvoiceFacts } from './status.ts'
import type { InvoiceWorld } from './world.ts'

export type InvoiceStep =
  /** Writes how reported facts end, and what is told of it, in one transaction. */
  | { do: 'decide'; verdicts: FactVerdict[] }
  /** A place under the account's cap of sends a day, for what came by kubectl. Stalled when none is left. */
  | { do: 'reserveSend' }
  | { do: 'claimNumber'; series: Series; totalCents: number; currency: string; issuedAt: string; payload: Payload }
  /** The same manifest applied again after its resource was deleted: the record takes the new uid. */
  | { do: 'adopt'; uid: string }
  /** Receipt mode. Keyed `receipt`, so it is recorded once. */
  | { do: 'recordReceipt'; amountCents: number; method: string; reference: string }
  /** Records that links, or a password, were ended. */
  | InvoiceLinkStep
  | FreezeStep
  /** Decides on a request to send again: accepted with quota under the cap (a test needs none), refused without. */
  | { do: 'takeResend'; seq: number; n: number; isFree: boolean }
  | ClaimCreditStep
  | StampStep
  | AskStep
  | NotifyOwnerStep
  | RemindStep
  | RecurrenceStep
  | TimeStep
  /** Draws a draft that somebody wants to look at, and records what was drawn under the key of the request. */
  | { do: 'drawDraft'; key: string; draft: FrozenDraft }

export type InvoicePlan = Plan<InvoiceStep, InvoiceFacts>

/** What the payment worker is to have done, in the processor's units. Names no `n`: a mail's row does. */
export type ProcessorRequest =
  | {
      ask: 'open'
      session: number
      units: number
      currency: string
      number: string
      lang: DocumentLang
      email: string | null
      returnUrl: string
      account: string
    }
  | { ask: 'end'; session: number; id: string }
  | { ask: 'refund'; part: string; intent: string; units: number; account: string }

/** `messageId` is the processor's idempotency key: another ask under the same purpose is another key. */
export type AskStep = {
  do: 'askProcessor'
  fact: { key: string; kind: 'session' | 'ending' | 'refund'; body: Record<string, unknown> }
  messageId: string
  ask: ProcessorRequest
}

/** Records a fact with its event, queues a mail to the owner and gives a send's place back, all or nothing. */
export type NotifyOwnerStep = {
  do: 'notifyOwner'
  fact: { key: string; kind: 'undelivered'; body: Record<string, unknown>; event: InvoiceEvent } | null
  mail: { purpose: string; notice: OwnerNotice } | null
  /** The send whose place under the account's daily cap is free again. */
  giveBack: number | null
}

/** Kept with the fact, and answered by REST. */
export type RemindOutcome = { sent: boolean; to: string; step: 'manual'; reason?: string }

/** How a request for a reminder ends: given, not given for a reason that is told, or refused with a code. */
export type RemindStep = { do: 'remind'; seq: number } & (
  | { accept: true; outcome: RemindOutcome; mail: ScheduledEffect['mail'] | null }
  | { accept: false; code: ProblemCode; detail: string }
)

export type RecurrenceStep =
  /** Records since when it repeats on that day; null: it does not any more. */
  | { do: 'anchor'; n: number; day: number | null; from: string }
  /** Makes the invoice of one month, under a place of the cap where it is to be sent. */
  | { do: 'repeat'; period: string; on: string; name: string; spec: InvoiceSpec }

/** Takes the number of a credit note out of the register of its own. */
export type ClaimCreditStep = {
  do: 'claimCredit'
  id: string
  series: Series
  amountCents: number
  currency: string
  issuedAt: string
}

/**
 * Renders the PDF and stores send, mail, event, entry and what falls due because of it in one transaction. `mail` is null when
 * none goes out.
 */
export type FreezeStep = {
  do: 'freeze'
  n: number
  frozen: Frozen
  gate: Gate
  mail: 'invoice' | 'receipt' | null
  event: InvoiceEvent | null
  /** What the register is told of it beside the digest; null where nothing is amended. */
  entry: Omit<LaterEntry, 'reference'> | null
  /** All rows of the resource as they are to be from then on; left out where that is not known yet. */
  schedule?: Scheduled[]
}

/** Renders a document and stores it with the record of it, what is mailed, told and entered, in one transaction. */
export type StampStep = {
  do: 'stamp'
  /** Unique per invoice: `paid`, `void`, or the id of a credit. */
  id: string
  kind: 'paid' | 'void' | 'credit_note'
  frozen: Frozen
  afterSends: number
  /** The order that is fixed by it, and the edit that was not sent by then. */
  order: Payload
  unsent?: NonNullable<InvoiceWorld['unsent']>
  mail: 'receipt' | 'voided' | 'credited' | null
  event: InvoiceEvent | null
  entry: LaterEntry | null
}

export type TimeStep =
  /** The rows of the schedule as they are to be, all of the resource's. */
  | { do: 'schedule'; rows: Scheduled[] }
  /** Takes a test invoice away, with its documents. */
  | { do: 'purge' }
