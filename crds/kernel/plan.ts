/**
 * What a plan says: the steps to take, the status to show, and the verdict.
 * A plan is made by a pure function `plan(object, world, now)`; it never looks and never acts (rules/platform.md#passes).
 */
import type { Condition } from './object.ts'
import type { ProblemCode } from './problem.ts'

/** How a pass may end. Three early endings and no more; a thrown error is a fault and backs off. */
export type Verdict =
  | { state: 'ready'; reason: string; message: string }
  /** Something outside must happen first; look again after `retryAfterMs`, or when woken. */
  | { state: 'waiting'; reason: string; message: string; retryAfterMs?: number }
  /** Nothing is under way, and it is not as it should be, or nobody knows. `warns`: it is bad news. */
  | { state: 'unready'; ready: 'False' | 'Unknown'; reason: string; message: string; warns: boolean }
  /** A person must act. `code` is what REST would have answered. */
  | { state: 'stalled'; code: ProblemCode; message: string }

/** A statement of the kind's own, beside Ready, Reconciling and Stalled. */
export type OwnCondition = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>

/**
 * @typeParam Step one effect each, told apart by `do`
 * @typeParam Status the kind's own part of the status, without conditions and observedGeneration
 */
export type Plan<Step extends { do: string }, Status> = {
  steps: Step[]
  status: Status
  verdict: Verdict
  /** All of the kind's own; those that stand in the status are left as they are when this is left out. */
  conditions?: readonly OwnCondition[]
  /** Run again at this instant though nothing changed (ISO): a due date, a reminder. */
  wakeAt?: string
}

export const ready = (reason: string, message: string): Verdict => ({ state: 'ready', reason, message })
export const waiting = (reason: string, message: string, retryAfterMs?: number): Verdict =>
  retryAfterMs === undefined
    ? { state: 'waiting', reason, message }
    : { state: 'waiting', reason, message, retryAfterMs }
export const unready = (said: Omit<Extract<Verdict, { state: 'unready' }>, 'state'>): Verdict => ({
  state: 'unready',
  ...said,
})
export const stalled = (code: ProblemCode, message: string): Verdict => ({ state: 'stalled', code, message })
