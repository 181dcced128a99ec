/**
 * When the client is reminded of an invoice, and when it is overdue: three days before the due date, on it, and 7 and 14
 * days after it, at a local hour of the issuer's zone (rules/invoice.md#reminders). What was reminded of is a fact; the
 * next step is a row of the schedule, which the sweep claims without a pass and only while nothing has been recorded since
 * it was written.
 */

import type { ProblemCode } from '../../kernel/problem.ts'
import type { Desired, ScheduledEffect } from '../../kernel/schedule.ts'
import { addDays, dayIn, endOfDay, instantAt } from '../../values/calendar.ts'
import { displayCents } from '../../values/money.ts'
import { makeLately } from '../../values/once.ts'
import { invoiceEvent } from '../events.ts'
import { type GivenReminder, overdueKey, REMINDER_STEPS, type ReminderStep, stepKey } from '../facts/reminded.ts'
import { booksOf } from '../money/books.ts'
import { isVoided, orderOf } from '../order/order.ts'
import { dueDateOf, recipientOf } from '../order/sent.ts'
import type { InvoiceResource } from '../schema.ts'
import { INVOICE_KIND } from '../schema.ts'
import { type InvoiceFacts, zoneOf } from '../status.ts'
import type { RemindStep } from '../steps.ts'
import type { InvoiceWorld } from '../world.ts'
import { isMailedOut, recipientCapDetail } from './delivery.ts'

/** On the clocks of the issuer's zone. */
export const REMINDER_TIME = '09:00'
/** Later than any date that people write; what is due then is not noted down. */
const YEAR_MAX = 9999

/** How a mail speaks of the due date; `open` when there is none. */
export type Tone = 'before' | 'due' | 'after' | 'open'

/** Something is left to pay of an invoice that was sent. */
const isOpen = ({ phase, balanceCents = 0 }: InvoiceFacts): boolean =>
  (phase === 'sent' || phase === 'partial' || phase === 'overdue') && balanceCents > 0

/** Null where it could not be noted down. */
const noted = (instant: Date): string | null => (instant.getUTCFullYear() > YEAR_MAX ? null : instant.toISOString())

const toneAt = (dueDate: string | undefined, today: string): Tone => {
  if (dueDate === undefined) return 'open'
  if (today === dueDate) return 'due'
  return today < dueDate ? 'before' : 'after'
}

type Due = { step: ReminderStep; on: string; dueAt: string; lapsesAt: string | null }

type StepInstant = { step: ReminderStep; on: string; instant: Date }

/** Each plan asks, three and more for each invoice, and most invoices of a time are due on few days. */
const lately = makeLately<readonly StepInstant[]>(1000)

/** When each step comes, on the clocks of the zone. */
const instantsOf = (dueDate: string, zone: string): readonly StepInstant[] =>
  lately(`${dueDate} ${zone}`, () =>
    REMINDER_STEPS.map(({ step, days }) => {
      const on = addDays(dueDate, days)
      return { step, on, instant: instantAt(on, REMINDER_TIME, zone) }
    }),
  )

/** The steps of an invoice that is sent now, each with its local day. */
export const stepsAhead = (dueDate: string, zone: string, now: Date): { step: ReminderStep; on: string }[] =>
  instantsOf(dueDate, zone)
    .filter(({ instant }) => instant > now && noted(instant) !== null)
    .map(({ step, on }) => ({ step, on }))

/** When the ledger was given back what it had lost of the invoice: what fell due until then was given, or may have been. */
const givenBackAt = ({ restored }: InvoiceWorld): number =>
  restored === null ? Number.NEGATIVE_INFINITY : Date.parse(restored.at)

/**
 * The steps that are left, each with the local day it is due on. Steps before the send are skipped, and so are those before
 * one that was given: the due date may have been moved since.
 */
const stepsLeft = (dueDate: string, world: InvoiceWorld): Due[] => {
  const from = Math.max(Date.parse(world.sends[0]?.at ?? ''), givenBackAt(world))
  const instants = instantsOf(dueDate, zoneOf(world))
  const lastGiven = REMINDER_STEPS.findLastIndex(({ step }) => world.chasing.given.some((one) => one.step === step))
  return instants.flatMap(({ step, on, instant }, index): Due[] => {
    const dueAt = noted(instant)
    if (index <= lastGiven || dueAt === null || !(instant.getTime() > from)) return []
    const next = instants[index + 1]
    return [{ step, on, dueAt, lapsesAt: next ? noted(next.instant) : null }]
  })
}

/** The next step: of those that were missed, as by a long outage, only the newest is made up for. */
const nextStep = (object: InvoiceResource, world: InvoiceWorld, facts: InvoiceFacts, now: Date): Due | null => {
  const { reminders } = object.spec
  const dueDate = dueDateOf(object.spec, world)
  if (!isOpen(facts) || dueDate === undefined || reminders?.enabled === false || recipientOf(world) === '') return null
  const left = stepsLeft(dueDate, world)
  return left.findLast(({ dueAt }) => Date.parse(dueAt) <= now.getTime()) ?? left[0] ?? null
}

const mailOf = (
  { metadata, spec }: InvoiceResource,
  world: InvoiceWorld,
  facts: InvoiceFacts,
  { id, tone }: { id: string; tone: Tone },
): NonNullable<ScheduledEffect['mail']> => ({
  kind: INVOICE_KIND,
  account: spec.account,
  purpose: `reminder:${id}`,
  channel: 'mail',
  messageId: `<${metadata.name}.reminder.${id}@${world.mailDomain}>`,
  payload: {
    mail: 'reminder',
    n: world.sends.length,
    tone,
    dueDate: dueDateOf(spec, world) ?? null,
    balanceCents: facts.balanceCents ?? 0,
  },
})

