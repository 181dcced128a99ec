/**
 * The life of a dev instance as data: from which state, by which trigger, under which guards, to which state, with which
 * effect and entry in the history. `decide` reads the table; nothing else moves a box from state to state.
 * Source: spec/3 "States and transitions"; research/devboxes.md section 3.4.
 */
import { type Box, metered } from './box.ts'
import * as effects from './effects.ts'
import * as guards from './guards.ts'
import type { Said, Trigger } from './protocol.ts'
import { type Refusal, refusal, wrongState } from './refusal.ts'
import { STATES, type State } from './schema.ts'

/** What is seen of the world beside the box itself. */
export type Around = {
  /** Of the latest report: what is on the machine and nowhere else. Null: nothing was ever reported. */
  git: { dirty: number; untracked: number; unpushed: number } | null
}

/** One thing to tell in the history of the instance. `kind` is one of CONTRACT section 10. */
export type Told = { kind: string; data: Record<string, unknown> }

export type Context<T extends Trigger> = { box: Box; said: Said[T]; at: string; around: Around }
export type Guard<T extends Trigger> = (context: Context<T>) => Refusal | null
export type Effect<T extends Trigger> = (context: Context<T>) => { box: Box; told: Told[] }

export type Row<T extends Trigger = Trigger> = {
  on: T
  from: readonly State[]
  /** `same`: the state stays; `said`: the confirmation names it. */
  to: State | 'same' | 'said'
  /** In this order; the first that refuses names the code. */
  guards: readonly Guard<T>[]
  /** True where the box is already as the caller says: nothing changes. */
  holds?: (context: Context<T>) => boolean
  effect: Effect<T>
  /** A change that a confirmation must have seen. */
  bumps: boolean
}

const ATTACHED = ['provisioning', 'configuring', 'ready', 'running', 'stopped', 'resizing'] as const
const FINALIZED = ['ready', 'running', 'stopped', 'resizing'] as const
const LIVE = ['reserved', ...ATTACHED] as const

const row = <T extends Trigger>(made: Row<T>): Row => made as unknown as Row
const bumps = true
const never: Effect<Trigger> = ({ box }) => ({ box, told: [] })
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
    holds: ({ box, said }) => box.name === said.name,
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
    holds: ({ box }) => box.capOverride,
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
    holds: ({ box, said }) => box.teams.includes(said.teamId),
    effect: effects.shared,
    bumps: false,
  }),
  row({
    on: 'unshare',
    from: STATES,
    to: 'same',
    guards: [],
    holds: ({ box, said }) => !box.teams.includes(said.teamId),
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

export type Decision =
  | { state: 'refused'; refusal: Refusal }
  /** The box is as the caller says already. */
  | { state: 'unchanged' }
  | { state: 'accepted'; box: Box; told: Told[] }

/** The version that a call carries; undefined where it carries none. */
const versionOf = (said: unknown): number | undefined => (said as { version?: number }).version

/**
 * What becomes of a call. Of two reasons to refuse, the older knowledge of the caller comes first: a version that is past.
 * @param context.at when it was said; leases are judged by it
 */
export const decide = <T extends Trigger>(trigger: T, context: Context<T>): Decision => {
  const { box, said, at } = context
  const refuse = (why: Refusal): Decision => ({ state: 'refused', refusal: why })
  if (box.deletedAt !== null) return refuse(refusal('NOT_FOUND', `deleted at ${box.deletedAt}`))
  const version = versionOf(said)
  if (version !== undefined && version !== box.version) {
    const detail = `version ${version} was seen, the present one is ${box.version}`
    return refuse(refusal('VERSION_CONFLICT', detail))
  }
  const found = TRANSITIONS.find((one) => one.on === trigger && one.from.includes(box.state)) as Row<T> | undefined
  if (!found) return refuse(wrongState(trigger, box))
  for (const guard of found.guards) {
    const why = guard(context)
    if (why) return refuse(why)
  }
  if (found.holds?.(context)) return { state: 'unchanged' }
  const { box: changed, told } = found.effect(context)
  const state = stateAfter(found.to, box.state, said)
  const moved = state === box.state ? changed : { ...changed, state, stateSince: at }
  return { state: 'accepted', box: metered({ ...moved, version: box.version + (found.bumps ? 1 : 0) }, at), told }
}

const stateAfter = (to: Row['to'], from: State, said: unknown): State => {
  if (to === 'same') return from
  return to === 'said' ? (said as Said['resized']).state : to
}

/** Endpoints by their last words. */
const WORDS: Partial<Record<Trigger, string>> = { share: 'teams', unshare: 'teams' }

/** What may be called in the present state, by the last words of the endpoints (CONTRACT section 10). */
export const allowedActions = (box: Box): string[] => {
  if (box.deletedAt !== null) return []
  const open = TRANSITIONS.filter(({ from, effect }) => from.includes(box.state) && effect !== never)
  const words = open.map(({ on }) => WORDS[on] ?? on)
  return [...new Set(box.env === null ? words : [...words, 'reveal'])]
}
