/** What the controller has observed around one dev instance: its row, what was said of it since, its owner, its reports. */

import type { NewHistoryEntry, Surroundings } from './life/context.ts'
import type { DevInstanceRow } from './life/row.ts'
import type { Said, Trigger } from './protocol.ts'

/** Who said something: the account and its credential. */
export type By = { account: string; kind: string; id: string }

/** A call that awaits its verdict. */
export type Pending = { seq: number; trigger: Trigger; said: Said[Trigger]; by: By | null; at: string }

/** `rev` rises with each decision; `box` is null while it is only reserved. */
export type DevInstanceRecord = { uid: string | null; rev: number; pricingVersion: string; box: DevInstanceRow | null }

export type DevInstanceWorld = {
  account: { capabilities: readonly string[]; capMicroUsd: number } | null
  record: DevInstanceRecord | null
  /** In the order of their saying. */
  pending: Pending[]
  lastReport: { at: string; git: Surroundings['git'] } | null
  factSeq: number
  /** This pass has deleted the resource; the watch has not said so yet. */
  isRemoved?: boolean
}

/**
 * How one call ended, to be written in one transaction: the verdict, the row, the history, the event. `seq` is that of the
 * pending fact; null for what the operator decides by itself.
 */
export type TransitionSettlement = {
  seq: number | null
  trigger: string
  at: string
  by: By | null
} & (
  | { state: 'refused'; code: string; detail: string }
  | { state: 'accepted'; instance: DevInstanceRow; entries: NewHistoryEntry[] }
)
