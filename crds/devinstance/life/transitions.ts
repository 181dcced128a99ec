/**
 * The life of a dev instance as data: from which state, by which trigger, under which guards, to which state, with which
 * effect and entry in the history. `decide` reads the table; nothing else moves a dev instance from state to state.
 * Source: rules/devinstance.md#states.
 */

import type { Said, Trigger } from '../protocol.ts'
import { STATES, type State } from '../schema.ts'
import type { Guard, NewHistoryEntry, TransitionContext, TransitionEffect } from './context.ts'
import * as effects from './effects.ts'
import * as guards from './guards.ts'
import { type Refusal, refusal, wrongState } from './refusal.ts'
import { type DevInstanceRow, metered } from './row.ts'

export type Row<T extends Trigger = Trigger> = {
  on: T
  from: readonly State[]
  /** `same`: the state stays; `said`: the confirmation names it. */
  to: State | 'same' | 'said'
  /** In this order; the first that refuses names the code. */
  guards: readonly Guard<T>[]
  /** True where the dev instance is already as the caller says: nothing changes. */
  holds?: (context: TransitionContext<T>) => boolean
  effect: TransitionEffect<T>
  /** A change that a confirmation must have seen. */
  bumps: boolean
}

const ATTACHED = ['provisioning', 'configuring', 'ready', 'running', 'stopped', 'resizing'] as const
const FINALIZED = ['ready', 'running', 'stopped', 'resizing'] as const
const LIVE = ['reserved', ...ATTACHED] as const

const row = <T extends Trigger>(made: Row<T>): Row => made as unknown as Row
const bumps = true
const never: TransitionEffect<Trigger> = ({ instance }) => ({ instance, entries: [] })
const always = () => true

/** Read by `decide` from top to bottom: the first row of the trigger and the state counts. */
export const TRANSITIONS: readonly Row[] = [
  row({ on: 'provisioning', from: ['reserved'], to: 'provisioning', guards: [], effect: effects.attach, bumps }),
  row({
    on: 'provisioning',
    from: ['provisioning'],
    to: 'same',
    guards: [guards.sameInstance, guards.renewable],
    holds: guards.leaseLasts,
    effect: effects.renewLease,
    bumps: false,
  }),
  row({
    on: 'provisioning',
    from: ['configuring', ...FINALIZED],
    to: 'same',
    guards: [guards.sameInstance],
    holds: always,
    effect: never,
    bumps: false,
  }),
  row({
    on: 'token',
    from: ['provisioning'],
    to: 'configuring',
    guards: [guards.withinLease],
    effect: effects.firstToken,
    bumps,
  }),
  row({
    on: 'token',
    from: ['configuring', ...FINALIZED],
    to: 'same',
    guards: [],
    effect: effects.nextToken,
    bumps: false,
  }),
  row({
    on: 'finalize',
    from: ['configuring'],
    to: 'ready',
    guards: [guards.sameInstance, guards.asReserved],
    effect: effects.finalize,
    bumps,
  }),
  row({
    on: 'finalize',
    from: FINALIZED,
    to: 'same',
    guards: [guards.sameInstance],
    holds: always,
    effect: never,
    bumps: false,
  }),
  row({
    on: 'started',
    from: ['ready', 'stopped'],
    to: 'running',
    guards: [guards.addressPair, guards.hasAddress],
    effect: effects.started,
    bumps,
  }),
  row({
    on: 'started',
    from: ['running'],
    to: 'same',
    guards: [guards.addressPair, guards.hasAddress],
    holds: guards.sameAddress,
    effect: effects.readdressed,
    bumps,
  }),
  row({ on: 'stopped', from: ['ready', 'running'], to: 'stopped', guards: [], effect: effects.stopped, bumps }),
  row({ on: 'stopped', from: ['stopped'], to: 'same', guards: [], holds: always, effect: never, bumps: false }),
  row({
    on: 'resizing',
    from: ['ready', 'running', 'stopped'],
    to: 'resizing',
    guards: [guards.sameArch, guards.growingDisk, guards.workPushed],
    effect: effects.resizing,
    bumps,
  }),
  row({
    on: 'resized',
    from: ['resizing'],
    to: 'said',
    guards: [
      guards.sameArch,
      guards.keptDisk,
      guards.asIntended,
      guards.verifiedDisk,
      guards.addressPair,
      guards.addressToRun,
    ],
    effect: effects.resized,
    bumps,
  }),
  row({
    on: 'renamed',
    from: LIVE,
    to: 'same',
    guards: [],
    holds: ({ instance, said }) => instance.name === said.name,
    effect: effects.renamed,
    bumps,
  }),
  row({
    on: 'eip-released',
    from: ['ready', 'running', 'stopped'],
    to: 'same',
    guards: [guards.heldAddress],
    holds: guards.releasedBefore,
    effect: effects.released,
    bumps,
  }),
  row({
    on: 'terminated',
    from: ATTACHED,
    to: 'terminated',
    guards: [guards.allGone, guards.workPushed],
    effect: effects.terminated,
    bumps,
  }),
  row({ on: 'terminated', from: ['terminated'], to: 'same', guards: [], holds: always, effect: never, bumps: false }),
  row({
    on: 'cap-override',
    from: LIVE,
    to: 'same',
    guards: [],
    holds: ({ instance }) => instance.capOverride,
    effect: effects.overridden,
    bumps: false,
  }),
  row({
    on: 'repo',
    from: LIVE,
    to: 'same',
    guards: [guards.freshProfile, guards.largeEnough],
    effect: effects.assigned,
    bumps,
  }),
  row({ on: 'measurements', from: LIVE, to: 'same', guards: [], effect: effects.measured, bumps: false }),
  row({ on: 'env', from: LIVE, to: 'same', guards: [], effect: effects.envReplaced, bumps: false }),
  row({
    on: 'share',
    from: STATES,
    to: 'same',
    guards: [guards.roomForTeam],
    holds: ({ instance, said }) => instance.teams.includes(said.teamId),
    effect: effects.shared,
    bumps: false,
  }),
  row({
    on: 'unshare',
    from: STATES,
    to: 'same',
    guards: [],
    holds: ({ instance, said }) => !instance.teams.includes(said.teamId),
    effect: effects.unshared,
    bumps: false,
  }),
  row({
    on: 'delete',
    from: ['reserved', 'terminated'],
    to: 'same',
    guards: [],
    effect: effects.deleted,
    bumps,
  }),
]

