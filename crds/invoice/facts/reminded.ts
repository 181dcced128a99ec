/** What the facts say of reminders. */

import type { FactLike } from './fact.ts'

/** The steps in their order; `days` count from the due date. */
export const REMINDER_STEPS = [
  { step: '-3', days: -3 },
  { step: '0', days: 0 },
  { step: '+7', days: 7 },
  { step: '+14', days: 14 },
] as const

export type ReminderStep = (typeof REMINDER_STEPS)[number]['step']

/** A reminder that was given. `emailed` is false in test mode, which keeps the mail back. */
export type GivenReminder = { step: ReminderStep | 'manual'; at: string; to: string; emailed: boolean }

/** Somebody asked for a reminder, and it is not decided yet. */
export type AskedReminder = { seq: number; id: string }

/** What the facts say of reminders. Lists are in the order of their happening. */
export type Chasing = {
  given: GivenReminder[]
  asked: AskedReminder[]
  /** The due dates that were told to have passed. */
  overdue: string[]
}

export const stepKey = (step: ReminderStep): string => `reminder:${step}`

export const overdueKey = (dueDate: string): string => `overdue:${dueDate}`

/** The key of a reminder that somebody asks for. */
export const remindKey = (id: string): string => `remind:${id}`

export const givenOf = ({ kind, body, state, outcome, at }: FactLike): GivenReminder[] => {
  if (state !== 'accepted') return []
  if (kind === 'reminder')
    return [{ step: body.step as ReminderStep, at, to: String(body.to), emailed: body.emailed === true }]
  return kind === 'remind' && outcome?.sent === true
    ? [{ step: 'manual', at, to: String(outcome.to), emailed: true }]
    : []
}

export const chasingOf = (facts: readonly FactLike[]): Chasing => ({
  given: facts.flatMap(givenOf),
  asked: facts
    .filter(({ kind, state }) => kind === 'remind' && state === 'pending')
    .map(({ seq, key }) => ({ seq, id: key.slice(remindKey('').length) })),
  overdue: facts.filter(({ kind }) => kind === 'overdue').map(({ body }) => String(body.dueDate)),
})
