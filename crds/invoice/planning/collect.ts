/**
 * What is asked of the card processor, and what is decided on what it reported. Every ask is a fact and a row of the
 * outbox in one transaction; the payment worker makes the call under the row's own key (controllers/workers/payment-worker.ts).
 */

import { createHash } from 'node:crypto'
import { canonical } from '../../values/canonical.ts'
import { FIRST_LINK } from '../../values/links.ts'
import { processorUnits } from '../../values/money.ts'
import type { InvoiceEvent } from '../events.ts'
import {
  endingKey,
  isFor,
  isRunning,
  type RefundPart,
  refundingCents,
  refundKey,
  reported,
  type Session,
  sessionKey,
  unaskedCents,
  usableSession,
} from '../facts/collected.ts'
import type { Credit } from '../facts/ledger.ts'
import { offerOf, refusalOf } from '../money/collect.ts'
import { orderOf } from '../order/order.ts'
import { recipientOf, sentOf } from '../order/sent.ts'
import type { InvoiceResource } from '../schema.ts'
import { type InvoiceFacts, urlOf } from '../status.ts'
import type { AskStep, ProcessorRequest } from '../steps.ts'
import type { InvoiceWorld } from '../world.ts'
import type { RequestVerdict } from './decide.ts'
import { eventOf } from './subject.ts'

type Passing = { object: InvoiceResource; world: InvoiceWorld; facts: InvoiceFacts; now: Date }

const askOf = ({ metadata }: InvoiceResource, fact: AskStep['fact'], ask: ProcessorRequest): AskStep => {
  const digest = createHash('sha256')
    .update(`${metadata.name}\n${fact.key}\n${canonical(ask)}`)
    .digest('hex')
  return { do: 'askProcessor', fact, messageId: `${metadata.name}/${fact.key}/${digest.slice(0, 32)}`, ask }
}

/** The session in which the present balance can be paid; undefined when there is none. */
const usableOf = ({ object, world, facts, now }: Passing): Session | undefined =>
  offerOf(object.spec, world, facts).offered ? usableSession(world.collected, facts, now) : undefined

// ---- deciding

/** Verdicts on who wants to pay and on what was reported of refunds; a payer waits until the processor has answered. */
export const collectVerdicts = (passing: Passing): RequestVerdict[] => [
  ...checkoutVerdicts(passing),
  ...reportVerdicts(passing),
  ...closingVerdicts(passing),
]

const checkoutVerdicts = (passing: Passing): RequestVerdict[] => {
  const { object, world, facts } = passing
  const { checkouts, sessions } = world.collected
  // it is being sent for the first time, or what is due is about to change
  if ((world.record && world.sends.length === 0) || world.requests.some(({ kind }) => kind !== 'send')) return []
  const { offered, reason } = offerOf(object.spec, world, facts)
  const usable = usableOf(passing)
  const failed = sessions.at(-1)?.failed
  return checkouts.flatMap(({ seq }): RequestVerdict[] => {
    if (!offered && reason) return [{ seq, accept: false, ...refusalOf(reason, world.record?.number ?? '', facts) }]
    if (usable) return [{ seq, accept: true, outcome: { session: usable.session }, event: null }]
    return failed && failed.seq > seq ? [{ seq, accept: false, code: 'PROCESSOR_REFUSED', detail: failed.reason }] : []
  })
}

/** It holds from when it is on record: a session that has ended takes no money, whoever says so first. */
const closingVerdicts = ({ world }: Passing): RequestVerdict[] =>
  world.collected.closings.map(({ seq }) => ({ seq, accept: true, outcome: null, event: null }))

const isBack = (refunds: readonly RefundPart[], credit: string): boolean => {
  const parts = refunds.filter((one) => one.credit === credit)
  return parts.length > 0 && parts.every(({ state }) => state === 'succeeded')
}

/** A report is believed as it is; the one with which all of a credit note has gone back is told. */
const reportVerdicts = ({ object, world, facts }: Passing): RequestVerdict[] => {
  let { refunds } = world.collected
  return world.collected.reports.map(({ seq, ...report }) => {
    const before = refunds
    refunds = refunds.map((one) => (one.part === report.part ? reported(one, report) : one))
    const credit = refunds.find(({ part }) => part === report.part)?.credit
    const isNews = credit !== undefined && !isBack(before, credit) && isBack(refunds, credit)
    return { seq, accept: true, outcome: null, event: isNews ? refundedEvent(object, world, facts, credit) : null }
  })
}