/** The next reminder, as a row of the schedule. */
const desiredReminder = (object: InvoiceResource, world: InvoiceWorld, facts: InvoiceFacts, now: Date): Desired[] => {
  const next = nextStep(object, world, facts, now)
  if (next === null) return []
  const { step, on, dueAt, lapsesAt } = next
  const { test } = object.spec
  const dueDate = dueDateOf(object.spec, world)
  const fact = {
    key: stepKey(step),
    kind: 'reminder',
    body: { step, on, dueDate, to: recipientOf(world), emailed: !test },
  }
  const tone = toneAt(dueDate, on)
  const mail = test ? {} : { mail: mailOf(object, world, facts, { id: step, tone }) }
  return [{ purpose: 'reminder', dueAt, lapsesAt, effect: { fact, ...mail } }]
}

/** The end of the due date, told once for each date. */
const desiredOverdue = (object: InvoiceResource, world: InvoiceWorld, facts: InvoiceFacts): Desired[] => {
  const { spec } = object
  const dueDate = dueDateOf(spec, world)
  const order = orderOf(spec, world)
  if (!isOpen(facts) || dueDate === undefined || !order || !world.record) return []
  const dueAt = noted(endOfDay(dueDate, zoneOf(world)))
  if (dueAt === null || world.chasing.overdue.includes(dueDate) || Date.parse(dueAt) <= givenBackAt(world)) return []
  const event = invoiceEvent('invoice.overdue', object, {
    number: world.record.number,
    issuerId: order.issuerId,
    status: 'overdue',
    currency: order.currency,
    books: booksOf(order.totalCents, world),
  })
  const fact = { key: overdueKey(dueDate), kind: 'overdue', body: { dueDate }, event }
  return [{ purpose: 'overdue', dueAt, lapsesAt: null, effect: { fact } }]
}

/** What the schedule is to hold of an invoice that was sent. */
export const desiredReminders = (
  object: InvoiceResource,
  world: InvoiceWorld,
  facts: InvoiceFacts,
  now: Date,
): Desired[] =>
  world.sends.length === 0
    ? []
    : [...desiredReminder(object, world, facts, now), ...desiredOverdue(object, world, facts)]

/** Why nobody can be reminded of this invoice at all; null when somebody can. */
const refusalOf = (
  { spec }: InvoiceResource,
  world: InvoiceWorld,
  { phase, totalCents = 0, currency = '' }: InvoiceFacts,
): { code: ProblemCode; detail: string } | null => {
  const { record } = world
  if (!record || world.sends.length === 0) return { code: 'NOT_PAYABLE', detail: 'a draft asks nobody for money' }
  if (isVoided(spec, world)) return { code: 'NOT_PAYABLE', detail: `${record.number} is voided and asks for no money` }
  if (phase !== 'paid') return null
  const total = displayCents(totalCents, currency)
  return { code: 'NOTHING_DUE', detail: `nothing of the ${total} of ${record.number} is left to pay` }
}

/** Why no mail goes out; null when one does. @param given to those that were asked for before it */
const reasonOf = (
  { spec }: InvoiceResource,
  world: InvoiceWorld,
  { seq, given }: { seq: number; given: number },
  now: Date,
): string | null => {
  if (world.restored !== null && seq < world.restored.seq)
    return 'it was asked for before the database was put back: it may have gone out'
  if (spec.test) return 'a test invoice sends no mail'
  if (recipientOf(world) === '') return 'the invoice was sent to nobody: it had no client_email'
  if (isMailedOut(world, now)) return recipientCapDetail(world.record?.number ?? '')
  const zone = zoneOf(world)
  const last = world.chasing.given.at(-1)
  const today = dayIn(now, zone)
  if (given === 0 && (!last || dayIn(new Date(last.at), zone) !== today)) return null
  return `one reminder a day: the client was reminded on ${today} already`
}

/** Decides on every request for a reminder, in the order of their coming: one a day in the issuer's zone. */
export const remindSteps = (
  object: InvoiceResource,
  world: InvoiceWorld,
  facts: InvoiceFacts,
  now: Date,
): RemindStep[] => {
  const refusal = refusalOf(object, world, facts)
  const to = recipientOf(world)
  const tone = toneAt(dueDateOf(object.spec, world), dayIn(now, zoneOf(world)))
  let given = 0
  return world.chasing.asked.map(({ seq, id }): RemindStep => {
    if (refusal) return { do: 'remind', seq, accept: false, ...refusal }
    const reason = reasonOf(object, world, { seq, given }, now)
    if (reason !== null) {
      return { do: 'remind', seq, accept: true, outcome: { sent: false, to, step: 'manual', reason }, mail: null }
    }
    given += 1
    const mail = mailOf(object, world, facts, { id, tone })
    return { do: 'remind', seq, accept: true, outcome: { sent: true, to, step: 'manual' }, mail }
  })
}

export type RemindersView = {
  enabled: boolean
  /** The local day of the next one, YYYY-MM-DD. */
  next_on: string | null
  sent: GivenReminder[]
}

/** As it stands in the schedule: what is shown is what will be. */
export const viewReminders = (enabled: boolean, world: InvoiceWorld | null): RemindersView => {
  const row = world?.scheduled.find(({ purpose }) => purpose === 'reminder')
  const on = row?.effect?.fact.body.on
  return {
    enabled,
    next_on: typeof on === 'string' ? on : null,
    sent: (world?.chasing.given ?? []).map((one) => ({ ...one, at: new Date(one.at).toISOString() })),
  }
}
