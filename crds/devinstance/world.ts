/** What the controller has observed around one dev instance: its row, what was said of it since, its owner, its reports. */

import type { Fault } from '../kernel/problem.ts'
import type { NewHistoryEntry, Surroundings } from './life/context.ts'
import type { Reservation } from './life/effects.ts'
import type { DevInstanceRow } from './life/row.ts'
import type { Said, Trigger } from './protocol.ts'

/** Who said something: the account and its credential. */
export type By = { account: string; kind: string; id: string }

/** A call: by whom, when. `seq` is that of its fact; null where the operator says it itself. */
export type Call = Exclude<Sayable, { trigger: 'reserve' }> & { seq: number | null; by: By | null; at: string }

/** A call that awaits its verdict. */
export type Pending = Call & { seq: number }

/** `rev` rises with each decision; `box` is null while it is only reserved. `othersMicroUsd`: what the owner's other instances are committed to. */
export type DevInstanceRecord = {
  uid: string | null
  rev: number
  pricingVersion: string
  box: DevInstanceRow | null
  othersMicroUsd: number
}

export type DevInstanceWorld = {
  account: { capabilities: readonly string[]; capMicroUsd: number } | null
  record: DevInstanceRecord | null
  /** In the order of their saying. */
  pending: Pending[]
  /** `usedAt`: the latest instant at which reports have told of use; `attestedAt`: when the latest came that attested. */
  lastReport: { at: string; git: Surroundings['git']; usedAt: string | null; attestedAt: string | null } | null
  factSeq: number
  /** This pass has deleted the resource; the watch has not said so yet. */
  isRemoved?: boolean
}

/**
 * How one call ended, to be written in one transaction: the verdict, the row, the history, the event. `seq` is that of the
 * pending fact; null for what the operator decides by itself, which is written with what it `said`. What was seen `around` is
 * kept with the fact, so that all facts together make the row again (life/rebuilt.ts).
 */
export type TransitionSettlement = {
  seq: number | null
  at: string
  by: By | null
} & Sayable & { around: Surroundings } & (
    | { state: 'refused'; code: string; detail: string; faults?: Fault[]; recorded?: WrittenRow }
    | ({ state: 'accepted' } & WrittenRow)
  )

/** What was said, in the words of the table; a reservation is the first of it. */
export type Sayable =
  | { [T in Trigger]: { trigger: T; said: Said[T] } }[Trigger]
  | { trigger: 'reserve'; said: Reservation }

/** The row and its history as a decision leaves them. */
export type WrittenRow = { instance: DevInstanceRow; entries: NewHistoryEntry[] }
