import { ready, stalled, type Verdict, waiting } from '../kernel/plan.ts'
import type { Fault, ProblemCode } from '../kernel/problem.ts'
import { displayCents } from '../values/money.ts'
import { sizeFaults } from './document/drawcost.ts'
import { draftOf, revisedOf } from './document/freeze.ts'
import { isOfRevision } from './document/preview.ts'
import { type InvoiceRecord, newestSend } from './facts/ledger.ts'
import { linkSteps, linkVerdicts } from './facts/links.ts'
import { booksOf, dueCents } from './money/books.ts'
import { collectFaults, collectOff, faultsAround } from './money/collect.ts'
import { isFixed, issuerIdOf, isVoided, type Locked, lockOf, movedLock, orderOf } from './order/order.ts'
import { revisionOf } from './order/revision.ts'
import { dueDateOf } from './order/sent.ts'
import { activityVerdicts } from './planning/activity.ts'
import { collectSteps, collectVerdicts } from './planning/collect.ts'
import { verdictsOf } from './planning/decide.ts'
import { notifyOwnerSteps } from './planning/notify.ts'
import { behindBy, onRecordOf, planBehind } from './planning/recovery/behind.ts'
import { planReturned } from './planning/recovery/returned.ts'
import { claimOf, resendSteps, sendSteps } from './planning/send.ts'
import { creditSteps, paidSteps, voidSteps } from './planning/stamp.ts'
import { inTime } from './planning/timed.ts'
import { type HeldBack, heldBack } from './planning/undrawn.ts'
import { revisionConditions } from './rest/revisionview.ts'
import type { InvoiceResource, InvoiceSpec } from './schema.ts'
import { documentFacts, type InvoiceFacts } from './status.ts'
import type { InvoicePlan, InvoiceStep } from './steps.ts'
import type { InvoiceWorld } from './world.ts'

/** How often an unknown account is looked for, beside being woken when it appears. */
const ACCOUNT_RETRY_MS = 60_000

/** @param object out of the cache, treated as frozen  @param now the platform's clock */
export const planInvoice = (object: InvoiceResource, world: InvoiceWorld, now: Date): InvoicePlan => {
  const behind = behindBy(object, onRecordOf(world))
  if (behind !== null) return planBehind(object, behind)
  const conditions = revisionConditions(object.spec, world)
  return { ...inTime(object, world, now, planAsked(object, world, now)), conditions }
}

/** What the spec and the facts ask for. */
const planAsked = (object: InvoiceResource, world: InvoiceWorld, now: Date): InvoicePlan => {
  const { spec, metadata } = object
  if (world.record && !world.record.uids.includes(metadata.uid)) return planReturned(object, world, world.record, now)
  const fault = faultsAround(spec, world)[0]
  const locked = lockedBy(spec, world)
  const facts = {
    ...documentFacts(spec, world, now),
    ...(collectOff(spec, world) === null && { collect: true }),
  }
  const passing = { object, world, facts, now }

  const recording = recorded(passing)
  if (recording !== null) return recording
  if (locked !== null) return stops(facts, locked.code, locked.detail)
  if (world.record && isVoided(spec, world)) return voided(passing, world.record)
  const moved = movedLock(spec, world)
  if (moved !== null) return stops(facts, moved.code, moved.detail)
  if (spec.void) return stops(facts, 'NOT_NUMBERED', '/void a draft has no number to keep; delete it instead')
  // what a record has become of is not asked of the spec any more
  if (fault && !isFixed(world)) return halted(passing, fault)
  if (!world.account) {
    const message = `account ${spec.account} does not exist; create it, or delete this invoice`
    return { steps: [], status: facts, verdict: waiting('AccountMissing', message, ACCOUNT_RETRY_MS) }
  }
  return world.record ? numbered(passing, world.record) : unnumbered(passing)
}

type Passing = { object: InvoiceResource; world: InvoiceWorld; facts: InvoiceFacts; now: Date }

