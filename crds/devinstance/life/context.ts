/** What a guard and an effect of the table are given, and what they give. */

import type { Said, Trigger } from '../protocol.ts'
import type { Refusal } from './refusal.ts'
import type { DevInstanceRow } from './row.ts'

/** What is seen of the world beside the dev instance itself. */
export type Surroundings = {
  /** Of the latest report: what is on the machine and nowhere else. Null: nothing was ever reported. */
  git: { dirty: number; untracked: number; unpushed: number } | null
}

/** An entry that the history of the instance gets. Kinds: rules/devinstance.md#history. */
export type NewHistoryEntry = { kind: string; data: Record<string, unknown> }

export type TransitionContext<T extends Trigger> = {
  instance: DevInstanceRow
  said: Said[T]
  at: string
  around: Surroundings
}

export type Guard<T extends Trigger> = (context: TransitionContext<T>) => Refusal | null

export type TransitionEffect<T extends Trigger> = (context: TransitionContext<T>) => {
  instance: DevInstanceRow
  entries: NewHistoryEntry[]
}
