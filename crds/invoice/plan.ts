/**
 * What is to be done about an invoice: claim its number, record its receipt, freeze its document, and what to say of it.
 * Pure: looks at nothing and does nothing (DESIGN section 1). Each pass plans the next steps from what is on record alone,
 * so it does not matter after which of them the process was killed.
 */
import { endOfDay } from '../calendar.ts'
import { displayCents } from '../money.ts'
import type { Resource } from '../object.ts'
import { type Plan, ready, stalled, type Verdict, waiting } from '../plan.ts'
import type { ProblemCode } from '../problem.ts'
import { documentFacts, type InvoiceFacts, paidCentsOf } from './facts.ts'
import { faultsOf } from './faults.ts'
import { draftOf, freezeOf } from './freeze.ts'
import type { Frozen, FrozenDraft } from './frozen.ts'
import type { Gate } from './gate.ts'
import { issuedOn, type Series, seriesOf } from './number.ts'
import { type Payload, payloadDiff, payloadOf, payloadOfFrozen } from './payload.ts'
import { DEFAULT_ISSUER, type InvoiceSpec, type InvoiceStatus } from './schema.ts'
import { totalsOf } from './totals.ts'
import type { InvoiceRecord, InvoiceWorld } from './world.ts'

export type InvoiceResource = Resource<InvoiceSpec, InvoiceStatus>

export type InvoiceStep =
  /** A place under the account's cap of sends a day, for what came by kubectl. Stalled when none is left. */
  | { do: 'takePlace' }
  | { do: 'claimNumber'; series: Series; totalCents: number; currency: string; issuedAt: string; payload: Payload }
  /** The same manifest applied again after its resource was deleted: the record takes the new uid. */
  | { do: 'adopt'; uid: string }
  /** Receipt mode. Keyed `receipt`, so it is recorded once. */
  | { do: 'recordReceipt'; amountCents: number; method: string; reference: string }
  /** Renders the PDF and stores snapshot and mail in one transaction. `mail` is null when none goes out. */
  | { do: 'freeze'; n: number; frozen: Frozen; gate: Gate; mail: 'invoice' | 'receipt' | null }
  /** Draws a draft that somebody wants to look at, and records what was drawn under the key of the wish. */
  | { do: 'drawDraft'; key: string; draft: FrozenDraft }

export type InvoicePlan = Plan<InvoiceStep, InvoiceFacts>

/** How often an unknown account is looked for, beside being woken when it appears. */
const ACCOUNT_RETRY_MS = 60_000

/** The id of the issuer an invoice asks for: the account's default one when it names none. */
const issuerIdOf = (spec: InvoiceSpec, world: InvoiceWorld): string =>
  spec.issuerId ?? world.issuer?.id ?? DEFAULT_ISSUER

/** @param object out of the cache, treated as frozen  @param now the platform's clock */
export const planInvoice = (object: InvoiceResource, world: InvoiceWorld, now: Date): InvoicePlan => {
  const { spec, metadata } = object
  const fault = faultsOf(spec)[0]
  const locked = lockOf(spec, world)
  const facts = documentFacts(spec, world, now, { computable: fault === undefined, locked: locked !== null })
  const end = (verdict: Verdict): InvoicePlan => ({ steps: [], status: facts, verdict })
  const stop = (code: ProblemCode, detail: string) => end(stalled(code, `${code}: ${detail}`))

  if (world.record && !world.record.uids.includes(metadata.uid)) return returned(object, world, world.record, now)
  if (locked !== null) return stop(locked.code, locked.detail)
  if (fault) return stop(fault.code, `${fault.pointer} ${fault.detail}`)
  if (!world.account) {
    const message = `account ${spec.account} does not exist; create it, or delete this invoice`
    return end(waiting('AccountMissing', message, ACCOUNT_RETRY_MS))
  }
  if (!world.record && !spec.send) {
    return { ...end(ready('Draft', `draft, ${totalText(facts)}`)), steps: drawSteps(spec, world, now) }
  }
  if (!world.issuer) {
    return stop('BAD_ISSUER', `/issuerId ${issuerIdOf(spec, world)} is no issuer of account ${spec.account}`)
  }
  if (!world.record && !spec.test && !world.hasPlace) {
    return { ...end(waiting('Numbering', 'takes a place under the cap of sends')), steps: [{ do: 'takePlace' }] }
  }
  if (!world.record)
    return { ...end(waiting('Numbering', 'claims its number')), steps: [claimOf(spec, world.issuer, now)] }
  if (world.record.claimed.issuerId !== world.issuer.id) {
    return stop('INVALID_FIELD', `/issuerId is fixed at ${world.record.claimed.issuerId} since ${world.record.number}`)
  }
  const steps = sendSteps(spec, world, world.record)
  if (steps.length > 0) return { ...end(waiting('Sending', 'freezes its document')), steps }
  return { ...end(settled(world.record, spec, facts)), ...wakeOf(spec, world, facts) }
}