/** What goes on record whatever the spec says: links that were ended, verdicts on what was reported, what its owner is told. */
const recorded = (passing: Passing): InvoicePlan | null => {
  const { object, world, facts } = passing
  const ended = linkSteps(passing)
  if (ended.length > 0) return waits(facts, ['Rotating', 'ends links of before'], ended)
  const reported = [...linkVerdicts(passing), ...verdictsOf(object, world), ...collectVerdicts(passing)]
  const verdicts = reported.length > 0 ? reported : activityVerdicts(object, world, facts)
  if (verdicts.length > 0) {
    return waits(facts, ['Deciding', 'decides on what was recorded'], [{ do: 'decide', verdicts }])
  }
  const notices = notifyOwnerSteps(object, world, facts)
  return notices.length > 0 ? waits(facts, ['NotifyingOwner', 'notifies its owner'], notices) : null
}

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
const stopsAt = (status: InvoiceFacts, { code, pointer, detail }: Fault): InvoicePlan =>
  stops(status, code, `${pointer} ${detail}`)

/** Why one of these steps is not taken, whose document is not drawn now: for ever before for a while. */
const stuckOf = ({ world, now }: Passing, steps: readonly InvoiceStep[]): HeldBack | undefined => {
  const found = steps.map((step) => heldBackOn(world, step, now)).filter((one) => one !== null)
  return found.find((one) => 'code' in one) ?? found[0]
}

const heldBackOn = ({ undrawn }: InvoiceWorld, step: InvoiceStep, now: Date): HeldBack | null => {
  if (step.do === 'drawDraft') return heldBack(undrawn, step.draft, now)
  return step.do === 'freeze' || step.do === 'stamp' ? heldBack(undrawn, step.frozen, now) : null
}

/** What is left is not drawn now. */
const held = (status: InvoiceFacts, stuck: HeldBack): InvoicePlan => {
  if ('code' in stuck) return stops(status, stuck.code, stuck.detail)
  return { steps: [], status, verdict: waiting('NotDrawn', stuck.detail, stuck.afterMs) }
}

const unknownIssuer = ({ object: { spec }, world, facts }: Passing): InvoicePlan =>
  stops(facts, 'BAD_ISSUER', `/issuerId ${issuerIdOf(spec, world)} is no issuer of account ${spec.account}`)

/** A faulty edit takes no effect, and what was sent can be paid all the same. */
const halted = (passing: Passing, fault: Fault): InvoicePlan => {
  const { world, facts } = passing
  const asks = world.sends.length > 0 ? collectSteps(passing) : []
  if (asks.length > 0) return waits(facts, ['Collecting', 'asks the card processor'], asks)
  return stopsAt(facts, fault)
}

/** A draft stays one; what is to be sent takes its place and its number. */
const unnumbered = (passing: Passing): InvoicePlan => {
  const { object, world, facts, now } = passing
  const { spec } = object
  const { issuer } = world
  const [tooLarge] = sizeFaults(spec)
  if (tooLarge) return stopsAt(facts, tooLarge)
  const stuck = world.undrawn.length > 0 && issuer ? heldBack(world.undrawn, draftOf(spec, issuer, now), now) : null
  if (stuck) return held(facts, stuck)
  if (!spec.send) {
    const verdict = ready('Draft', `draft, ${totalText(facts)}`)
    return { steps: drawSteps(spec, world, now), status: facts, verdict }
  }
  if (!issuer) return unknownIssuer(passing)
  const [uncollectable] = collectFaults(spec, world)
  if (uncollectable) return stopsAt(facts, uncollectable)
  if (!spec.test && !world.hasQuota) {
    return waits(facts, ['Numbering', 'takes a place under the cap of sends'], [{ do: 'reserveSend' }])
  }
  return waits(facts, ['Numbering', 'claims its number'], [claimOf(spec, issuer, now)])
}

