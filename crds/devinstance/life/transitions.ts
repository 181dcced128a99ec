/**
 * The life of a dev instance as data: from which state, by which trigger, under which rules, to which state, with which
 * effect and entry in the history. `decide` reads the table (rows/); nothing else moves a dev instance from
 * state to state. As a page with a diagram: hack/docs/devinstance-life.md. Source: rules/devinstance.md#states.
 */

import type { Trigger } from '../protocol.ts'
import type { State } from '../schema.ts'
import { standing, withBreach } from './breaches.ts'
import type { Broken, Guard, NewHistoryEntry, TransitionContext } from './context.ts'
import { newEntry, toldOf } from './entry.ts'
import { type Refusal, refusal, wrongState } from './refusal.ts'
import { type Breach, type DevInstanceRow, metered } from './row.ts'
import { DELETED_ROWS } from './rows/deleted.ts'
import { LAUNCH_ROWS } from './rows/launch.ts'
import { REPORT_ROWS } from './rows/reports.ts'
import { REQUEST_ROWS } from './rows/requests.ts'
import { afterWishes, WISH_ROWS } from './rows/wishes.ts'
import { type DevInstanceStanding, isReport, never, type Row, SAYINGS, standingOf } from './table.ts'

/** Of one trigger and one state, or of a tombstone, there is one row. */
export const TRANSITIONS: readonly Row[] = [
  ...LAUNCH_ROWS,
  ...REPORT_ROWS,
  ...DELETED_ROWS,
  ...REQUEST_ROWS,
  ...WISH_ROWS,
]

export const TRIGGERS = Object.keys(SAYINGS) as Trigger[]

export type TransitionDecision =
  | { state: 'refused'; refusal: Refusal }
  /** A report that the document has refused: it is answered so, and it is on record. */
  | { state: 'recorded'; refusal: Refusal; instance: DevInstanceRow; entries: NewHistoryEntry[] }
  /** The dev instance is as the caller says already. */
  | { state: 'unchanged' }
  | { state: 'accepted'; instance: DevInstanceRow; entries: NewHistoryEntry[] }

/** The version that a call carries; undefined where it carries none. */
const versionOf = (said: unknown): number | undefined => (said as { version?: number }).version

/** In their order. */
const brokenOf = <T extends Trigger>(guards: readonly Guard<T>[], context: TransitionContext<T>): Refusal[] =>
  guards.flatMap(({ code, check }) => {
    const broken = check(context)
    return broken ? [refusal(code, broken.detail, broken.faults)] : []
  })

/**
 * What it breaks is on record, and what is known by it; the same again is refused and no more.
 * @param why the first is the answer
 */
const record = <T extends Trigger>(
  context: TransitionContext<T>,
  why: readonly [Refusal, ...Refusal[]],
  { on, recorded, conditions }: Pick<Row<T>, 'on' | 'recorded' | 'conditions'>,
): TransitionDecision => {
  const { instance, at } = context
  const [first, ...others] = why
  const made = recorded?.(context) ?? { instance, entries: [] }
  const isKnown = ({ code, detail }: Refusal) =>
    instance.breaches.some((one) => one.code === code && one.on === on && one.detail === detail)
  if (why.every(isKnown) && made.instance === instance) return { state: 'refused', refusal: first }
  const broken = breachesOf({ on, conditions: (recorded && conditions) ?? [] }, context, made.instance)
  const told = [...others, first].map(({ code, detail }) => ({ code, on, at, detail }))
  const breaches = [...broken, ...told].reduce(withBreach, made.instance.breaches)
  const data = { on, ...codeAndDetail(first), ...(others.length > 0 && { broke: others.map(codeAndDetail) }) }
  const entries = [newEntry('contradicted', data), ...made.entries]
  return { state: 'recorded', refusal: first, instance: metered({ ...made.instance, breaches }, at), entries }
}

const stateAfter = (to: Row['to'], before: State, changed: DevInstanceRow): State => {
  if (to === 'same') return before
  return to === 'said' ? changed.state : to
}

const breachesOf = <T extends Trigger>(
  { on, conditions = [] }: Pick<Row<T>, 'on' | 'conditions'>,
  context: TransitionContext<T>,
  made: DevInstanceRow,
): Breach[] =>
  conditions.flatMap(({ code, check }) => {
    const broken: Broken | null = check(context, made)
    if (broken === null) return []
    const { detail, limitMicroUsd } = broken
    return [{ code, on, at: context.at, detail, ...(limitMicroUsd !== undefined && { limitMicroUsd }) }]
  })