export const TRIGGERS = [...new Set(TRANSITIONS.map(({ on }) => on))]

export type TransitionDecision =
  | { state: 'refused'; refusal: Refusal }
  /** The dev instance is as the caller says already. */
  | { state: 'unchanged' }
  | { state: 'accepted'; instance: DevInstanceRow; entries: NewHistoryEntry[] }

/** The version that a call carries; undefined where it carries none. */
const versionOf = (said: unknown): number | undefined => (said as { version?: number }).version

/**
 * What becomes of a call. Of two reasons to refuse, the older knowledge of the caller comes first: a version that is past.
 * @param context.at when it was said; leases are judged by it
 */
export const decide = <T extends Trigger>(trigger: T, context: TransitionContext<T>): TransitionDecision => {
  const { instance, said, at } = context
  const refuse = (why: Refusal): TransitionDecision => ({ state: 'refused', refusal: why })
  if (instance.deletedAt !== null) return refuse(refusal('NOT_FOUND', `deleted at ${instance.deletedAt}`))
  const version = versionOf(said)
  if (version !== undefined && version !== instance.version) {
    const detail = `version ${version} was seen, the present one is ${instance.version}`
    return refuse(refusal('VERSION_CONFLICT', detail))
  }
  const found = TRANSITIONS.find((one) => one.on === trigger && one.from.includes(instance.state)) as Row<T> | undefined
  if (!found) return refuse(wrongState(trigger, instance))
  for (const guard of found.guards) {
    const why = guard(context)
    if (why) return refuse(why)
  }
  if (found.holds?.(context)) return { state: 'unchanged' }
  const { instance: changed, entries } = found.effect(context)
  const state = stateAfter(found.to, instance.state, said)
  const moved = state === instance.state ? changed : { ...changed, state, stateSince: at }
  return {
    state: 'accepted',
    instance: metered({ ...moved, version: instance.version + (found.bumps ? 1 : 0) }, at),
    entries,
  }
}

const stateAfter = (to: Row['to'], from: State, said: unknown): State => {
  if (to === 'same') return from
  return to === 'said' ? (said as Said['resized']).state : to
}

/** Endpoints by their last words. */
const WORDS: Partial<Record<Trigger, string>> = { share: 'teams', unshare: 'teams' }

/** What may be called in the present state, by the last words of the endpoints (rules/devinstance.md#allowed-actions). */
export const allowedActions = (instance: DevInstanceRow): string[] => {
  if (instance.deletedAt !== null) return []
  const open = TRANSITIONS.filter(({ from, effect }) => from.includes(instance.state) && effect !== never)
  const words = open.map(({ on }) => WORDS[on] ?? on)
  return [...new Set(instance.env === null ? words : [...words, 'reveal'])]
}
