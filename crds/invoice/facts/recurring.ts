/** What the facts say of the repetition of an invoice. */

import type { FactLike } from './fact.ts'

/** A month that was made: the child, its local day, and whether the cap of sends left it a draft. */
export type MadePeriod = { period: string; on: string; id: string; held: boolean }

/** `anchor`: on which day of the month it repeats since when; `day` is null while it does not. */
export type Recurring = { anchor: { n: number; day: number | null; from: string } | null; made: MadePeriod[] }

export const anchorKey = (n: number): string => `recurring:${n}`

export const periodKey = (period: string): string => `period:${period}`

/** What the facts say of the repetition, in the order of their happening. */
export const recurringOf = (facts: readonly FactLike[]): Recurring => {
  const anchor = facts.findLast(({ kind }) => kind === 'recurring')?.body
  const made = facts.filter(({ kind }) => kind === 'period')
  return {
    anchor: anchor
      ? { n: Number(anchor.n), day: anchor.day === null ? null : Number(anchor.day), from: String(anchor.from) }
      : null,
    made: made.map(({ body }) => ({
      period: String(body.period),
      on: String(body.on),
      id: String(body.id),
      held: body.held === true,
    })),
  }
}
