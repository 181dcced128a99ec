/** What a guard and an effect of the table are given, and what they give. */

import type { Fault, ProblemCode } from '../../kernel/problem.ts'
import type { Said, Trigger } from '../protocol.ts'
import type { DevInstanceRow } from './row.ts'

/** What is seen of the world beside the dev instance itself. It is kept with the fact, so that the row can be made again of facts. */
export type Surroundings = {
  /** Of the latest report: what is on the machine and nowhere else. Null: nothing was ever reported. */
  git: { dirty: number; untracked: number; unpushed: number } | null
  /** The owner's cap and what the owner's other instances are committed to; left out until it is in the way, micro-USD a month. */
  cap?: CapBudget
  /** What another dev instance has, by the unique indexes of the schema. */
  taken?: readonly Taken[]
  /** What it is to be launched from, where the call changes that. */
  launchedFrom?: LaunchedFrom
}
/** User data by its digest (hex), and the version of the programs in it. */
export type LaunchedFrom = { sha256: string; programs: number }
export type CapBudget = { othersMicroUsd: number; capMicroUsd: number }
export type Taken = 'name' | 'instance' | 'address' | 'hostKey'

/** An entry that the history of the instance gets. Kinds: rules/devinstance.md#history. */
export type NewHistoryEntry = { kind: string; data: Record<string, unknown> }

export type TransitionContext<T extends Trigger> = {
  instance: DevInstanceRow
  said: Said[T]
  at: string
  around: Surroundings
}

/** Who says something, or who can mend what is wrong. */
export type Actor = 'owner' | 'admin' | 'provisioner' | 'instance' | 'clock'

/** A rule as the page of the life cycle tells it: its code, what must hold, why, and who can mend it. */
export type LifeRule = { code: ProblemCode; rule: string; reason: string; actor: Actor }

/** How a rule is broken, with its figures. `limitMicroUsd`: it is kept again once no more than that is committed. */
export type Broken = { detail: string; faults?: Fault[]; limitMicroUsd?: number }

export type Guard<T extends Trigger> = LifeRule & { check(context: TransitionContext<T>): Broken | null }

/** Of a report. @param made the row as the report leaves it */
export type ReportCondition<T extends Trigger> = LifeRule & {
  check(context: TransitionContext<T>, made: DevInstanceRow): Broken | null
}

export type TransitionEffect<T extends Trigger> = (context: TransitionContext<T>) => {
  instance: DevInstanceRow
  entries: NewHistoryEntry[]
}

/** The user data, where nothing is launched yet and what it is made of has changed. */
export const madeAgain = ({ launchedFrom }: Surroundings): Partial<DevInstanceRow> =>
  launchedFrom ? { bootstrapSha256: launchedFrom.sha256, programs: launchedFrom.programs } : {}
