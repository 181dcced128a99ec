/** What happens to an operation of an app, what a decision about it rests on, and how the decision reads. */
import type { ProblemCode } from '../../kernel/problem.ts'
import type { ReleaseCommands } from '../runs/schema.ts'
import type { AppIntent, LeavingReplica, Operation, Release, ReleaseRecord, StepName } from '../world.ts'
import type { ReleasePart } from './health/seen.ts'

export type NewRelease = {
  source: string
  envVersion: number | null
  restoredFrom: number | null
  /** What is run before and after it; nothing when left out. */
  commands?: ReleaseCommands | null
  /** What the app keeps goes with it to another host. */
  carries?: boolean
}

/** What was learned of a release by a step of its operation. */
export type KnownRelease = { record?: ReleaseRecord; digest?: string; address?: string; state?: 'starting' }

/** How an operation ended without a switch. `log`: the last lines, for the release that it began. */
export type OperationEnding = { code: string | null; message: string; log: string | null }

export type OperationEvent =
  /** Its turn has come: it gets a release of its own. */
  | ({ on: 'begun' } & NewRelease)
  /** The present step is done. The last one ends with the switch. */
  | { on: 'passed'; step: Exclude<StepName, 'switch'>; known: KnownRelease; message: string | null }
  /** The turn of a scale has come: it is one of the live release. */
  | { on: 'scaling' }
  /** What is added of replicas answers, and what will leave is known. */
  | { on: 'grown'; address: string; leaving: LeavingReplica[]; message: string }
  /** Visitors are led to as many as were asked for. */
  | { on: 'scaled'; replicas: number; parts: ReleasePart[] }
  /** Nothing of these replicas runs any more. */
  | { on: 'left'; names: readonly string[] }
  /** From here on visitors may reach the new release. */
  | { on: 'claimed' }
  /** They all do. `watchMs`: for how long the release before stays to be gone back to; not at all when left out. */
  | { on: 'switched'; watchMs?: number }
  /** They went back to the release before: this one turned out to be bad. */
  | ({ on: 'returned'; before: Release } & OperationEnding)
  /** Somebody asks it to stop. */
  | { on: 'cancel' }
  | ({ on: 'succeeded' | 'failed' | 'cancelled' | 'unknown' } & OperationEnding)
  /** Nothing of its release runs any more. */
  | { on: 'retired' }

export type OperationEventName = OperationEvent['on']
export type EventNamed<On extends OperationEventName> = Extract<OperationEvent, { on: On }>

/** An operation, and what of its app a decision about it touches. */
export type OperationContext = {
  operation: Operation
  /** The release that it makes; null until it has begun. */
  release: Release | null
  live: Release | null
  /** The highest number of a release of the app; 0 when it has none. */
  lastRelease: number
  /** The id of the one that runs; null when none does. */
  running: string | null
}

/** What is asked of an app. `byController`: it was written into the spec by hand. */
export type NewAppOperation = { id: string; app: string; account: string; intent: AppIntent; byController: boolean }

/** What is there when an operation is asked for. */
export type OperationQueue = {
  /** The operation with this id, of whatever app. */
  held: Operation | null
  /** Those of the app that wait or run, in the order of asking. */
  open: readonly Operation[]
  /** The number of the app's last operation; 0 when it has none. */
  last: number
}

/** `detail` is a whole sentence, as REST shows it. */
export type OperationRefusal = { code: ProblemCode; detail: string }

export type OperationDecision =
  | { state: 'refused'; refusal: OperationRefusal }
  /** It is so already. */
  | { state: 'unchanged'; operation: Operation; releases: Release[] }
  /** `releases`: those that change, in the order in which they are stored: what steps back goes first. */
  | { state: 'accepted'; operation: Operation; releases: Release[] }