const refundedEvent = (
  object: InvoiceResource,
  world: InvoiceWorld,
  facts: InvoiceFacts,
  id: string,
): InvoiceEvent | null => {
  const order = orderOf(object.spec, world)
  const credit = world.credits.find((one) => one.id === id)
  if (!order || !credit || !world.record) return null
  const number = world.snapshots.find((one) => one.id === id)?.number ?? ''
  const refunded = eventOf('invoice.refunded', { object, world, facts, order })
  return { ...refunded, data: { ...refunded.data, credit_note: { id, number, amount_cents: credit.amountCents } } }
}

// ---- asking

/** What is to be asked of the processor now; empty while nothing changed since it was asked. */
export const collectSteps = (passing: Passing): AskStep[] => [
  ...endSteps(passing),
  ...openSteps(passing),
  ...refundSteps(passing),
]

/** A session for another amount than is due would take money that nobody owes. */
const endSteps = (passing: Passing): AskStep[] => {
  const { object, world, now } = passing
  const usable = usableOf(passing)
  return world.collected.sessions
    .filter(
      (session) => isRunning(session) && session !== usable && (session.opened?.expiresAt ?? '') > now.toISOString(),
    )
    .map(({ session, opened }) =>
      askOf(
        object,
        { key: endingKey(session), kind: 'ending', body: { session } },
        { ask: 'end', session, id: opened?.id ?? '' },
      ),
    )
}

const openSteps = (passing: Passing): AskStep[] => {
  const { object, world, facts } = passing
  const { spec } = object
  const { checkouts, sessions } = world.collected
  if (checkouts.length === 0 || usableOf(passing) || !offerOf(spec, world, facts).offered || !world.record) return []
  const last = sessions.at(-1)
  if (last && !last.opened && !last.failed && isFor(last, facts)) return []
  const { balanceCents: amountCents = 0, currency = '' } = facts
  const units = processorUnits(amountCents, currency)
  if (units === null) return []
  const session = sessions.length + 1
  const { link = FIRST_LINK } = facts.linkVersions ?? {}
  const body = { session, amountCents, currency, ...(link > FIRST_LINK && { link }) }
  return [
    askOf(
      object,
      { key: sessionKey(session), kind: 'session', body },
      {
        ask: 'open',
        session,
        units,
        currency,
        number: world.record.number,
        lang: sentOf(world)?.lang ?? spec.lang,
        email: recipientOf(world) || null,
        returnUrl: urlOf(world),
        account: spec.account,
      },
    ),
  ]
}

/** Over the card payments in the order of their coming, never more than each has brought. */
const partsOf = (credit: Credit, { payments, collected: { refunds } }: InvoiceWorld) => {
  const { id } = credit
  let leftCents = unaskedCents(credit, refunds)
  return payments
    .filter(({ declaredBy }) => declaredBy === 'gateway')
    .flatMap(({ reference: intent, amountCents: paidCents }, index) => {
      const part = `${id}.${index + 1}`
      if (refunds.some((one) => one.part === part)) return []
      const cents = Math.min(leftCents, paidCents - refundingCents(refunds, intent))
      leftCents -= Math.max(0, cents)
      return cents > 0 ? [{ part, credit: id, intent, amountCents: cents }] : []
    })
}

/** One credit note at a time: the next is spread over what this one leaves. */
const refundSteps = ({ object, world, facts }: Passing): AskStep[] => {
  const parts = world.credits.map((credit) => partsOf(credit, world)).find(({ length }) => length > 0) ?? []
  return parts.flatMap((body): AskStep[] => {
    const { part, intent, amountCents } = body
    const units = processorUnits(amountCents, facts.currency ?? '')
    if (units === null) return []
    const ask: ProcessorRequest = { ask: 'refund', part, intent, units, account: object.spec.account }
    return [askOf(object, { key: refundKey(part), kind: 'refund', body }, ask)]
  })
}
