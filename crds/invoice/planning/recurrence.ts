/**
 * An invoice that repeats itself every month. What is on record: since when it repeats on which day (a fact each time that
 * is changed, paused or taken up again) and which months were made. The next one is the first such day after both whose
 * month was not made; the child has a name that follows from parent and month (rules/invoice.md#recurrence).
 */

import { refName } from '../../kernel/fields.ts'
import type { Desired } from '../../kernel/schedule.ts'
import { addDays, dayIn, daysBetween, nextMonthDay, startOfDay } from '../../values/calendar.ts'
import type { MadePeriod, Recurring } from '../facts/recurring.ts'
import { issuedOn } from '../order/number.ts'
import type { Recurrence } from '../order/timing.ts'
import type { InvoiceResource, InvoiceSpec } from '../schema.ts'
import { zoneOf } from '../status.ts'
import type { RecurrenceStep } from '../steps.ts'
import type { InvoiceWorld } from '../world.ts'

/** Days from issue to the due date, where the parent has no due date to go by. */
const DUE_DAYS = 14

const wantedDay = ({ recurrence }: InvoiceSpec): number | null =>
  recurrence && !recurrence.paused ? recurrence.day : null

const periodOf = (on: string): string => on.slice(0, 'YYYY-MM'.length)

/** The local day of the next one; null when it is paused, has ended, or was never asked for. */
const nextOn = (spec: InvoiceSpec, { anchor, made }: Recurring): string | null => {
  const day = wantedDay(spec)
  if (day === null || anchor === null || anchor.day !== day) return null
  let on = nextMonthDay(anchor.from, day)
  while (made.some(({ period }) => period === periodOf(on))) on = nextMonthDay(on, day)
  const until = spec.recurrence?.until
  return until !== undefined && on > until ? null : on
}

/** From the day of issue to the due date, as the parent has it. */
const distanceOf = ({ metadata, spec }: InvoiceResource, world: InvoiceWorld): number => {
  if (spec.dueDate === undefined) return DUE_DAYS
  const issued = new Date(world.record?.issuedAt ?? metadata.creationTimestamp)
  const days = daysBetween(issuedOn(issued, zoneOf(world)), spec.dueDate)
  return days < 0 ? DUE_DAYS : days
}

/** No external_ref holds a space, so nobody can take the name before. */
const childName = (account: string, parent: string, period: string): string =>
  refName('inv', { account, externalRef: `${parent} ${period}` })

const childOf = (
  object: InvoiceResource,
  world: InvoiceWorld,
  on: string,
): Extract<RecurrenceStep, { do: 'repeat' }> => {
  const { metadata, spec } = object
  // what was ended of this one's links is no part of the next
  const { externalRef: _ref, paid: _paid, linkVersions: _links, recurrence, ...order } = spec
  const period = periodOf(on)
  return {
    do: 'repeat',
    period,
    on,
    name: childName(spec.account, metadata.name, period),
    spec: {
      ...order,
      send: recurrence?.mode === 'send',
      void: false,
      dueDate: addDays(on, distanceOf(object, world)),
      recurrenceOf: { invoice: metadata.name, period, held: false },
    },
  }
}

/** What is to be recorded or made now, one at a time. */
export const recurrenceSteps = (object: InvoiceResource, world: InvoiceWorld, now: Date): RecurrenceStep[] => {
  const { spec } = object
  const { recurring } = world
  const zone = zoneOf(world)
  const day = wantedDay(spec)
  if (day !== (recurring.anchor?.day ?? null)) {
    return [{ do: 'anchor', n: (recurring.anchor?.n ?? 0) + 1, day, from: dayIn(now, zone) }]
  }
  const on = nextOn(spec, recurring)
  return on === null || startOfDay(on, zone) > now ? [] : [childOf(object, world, on)]
}

/** Has the invoice looked at when the next one is to be made. */
export const desiredRecurrence = ({ spec }: InvoiceResource, world: InvoiceWorld): Desired[] => {
  const on = nextOn(spec, world.recurring)
  if (on === null) return []
  const dueAt = startOfDay(on, zoneOf(world)).toISOString()
  return [{ purpose: 'recurrence', dueAt, lapsesAt: null, effect: null }]
}

/** The world once an anchor or a month is on record. */
export const withAnchor = (world: InvoiceWorld, anchor: NonNullable<Recurring['anchor']>): InvoiceWorld => ({
  ...world,
  recurring: { ...world.recurring, anchor },
})
export const withPeriod = (world: InvoiceWorld, made: MadePeriod): InvoiceWorld => ({
  ...world,
  recurring: { ...world.recurring, made: [...world.recurring.made, made] },
})

export type RecurrenceView = {
  /** What this one repeats, and for which month; null when it repeats none. */
  of: string | null
  period: string | null
  every: Recurrence['every'] | null
  day: number | null
  mode: Recurrence['mode'] | null
  until: string | null
  paused: boolean
  /** The local day of the next one; null while it is paused, and once it has ended. */
  next_on: string | null
  invoices: { id: string; period: string; on: string; held: boolean }[]
}

/** Null for an invoice that neither repeats another nor is repeated. */
export const viewRecurrence = (
  spec: InvoiceSpec,
  world: InvoiceWorld | null,
  voided: boolean,
): RecurrenceView | null => {
  const { recurrence, recurrenceOf } = spec
  if (!recurrence && !recurrenceOf) return null
  return {
    of: recurrenceOf?.invoice ?? null,
    period: recurrenceOf?.period ?? null,
    every: recurrence?.every ?? null,
    day: recurrence?.day ?? null,
    mode: recurrence?.mode ?? null,
    until: recurrence?.until ?? null,
    paused: recurrence?.paused ?? false,
    next_on: world && !voided ? nextOn(spec, world.recurring) : null,
    invoices: (world?.recurring.made ?? []).map(({ id, period, on, held }) => ({ id, period, on, held })),
  }
}

/** A draft that was to be sent by itself (the cap of sends was reached). */
export const heldWarning = (spec: InvoiceSpec): string[] =>
  spec.recurrenceOf?.held && !spec.send
    ? ['It was to be sent by itself, but the daily cap of sends was reached: send it yourself.']
    : []
