/**
 * What time does to an invoice, beside what its spec and its facts ask for: it is repeated, reminded of and overdue, and a
 * test goes after 30 days. A plan that has come to rest passes through here, and only then is at rest.
 */

import { waiting } from '../../kernel/plan.ts'
import { type Desired, rescheduled } from '../../kernel/schedule.ts'
import type { SendRecord } from '../facts/ledger.ts'
import type { InvoiceResource } from '../schema.ts'
import type { InvoiceFacts } from '../status.ts'
import type { InvoicePlan, InvoiceStep, TimeStep } from '../steps.ts'
import type { InvoiceWorld } from '../world.ts'
import { quietly } from './recovery/quiet.ts'
import { desiredRecurrence, recurrenceSteps } from './recurrence.ts'
import { desiredReminders, remindSteps } from './reminders.ts'

/** How long a test invoice is kept (rules/invoice.md#tests). */
export const TEST_DAYS = 30
const DAY_MS = 86_400_000

type Passing = { object: InvoiceResource; world: InvoiceWorld; facts: InvoiceFacts; now: Date }

const PURGE = 'purge'
const purgeRow = (world: InvoiceWorld): Desired | undefined => world.scheduled.find(({ purpose }) => purpose === PURGE)

/** Counted from the first look at it: the age of an object goes by the wall, and the platform's clock may be ahead of it. */
const desiredPurge = ({ object: { spec }, world, now }: Passing): Desired[] => {
  if (!spec.test) return []
  const dueAt = purgeRow(world)?.dueAt ?? new Date(now.getTime() + TEST_DAYS * DAY_MS).toISOString()
  return [{ purpose: PURGE, dueAt, lapsesAt: null, effect: null }]
}

const isOver = ({ object: { spec }, world, now }: Passing): boolean => {
  const row = purgeRow(world)
  return spec.test && row !== undefined && Date.parse(row.dueAt) <= now.getTime()
}

const desiredOf = (passing: Passing, isReady: boolean): Desired[] => {
  const { object, world, facts, now } = passing
  return [
    ...(isReady && facts.phase !== 'voided'
      ? [...desiredReminders(object, world, facts, now), ...desiredRecurrence(object, world)]
      : []),
    ...desiredPurge(passing),
  ]
}

const scheduleSteps = (passing: Passing, isReady: boolean): TimeStep[] => {
  const { object, world } = passing
  const { generation } = object.metadata
  const rows = rescheduled(desiredOf(passing, isReady), world.scheduled, { generation, factSeq: world.factSeq })
  return rows === null ? [] : [{ do: 'schedule', rows }]
}

/** What follows from a first send is known before it is frozen, and written in the same breath. */
const aheadOf = (passing: Passing, steps: readonly InvoiceStep[]): TimeStep[] => {
  const { world, now } = passing
  const freeze = steps.find((step) => step.do === 'freeze')
  // with a receipt on the way the facts are still to change
  if (freeze?.n !== 1 || steps.length > 1) return []
  const { n, frozen, gate } = freeze
  const send: SendRecord = { n, at: now.toISOString(), gate, sha256: '', bytes: 0, frozen }
  return scheduleSteps({ ...passing, world: { ...world, sends: [send] } }, true)
}

const waits = (plan: InvoicePlan, [reason, message]: [string, string], steps: InvoiceStep[]): InvoicePlan => ({
  ...plan,
  steps,
  verdict: waiting(reason, message),
})

/** @param plan what spec and facts ask for; left as it is while it has steps of its own */
export const inTime = (object: InvoiceResource, world: InvoiceWorld, now: Date, plan: InvoicePlan): InvoicePlan => {
  const passing = { object, world, facts: plan.status, now }
  if (isOver(passing)) return waits(plan, ['Purging', 'test invoices are kept for 30 days'], [{ do: 'purge' }])
  if (plan.steps.length > 0) return { ...plan, steps: [...quietly(plan.steps, world), ...aheadOf(passing, plan.steps)] }
  const asked = remindSteps(object, world, plan.status, now)
  if (asked.length > 0) return waits(plan, ['Reminding', 'reminds the client'], asked)
  const isReady = plan.verdict.state === 'ready'
  const repeating = isReady && plan.status.phase !== 'voided' ? recurrenceSteps(object, world, now) : []
  if (repeating.length > 0) return waits(plan, ['Repeating', 'makes what it is repeated by'], repeating)
  const scheduling = scheduleSteps(passing, isReady)
  if (scheduling.length > 0) return waits(plan, ['Scheduling', 'notes down what is due when'], scheduling)
  return plan
}
