/**
 * The one place that shapes a status: conditions in the kstatus sense, and the smallest merge patch from what stands to
 * what shall stand. Pure.
 */
import type { CommonStatus, Condition } from '../../crds/kernel/object.ts'
import type { OwnCondition, Verdict } from '../../crds/kernel/plan.ts'

/** The API server's own limits (schema of conditions). */
const REASON_MAX = 128
const MESSAGE_MAX = 1024
/** The runtime owns these three; a kind's own conditions are what its plan says. */
const OURS = new Set(['Ready', 'Reconciling', 'Stalled'])

/** What a pass has to say: its plan's verdict, or how it ended without one. */
export type PassOutcome =
  | Verdict
  /** A step failed and comes again with back-off. */
  | { state: 'fault'; reason: string; message: string; ready: 'False' | 'Unknown' }
  /** Work goes on for longer than a reader should have to guess. */
  | { state: 'working'; reason: string; message: string }
  | { state: 'paused' }

type Statement = OwnCondition

/** `REF_PAYLOAD_MISMATCH` → `RefPayloadMismatch`, `claimNumber` → `ClaimNumber`. */
export const camelCase = (words: string): string =>
  (words.includes('_') ? words.toLowerCase() : words).replace(/(?:^|_)([a-z])/g, (_all, letter: string) =>
    letter.toUpperCase(),
  )

const clip = (text: string, max: number): string => (text.length <= max ? text : `${text.slice(0, max - 1)}…`)

const state = (type: string, status: Condition['status'], reason: string, message: string): Statement => ({
  type,
  status,
  reason: clip(reason, REASON_MAX),
  message: clip(message, MESSAGE_MAX),
})

const statementsOf = (outcome: PassOutcome, ready: Condition | undefined): Statement[] => {
  switch (outcome.state) {
    case 'ready':
      return [state('Ready', 'True', outcome.reason, outcome.message)]
    case 'waiting':
      return [
        state('Ready', 'False', outcome.reason, outcome.message),
        state('Reconciling', 'True', outcome.reason, outcome.message),
      ]
    case 'unready':
      return [state('Ready', outcome.ready, outcome.reason, outcome.message)]
    case 'stalled': {
      const { code } = outcome
      // The message's first word is what REST would have answered.
      const message = outcome.message.startsWith(code) ? outcome.message : `${code}: ${outcome.message}`
      return [state('Ready', 'False', camelCase(code), message), state('Stalled', 'True', camelCase(code), message)]
    }
    case 'fault':
      return [
        state('Ready', outcome.ready, outcome.reason, outcome.message),
        state('Reconciling', 'True', outcome.reason, outcome.message),
      ]
    case 'working':
      return [
        state('Ready', 'Unknown', outcome.reason, outcome.message),
        state('Reconciling', 'True', outcome.reason, outcome.message),
      ]
    case 'paused':
      return [
        // What was true stays said: pausing changes nothing in the world.
        ready ?? state('Ready', 'Unknown', 'Paused', 'Paused before the first pass; remove the annotation to go on.'),
        state('Reconciling', 'True', 'Paused', 'Paused by annotation; remove it to go on.'),
      ]
    default: {
      const never: never = outcome
      throw new Error(String(never))
    }
  }
}

export type StatusInput<Facts> = {
  previous: CommonStatus | undefined
  generation: number
  outcome: PassOutcome
  /** The kind's own part, from the plan; absent when the pass ended without one: then it stays as it stands. */
  facts?: Facts
  /** The kind's own conditions, from the plan; absent: those that stand stay. */
  conditions?: readonly OwnCondition[]
  now: Date
}

/** The whole status that shall stand. `lastTransitionTime` moves only with `status`. */
export const nextStatus = <Facts extends object>(input: StatusInput<Facts>): CommonStatus => {
  const { previous, generation, outcome, now } = input
  const held = new Map((previous?.conditions ?? []).map((c) => [c.type, c]))
  const instant = `${now.toISOString().slice(0, 19)}Z`
  const shaped = ({ type, status, reason, message }: Statement): Condition => {
    const before = held.get(type)
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : instant
    return { ...state(type, status, reason, message), observedGeneration: generation, lastTransitionTime }
  }
  const ours = statementsOf(outcome, held.get('Ready')).map((statement): Condition => {
    const before = held.get(statement.type)
    return outcome.state === 'paused' && statement.type === 'Ready' && before !== undefined ? before : shaped(statement)
  })
  const others =
    input.conditions?.map(shaped) ?? (previous?.conditions ?? []).filter((condition) => !OURS.has(condition.type))
  // A paused object was not looked at: its status speaks of the generation it spoke of before.
  const observed = outcome.state === 'paused' ? (previous?.observedGeneration ?? 0) : generation
  const facts = input.facts ?? withoutConditions(previous)
  return { ...facts, observedGeneration: observed, conditions: [...ours, ...others] }
}

const withoutConditions = (status: CommonStatus | undefined): CommonStatus => {
  const { conditions: _dropped, ...rest } = status ?? {}
  return rest
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Equal as a merge patch sees it: the order of keys makes no difference, nor absent against undefined and null. */
export const sameJson = (a: unknown, b: unknown): boolean => {
  if (a === b || (a ?? b ?? undefined) === undefined) return true
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => sameJson(item, b[index]))
  }
  if (!isRecord(a) || !isRecord(b)) return false
  return Object.keys({ ...a, ...b }).every((key) => sameJson(a[key], b[key]))
}

/**
 * The merge patch that turns `from` into `to` (RFC 7386): fields that go are `null`, lists are replaced whole.
 * @returns undefined when nothing differs: then nothing is to be written
 */
export const mergeDiff = (from: object, to: object): Record<string, unknown> | undefined => {
  const [before, after] = [from as Record<string, unknown>, to as Record<string, unknown>]
  const patch: Record<string, unknown> = {}
  for (const key of Object.keys({ ...before, ...after })) {
    const [was, is] = [before[key], after[key]]
    if (sameJson(was, is)) continue
    if (isRecord(was) && isRecord(is)) patch[key] = mergeDiff(was, is)
    else patch[key] = is ?? null
  }
  return Object.keys(patch).length === 0 ? undefined : patch
}