/** What is left to be frozen, one kind after the other; then it rests until something happens or its due date passes. */
const numbered = (passing: Passing, record: InvoiceRecord): InvoicePlan => {
  const { object, world, facts, now } = passing
  const { spec } = object
  if (!world.issuer) return unknownIssuer(passing)
  const sending = sendSteps(object, world, record)
  if (sending.length > 0) {
    // what a record has become of is sent as it was sent before
    const [tooLarge] = isFixed(world) ? [] : sizeFaults(spec)
    if (tooLarge) return stopsAt(facts, tooLarge)
    const stuck = stuckOf(passing, sending)
    if (stuck) return held(facts, stuck)
    return waits(facts, ['Sending', 'freezes its document'], sending)
  }
  const documents = [...creditSteps(object, world, facts, now), ...paidSteps(object, world, facts)]
  const drawable = documents.filter((step) => heldBackOn(world, step, now) === null)
  if (drawable.length > 0) return waits(facts, ['Recording', 'freezes what follows from its books'], drawable)
  const resending = resendSteps(spec, world, now)
  if (resending.length > 0) return waits(facts, ['Sending', 'takes a place under the cap of sends'], resending)
  const asks = collectSteps(passing)
  if (asks.length > 0) return waits(facts, ['Collecting', 'asks the card processor'], asks)
  const drawing = drawRevision(passing)
  const stuck = stuckOf(passing, [...documents, ...drawing])
  if (stuck) return held(facts, stuck)
  return { steps: drawing, status: facts, verdict: settled(record, dueDateOf(spec, world), facts) }
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
  const documents = [...creditSteps(object, world, facts, now), ...stamps]
  const steps = documents.filter((step) => heldBackOn(world, step, now) === null)
  if (steps.length > 0) return waits(facts, ['Voiding', `voids ${record.number}`], steps)
  const asks = collectSteps(passing)
  if (asks.length > 0) return waits(facts, ['Collecting', 'asks the card processor'], asks)
  const stuck = stuckOf(passing, documents)
  if (stuck) return held(facts, stuck)
  const paid = displayCents(facts.paidCents ?? 0, facts.currency ?? '')
  const kept = facts.paidCents ? `; ${paid} that came in stays on record` : ''
  return { steps: [], status: facts, verdict: ready('Voided', `${record.number} voided${kept}`) }
}

const drawSteps = (spec: InvoiceSpec, { issuer, openPreviews }: InvoiceWorld, now: Date): InvoiceStep[] =>
  issuer === null ? [] : openPreviews.map((key) => ({ do: 'drawDraft', key, draft: draftOf(spec, issuer, now) }))

/** Of an edit that waits to be sent, and can be. */
const drawRevision = ({ object: { spec }, world: { issuer, openPreviews, sends }, world }: Passing): InvoiceStep[] => {
  const keys = openPreviews.filter(isOfRevision)
  const sent = newestSend(sends)?.frozen
  if (keys.length === 0 || !issuer || !sent || !revisionOf(spec, world)?.totals) return []
  return keys.map((key) => ({ do: 'drawDraft', key, draft: revisedOf(spec, issuer, sent) }))
}

const totalText = (facts: InvoiceFacts): string => displayCents(facts.totalCents ?? 0, facts.currency ?? '')

const REASONS = {
  draft: 'Draft',
  sent: 'Sent',
  partial: 'Partial',
  paid: 'Paid',
  overdue: 'Overdue',
  voided: 'Voided',
} as const

const settled = (record: InvoiceRecord, dueDate: string | undefined, facts: InvoiceFacts): Verdict => {
  const { phase } = facts
  const due = dueDate === undefined ? '' : ` due ${dueDate}`
  const left = phase === 'partial' ? `, ${displayCents(facts.balanceCents ?? 0, facts.currency ?? '')} left${due}` : ''
  const rest = phase === 'paid' || phase === 'partial' ? left : due
  return ready(REASONS[phase], `${record.number} ${phase}, ${totalText(facts)}${rest}`)
}