/** A number is on record under this name for another resource, which has been deleted since. */
const returned = (object: InvoiceResource, world: InvoiceWorld, record: InvoiceRecord, now: Date): InvoicePlan => {
  const { spec, metadata } = object
  const fault = faultsOf(spec)[0]
  const unnumbered = documentFacts(spec, { ...world, record: null, sends: [], payments: [] }, now, {
    computable: fault === undefined,
    locked: false,
  })
  const stop = (code: ProblemCode, detail: string): InvoicePlan => ({
    steps: [],
    status: unnumbered,
    verdict: stalled(code, `${code}: ${detail}`),
  })
  if (fault) return stop(fault.code, `${fault.pointer} ${fault.detail}`)
  const pointers = returnedDiff(spec, world, record)
  if (pointers.length > 0) {
    return stop('REF_PAYLOAD_MISMATCH', `${record.number} was made with another ${pointers.join(', ')}`)
  }
  return {
    steps: [{ do: 'adopt', uid: metadata.uid }],
    status: unnumbered,
    verdict: waiting('Adopting', `is ${record.number}`),
  }
}

/** What differs from the order as claimed and, after an edit, as last frozen; empty when it is one of the two. */
const returnedDiff = (spec: InvoiceSpec, world: InvoiceWorld, record: InvoiceRecord): string[] => {
  const asked = payloadOf(spec, issuerIdOf(spec, world))
  const claimed = payloadDiff(asked, record.claimed)
  const last = world.sends.at(-1)
  if (claimed.length === 0 || !last) return claimed
  return payloadDiff(asked, payloadOfFrozen(last.frozen, record.claimed.issuerId)).length === 0 ? [] : claimed
}

/** A paid or partly paid invoice is a record: its spec may not leave what was frozen. */
const lockOf = (spec: InvoiceSpec, world: InvoiceWorld): { code: ProblemCode; detail: string } | null => {
  const last = world.sends.at(-1)
  const paidCents = paidCentsOf(world)
  if (!world.record || !last || paidCents <= 0) return null
  const frozen = payloadOfFrozen(last.frozen, world.record.claimed.issuerId)
  // what has a fault cannot be what was frozen
  const pointers = faultsOf(spec).length > 0 ? ['/'] : payloadDiff(payloadOf(spec, issuerIdOf(spec, world)), frozen)
  if (pointers.length === 0) return null
  const state = paidCents >= last.frozen.totalCents ? 'paid' : 'partly paid'
  const changed = pointers.filter((pointer) => pointer !== '/').join(', ')
  return {
    code: state === 'paid' ? 'LOCKED_PAID' : 'LOCKED_PARTIAL',
    detail: `${world.record.number} is ${state} and was edited${changed === '' ? '' : ` at ${changed}`}; put the spec back and make a credit note`,
  }
}

const claimOf = (spec: InvoiceSpec, issuer: NonNullable<InvoiceWorld['issuer']>, now: Date): InvoiceStep => {
  const payload = payloadOf(spec, issuer.id)
  const series = seriesOf({
    account: spec.account,
    issuerId: issuer.id,
    prefix: issuer.numberPrefix,
    test: spec.test,
    kind: 'invoice',
    issuedOn: issuedOn(now, issuer.timeZone),
  })
  const { totalCents, currency } = payload
  return { do: 'claimNumber', series, totalCents, currency, issuedAt: now.toISOString(), payload }
}

const drawSteps = (spec: InvoiceSpec, { issuer, openPreviews }: InvoiceWorld, now: Date): InvoiceStep[] =>
  issuer === null ? [] : openPreviews.map((key) => ({ do: 'drawDraft', key, draft: draftOf(spec, issuer, now) }))

/** What is left of numbering and sending; empty once every send that was asked for is frozen. */
const sendSteps = (spec: InvoiceSpec, world: InvoiceWorld, record: InvoiceRecord): InvoiceStep[] => {
  const n = world.sends.length + 1
  if (n > Math.max(1, world.sendsAsked ?? 1)) return []
  const { totalCents } = totalsOf(spec)
  const receipt = spec.paid && world.payments.length === 0 ? spec.paid : null
  const amountCents = receipt?.amountCents ?? totalCents
  const recording: InvoiceStep[] = receipt
    ? [{ do: 'recordReceipt', amountCents, method: receipt.method, reference: receipt.reference }]
    : []
  return [...recording, freezeOf({ spec, world, record, n, receipt: receipt ? { ...receipt, amountCents } : null })]
}

const totalText = (facts: InvoiceFacts): string => displayCents(facts.totalCents ?? 0, facts.currency ?? '')

const REASONS = { draft: 'Draft', sent: 'Sent', partial: 'Partial', paid: 'Paid', overdue: 'Overdue' } as const

const settled = (record: InvoiceRecord, spec: InvoiceSpec, facts: InvoiceFacts): Verdict => {
  const phase = facts.phase ?? 'sent'
  const due = spec.dueDate === undefined ? '' : ` due ${spec.dueDate}`
  const left = phase === 'partial' ? `, ${displayCents(facts.balanceCents ?? 0, spec.currency)} left${due}` : ''
  const rest = phase === 'paid' || phase === 'partial' ? left : due
  return ready(REASONS[phase], `${record.number} ${phase}, ${totalText(facts)}${rest}`)
}

/** Wakes when the due date has passed with a balance left. */
const wakeOf = (spec: InvoiceSpec, world: InvoiceWorld, facts: InvoiceFacts): { wakeAt?: string } => {
  const open = facts.phase === 'sent' || facts.phase === 'partial'
  if (!open || spec.dueDate === undefined || !world.issuer) return {}
  return { wakeAt: endOfDay(spec.dueDate, world.issuer.timeZone).toISOString() }
}