/** It is as the caller says. A report says so of what was in doubt, too. */
const confirmed = <T extends Trigger>(on: T, { instance }: TransitionContext<T>): TransitionDecision => {
  const breaches = isReport(on) ? standing(instance, on) : instance.breaches
  if (breaches === instance.breaches) return { state: 'unchanged' }
  return { state: 'accepted', instance: { ...instance, breaches }, entries: [newEntry('confirmed', { on })] }
}

const take = <T extends Trigger>(found: Row<T>, context: TransitionContext<T>): TransitionDecision => {
  const { instance, at } = context
  const { on, to, bumps } = found
  const { instance: changed, entries } = found.effect(context)
  const state = stateAfter(to, instance.state, changed)
  const version = instance.version + (bumps ? 1 : 0)
  const stateSince = state === instance.state ? instance.stateSince : at
  const moved = afterWishes({ ...changed, state, version, stateSince }, on, at)
  const broken = breachesOf(found, context, moved)
  const breaches = broken.reduce(withBreach, standing(moved, on))
  const [first, ...rest] = entries
  const told =
    first && broken.length > 0 ? { ...first, data: { ...first.data, broke: broken.map(codeAndDetail) } } : first
  return {
    state: 'accepted',
    instance: metered({ ...moved, breaches }, at),
    entries: told ? [told, ...rest] : rest,
  }
}

const codeAndDetail = ({ code, detail }: Pick<Breach, 'code' | 'detail'>) => ({ code, detail })

/**
 * What becomes of a call. Of two reasons to refuse, the older knowledge of the caller comes first: a version that is past.
 * @param context.at when it was said; leases are judged by it
 */
export const decide = <T extends Trigger>(trigger: T, context: TransitionContext<T>): TransitionDecision => {
  const { instance } = context
  const conflict = conflictOf(trigger, context)
  if (conflict) {
    return isReport(trigger) ? record(context, [conflict], { on: trigger }) : { state: 'refused', refusal: conflict }
  }
  const found = rowOf(trigger, standingOf(instance))
  if (!found) return { state: 'refused', refusal: wrongState(trigger, instance) }
  const [refused] = brokenOf(found.guards, context)
  if (refused) return { state: 'refused', refusal: refused }
  const [why, ...others] = brokenOf(found.records ?? [], context)
  if (why) return record(context, [why, ...others], found)
  return found.holds?.(context) ? confirmed(trigger, context) : take(found, context)
}

/** A version that is past. Of a tombstone nobody is shown one to compare. */
const conflictOf = <T extends Trigger>(trigger: T, { instance, said }: TransitionContext<T>): Refusal | null => {
  const version = versionOf(said)
  if (version === undefined || version === instance.version || instance.deletedAt !== null) return null
  const seen = `version ${version} was seen, the present one is ${instance.version}`
  const told = isReport(trigger) ? toldOf(said) : ''
  return refusal('VERSION_CONFLICT', told === '' ? seen : `${seen}: ${told}`)
}

const rowOf = <T extends Trigger>(trigger: T, state: DevInstanceStanding): Row<T> | undefined =>
  TRANSITIONS.find(({ on, from }) => on === trigger && from.includes(state)) as Row<T> | undefined

/** Endpoints by their last words; null: there is none. */
const WORDS: Partial<Record<Trigger, string | null>> = {
  share: 'teams',
  unshare: 'teams',
  stopping: null,
  awake: null,
  attested: null,
  policy: null,
  'wish-power': null,
  'wish-size': null,
  lapse: null,
  'override-lapse': null,
}

/** What may be called in the present state, by the last words of the endpoints (rules/devinstance.md#allowed-actions). */
export const allowedActions = (instance: DevInstanceRow): string[] => {
  if (instance.deletedAt !== null) return []
  const isOpen = ({ from, late, effect }: Row) => from.includes(instance.state) && !late && effect !== never
  const words = TRANSITIONS.filter(isOpen).flatMap(({ on }) => WORDS[on] ?? (WORDS[on] === null ? [] : on))
  return [...new Set(instance.env === null ? words : [...words, 'reveal'])]
}
