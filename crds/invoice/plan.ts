/**
 * What is to be done about an invoice: decide on what was reported, claim its number, freeze its documents, and what to say
 * of it. Pure: looks at nothing and does nothing (DESIGN section 1). Each pass plans the next steps from what is on record
 * alone, so it does not matter after which of them the process was killed.
 */
import { displayCents } from '../money.ts'
import type { Resource } from '../object.ts'
import { type Plan, ready, stalled, type Verdict, waiting } from '../plan.ts'
import type { ProblemCode } from '../problem.ts'
import { booksOf, dueCents } from './books.ts'
import { collectFaults, collectOff } from './collect.ts'
import { type AskStep, collectSteps, collectVerdicts } from './collectplan.ts'
import { type Verdict as FactVerdict, verdictsOf } from './decide.ts'
import type { InvoiceEvent } from './events.ts'
import { documentFacts, type InvoiceFacts } from './facts.ts'
import { faultsOf } from './faults.ts'
import { draftOf } from './freeze.ts'
import type { Frozen, FrozenDraft } from './frozen.ts'
import type { Gate } from './gate.ts'
import { heardVerdicts } from './heard.ts'
import type { Series } from './number.ts'
import { issuerIdOf, isVoided, type Locked, lockOf, orderOf } from './order.ts'
import type { Payload } from './payload.ts'
import type { RecurrenceStep } from './recurrence.ts'
import type { RemindStep } from './reminders.ts'
import { planReturned } from './returned.ts'
import type { InvoiceSpec, InvoiceStatus } from './schema.ts'
import { claimOf, resendSteps, sendSteps } from './send.ts'
import { type ClaimCreditStep, creditSteps, paidSteps, type StampStep, voidSteps } from './stamp.ts'
import { type TellStep, tellSteps } from './tell.ts'
import { inTime, type TimeStep } from './timed.ts'
import type { InvoiceRecord, InvoiceWorld } from './world.ts'

export type InvoiceResource = Resource<InvoiceSpec, InvoiceStatus>

export type InvoiceStep =
  /** Writes how reported facts end, and what is told of it, in one transaction. */
  | { do: 'decide'; verdicts: FactVerdict[] }
  /** A place under the account's cap of sends a day, for what came by kubectl. Stalled when none is left. */
  | { do: 'takePlace' }
  | { do: 'claimNumber'; series: Series; totalCents: number; currency: string; issuedAt: string; payload: Payload }
  /** The same manifest applied again after its resource was deleted: the record takes the new uid. */
  | { do: 'adopt'; uid: string }
  /** Receipt mode. Keyed `receipt`, so it is recorded once. */
  | { do: 'recordReceipt'; amountCents: number; method: string; reference: string }
  /** Renders the PDF and stores snapshot, mail and event in one transaction. `mail` is null when none goes out. */
  | { do: 'freeze'; n: number; frozen: Frozen; gate: Gate; mail: 'invoice' | 'receipt' | null; event: InvoiceEvent }
  /** Decides on a wish to send again: accepted with a place under the cap (a test needs none), refused without. */
  | { do: 'takeResend'; seq: number; n: number; isFree: boolean }
  | ClaimCreditStep
  | StampStep
  | AskStep
  | TellStep
  | RemindStep
  | RecurrenceStep
  | TimeStep
  /** Draws a draft that somebody wants to look at, and records what was drawn under the key of the wish. */
  | { do: 'drawDraft'; key: string; draft: FrozenDraft }

export type InvoicePlan = Plan<InvoiceStep, InvoiceFacts>

/** How often an unknown account is looked for, beside being woken when it appears. */
const ACCOUNT_RETRY_MS = 60_000

/** @param object out of the cache, treated as frozen  @param now the platform's clock */
export const planInvoice = (object: InvoiceResource, world: InvoiceWorld, now: Date): InvoicePlan =>
  inTime(object, world, now, planAsked(object, world, now))

/** What the spec and the facts ask for. */
const planAsked = (object: InvoiceResource, world: InvoiceWorld, now: Date): InvoicePlan => {
  const { spec, metadata } = object
  if (world.record && !world.record.uids.includes(metadata.uid)) return planReturned(object, world, world.record, now)
  const fault = faultsOf(spec)[0]
  const locked = lockedBy(spec, world)
  const facts = {
    ...documentFacts(spec, world, now, { isLocked: locked !== null }),
    ...(collectOff(spec, world) === null && { collect: true }),
  }
  const passing = { object, world, facts, now }

  const reported = [...verdictsOf(object, world), ...collectVerdicts(passing)]
  const verdicts = reported.length > 0 ? reported : heardVerdicts(object, world, facts)
  if (verdicts.length > 0) {
    return waits(facts, ['Deciding', 'decides on what was recorded'], [{ do: 'decide', verdicts }])
  }
  const telling = tellSteps(object, world, facts)
  if (telling.length > 0) return waits(facts, ['Telling', 'tells its owner'], telling)
  if (locked !== null) return stops(facts, locked.code, locked.detail)
  if (world.record && isVoided(spec, world)) return voided(passing, world.record)
  if (spec.void) return stops(facts, 'NOT_NUMBERED', '/void a draft has no number to keep; delete it instead')
  if (fault) return stops(facts, fault.code, `${fault.pointer} ${fault.detail}`)
  if (!world.account) {
    const message = `account ${spec.account} does not exist; create it, or delete this invoice`
    return { steps: [], status: facts, verdict: waiting('AccountMissing', message, ACCOUNT_RETRY_MS) }
  }
  return world.record ? numbered(passing, world.record) : unnumbered(passing)
}

