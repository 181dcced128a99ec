/**
 * Whether Pay now is offered on an invoice, and whether money that the card processor reports is booked
 * (rules/invoice.md#card-collection).
 */

import type { Fault, ProblemCode } from '../../kernel/problem.ts'
import { displayCents, processorUnits } from '../../values/money.ts'
import { refundingCents, unaskedCents } from '../facts/collected.ts'
import type { Credit, Payment } from '../facts/ledger.ts'
import { faultsOf } from '../faults.ts'
import { totalsOf } from '../order/totals.ts'
import type { InvoiceSpec } from '../schema.ts'
import type { InvoiceFacts } from '../status.ts'
import type { InvoiceWorld } from '../world.ts'

export const RAIL = 'stripe'

/** Why Pay now is not shown. The first four are settings; the others follow from the invoice. */
export const COLLECT_REASONS = [
  'SERVER_OFF',
  'ACCOUNT_OFF',
  'INVOICE_OFF',
  'TEST_INVOICE',
  'NOT_PAYABLE',
  'NOTHING_DUE',
  'CURRENCY_UNSUPPORTED_FOR_COLLECT',
] as const
export type CollectReason = (typeof COLLECT_REASONS)[number]

/** `enabled`: the settings allow it. `offered`: Pay now is shown. `reason`: why it is not; null when it is. */
export type Offer = { enabled: boolean; offered: boolean; reason: CollectReason | null }

type Setting = Pick<InvoiceSpec, 'test' | 'collect'>
type Around = {
  /** Null when this installation has no card processor. `livemode`: it moves real money. */
  processor: { livemode: boolean } | null
  account: { rails?: readonly string[] } | null
}

/** Why collection is off by its settings; null when it is on. A test invoice never asks for real money. */
export const collectOff = ({ test, collect }: Setting, { processor, account }: Around): CollectReason | null => {
  // first, so that the view always tells the owner's own request (crds/invoice/planning/restore.ts)
  if (collect?.enabled === false) return 'INVOICE_OFF'
  if (processor === null) return 'SERVER_OFF'
  if (!account?.rails?.includes(RAIL)) return 'ACCOUNT_OFF'
  return test && processor.livemode ? 'TEST_INVOICE' : null
}

type Stand = Pick<InvoiceFacts, 'phase' | 'balanceCents' | 'currency'>

/** How Pay now stands for an invoice that stands like this. */
export const offerOf = (spec: Setting, around: Around, { phase, balanceCents, currency = '' }: Stand): Offer => {
  const off = collectOff(spec, around)
  if (off !== null) return { enabled: false, offered: false, reason: off }
  const not = (reason: CollectReason): Offer => ({ enabled: true, offered: false, reason })
  if (phase === 'draft' || phase === 'voided' || balanceCents === undefined) return not('NOT_PAYABLE')
  if (balanceCents === 0) return not('NOTHING_DUE')
  if (processorUnits(balanceCents, currency) === null) return not('CURRENCY_UNSUPPORTED_FOR_COLLECT')
  return { enabled: true, offered: true, reason: null }
}

const OFF_WORDS: Partial<Record<CollectReason, string>> = {
  SERVER_OFF: 'this installation has no card processor',
  ACCOUNT_OFF: 'the seller has not switched card collection on',
  INVOICE_OFF: 'card collection is switched off for this invoice',
  TEST_INVOICE: 'a test invoice collects no real money',
}

/** The refusal of whoever wants to pay all the same. */
export const refusalOf = (reason: CollectReason, number: string, { balanceCents = 0, currency = '' }: Stand) => {
  const refuse = (code: ProblemCode, detail: string) => ({ code, detail })
  const off = OFF_WORDS[reason]
  if (off !== undefined) return refuse('COLLECT_OFF', off)
  if (reason === 'NOTHING_DUE') return refuse(reason, `nothing of ${number} is left to pay`)
  if (reason === 'NOT_PAYABLE') return refuse(reason, `${number === '' ? 'a draft' : number} asks for no money`)
  return refuse('CURRENCY_UNSUPPORTED_FOR_COLLECT', wholeDetail(balanceCents, currency))
}

const wholeDetail = (cents: number, currency: string): string =>
  `${displayCents(cents, currency)} is no whole unit of ${currency}, which a card is charged in`

/** Whether a card is to be charged for what is asked. */
const isCharged = (spec: InvoiceSpec, around: Around): boolean =>
  spec.send && !spec.void && spec.paid === undefined && collectOff(spec, around) === null

/** The faults of a spec. Where a card would be charged, an amount that its currency does not have bears the code of collecting. */
export const faultsAround = (spec: InvoiceSpec, around: Around): Fault[] =>
  faultsOf(spec).map((fault) =>
    fault.code === 'BAD_AMOUNT' && isCharged(spec, around)
      ? { ...fault, code: 'CURRENCY_UNSUPPORTED_FOR_COLLECT' }
      : fault,
  )

/** What forbids sending while collection is on: a total that no card can be charged. The spec has no other faults. */
export const collectFaults = (spec: InvoiceSpec, around: Around): Fault[] => {
  if (!isCharged(spec, around) || faultsOf(spec).length > 0) return []
  const { totalCents } = totalsOf(spec)
  if (processorUnits(totalCents, spec.currency) !== null) return []
  const detail = wholeDetail(totalCents, spec.currency)
  return [{ code: 'CURRENCY_UNSUPPORTED_FOR_COLLECT', pointer: '/items', detail }]
}

type Money = { payments: readonly Payment[]; credits: readonly Credit[]; collected: InvoiceWorld['collected'] }

/** What of the card payments is neither sent back nor promised to be. */
export const refundableCents = ({ payments, credits, collected: { refunds } }: Money): number => {
  const settled = payments.filter(({ declaredBy }) => declaredBy === 'gateway')
  const settledCents = settled.reduce((sum, { amountCents }) => sum + amountCents, 0)
  const promisedCents = credits.reduce((sum, credit) => sum + unaskedCents(credit, refunds), 0)
  return settledCents - refundingCents(refunds) - promisedCents
}