type Passing = { object: InvoiceResource; world: InvoiceWorld; facts: InvoiceFacts; now: Date }

const waits = (status: InvoiceFacts, [reason, message]: [string, string], steps: InvoiceStep[]): InvoicePlan => ({
  steps,
  status,
  verdict: waiting(reason, message),
})
const stops = (status: InvoiceFacts, code: ProblemCode, detail: string): InvoicePlan => ({
  steps: [],
  status,
  verdict: stalled(code, `${code}: ${detail}`),
})
const unknownIssuer = ({ object: { spec }, world, facts }: Passing): InvoicePlan =>
  stops(facts, 'BAD_ISSUER', `/issuerId ${issuerIdOf(spec, world)} is no issuer of account ${spec.account}`)

/** A draft stays one; what is to be sent takes its place and its number. */
const unnumbered = (passing: Passing): InvoicePlan => {
  const { object, world, facts, now } = passing
  const { spec } = object
  const { issuer } = world
  if (!spec.send) {
    const verdict = ready('Draft', `draft, ${totalText(facts)}`)
    return { steps: drawSteps(spec, world, now), status: facts, verdict }
  }
  if (!issuer) return unknownIssuer(passing)
  const [uncollectable] = collectFaults(spec, world)
  if (uncollectable) return stops(facts, uncollectable.code, `${uncollectable.pointer} ${uncollectable.detail}`)
  if (!spec.test && !world.hasPlace) {
    return waits(facts, ['Numbering', 'takes a place under the cap of sends'], [{ do: 'takePlace' }])
  }
  return waits(facts, ['Numbering', 'claims its number'], [claimOf(spec, issuer, now)])
}

/** What is left to be frozen, one kind after the other; then it rests until something happens or its due date passes. */
const numbered = (passing: Passing, record: InvoiceRecord): InvoicePlan => {
  const { object, world, facts, now } = passing
  const { spec } = object
  if (!world.issuer) return unknownIssuer(passing)
  const { issuerId } = record.claimed
  if (issuerId !== world.issuer.id) {
    return stops(facts, 'INVALID_FIELD', `/issuerId is fixed at ${issuerId} since ${record.number}`)
  }
  const sending = sendSteps(object, world, record)
  if (sending.length > 0) return waits(facts, ['Sending', 'freezes its document'], sending)
  const papers = [...creditSteps(object, world, facts, now), ...paidSteps(object, world, facts)]
  if (papers.length > 0) return waits(facts, ['Recording', 'freezes what follows from its books'], papers)
  const resending = resendSteps(spec, world, now)
  if (resending.length > 0) return waits(facts, ['Sending', 'takes a place under the cap of sends'], resending)
  const asks = collectSteps(passing)
  if (asks.length > 0) return waits(facts, ['Collecting', 'asks the card processor'], asks)
  return { steps: [], status: facts, verdict: settled(record, spec, facts) }
}

const lockedBy = (spec: InvoiceSpec, world: InvoiceWorld): Locked | null => {
  const order = orderOf(spec, world)
  if (!order) return null
  const books = booksOf(order.totalCents, world)
  return lockOf(spec, world, { paidCents: books.paidCents, dueCents: dueCents(books) })
}

/** The number is kept, the document is stamped, and money that came in stays on record. */
const voided = (passing: Passing, record: InvoiceRecord): InvoicePlan => {
  const { object, world, facts, now } = passing
  const stamps = voidSteps(object, world, facts, now)
  // neither a send nor an issuer to make the document of
  if (stamps === null) return unknownIssuer(passing)
  const steps = [...creditSteps(object, world, facts, now), ...stamps]
  if (steps.length > 0) return waits(facts, ['Voiding', `voids ${record.number}`], steps)
  const asks = collectSteps(passing)
  if (asks.length > 0) return waits(facts, ['Collecting', 'asks the card processor'], asks)
  const paid = displayCents(facts.paidCents ?? 0, facts.currency ?? '')
  const kept = facts.paidCents ? `; ${paid} that came in stays on record` : ''
  return { steps: [], status: facts, verdict: ready('Voided', `${record.number} voided${kept}`) }
}

const drawSteps = (spec: InvoiceSpec, { issuer, openPreviews }: InvoiceWorld, now: Date): InvoiceStep[] =>
  issuer === null ? [] : openPreviews.map((key) => ({ do: 'drawDraft', key, draft: draftOf(spec, issuer, now) }))

const totalText = (facts: InvoiceFacts): string => displayCents(facts.totalCents ?? 0, facts.currency ?? '')

const REASONS = {
  draft: 'Draft',
  sent: 'Sent',
  partial: 'Partial',
  paid: 'Paid',
  overdue: 'Overdue',
  voided: 'Voided',
} as const

const settled = (record: InvoiceRecord, spec: InvoiceSpec, facts: InvoiceFacts): Verdict => {
  const { phase } = facts
  const due = spec.dueDate === undefined ? '' : ` due ${spec.dueDate}`
  const left = phase === 'partial' ? `, ${displayCents(facts.balanceCents ?? 0, spec.currency)} left${due}` : ''
  const rest = phase === 'paid' || phase === 'partial' ? left : due
  return ready(REASONS[phase], `${record.number} ${phase}, ${totalText(facts)}${rest}`)
}
