/**
 * The life of an operation of an app as data: from which state, by which event, under which guards, to which state, with
 * what stamped on it and on its releases. `decide` and `decideAsk` read it, for the api and for controllers alike; nothing
 * else moves an operation or a release from state to state. Source: rules/app.md#operations.
 */
import { isDeepStrictEqual } from '../../values/compare.ts'
import type { Operation, OperationState, Release } from '../world.ts'
import * as effects from './effects.ts'
import type {
  NewAppOperation,
  OperationContext,
  OperationDecision,
  OperationEvent,
  OperationEventName,
  OperationQueue,
  OperationRefusal,
} from './events.ts'
import * as guards from './guards.ts'

/** Operations of one app that wait or run. */
export const QUEUE_MAX = 10

type OperationRow<On extends OperationEventName = OperationEventName> = {
  on: On
  from: readonly OperationState[]
  to: OperationState | 'same'
  /** In this order; the first that refuses names the code. */
  guards: readonly guards.OperationGuard<On>[]
  /** True where it is so already: nothing changes. */
  holds?: (context: OperationContext) => boolean
  effect: effects.OperationEffect<On>
}

const OPEN = ['queued', 'running'] as const
export const ENDED = ['succeeded', 'failed', 'cancelled', 'unknown'] as const

export const isOpen = ({ state }: Operation): boolean => (OPEN as readonly OperationState[]).includes(state)

const row = <On extends OperationEventName>(made: OperationRow<On>): OperationRow => made as unknown as OperationRow
const always = () => true
const never = ({ operation }: OperationContext) => ({ operation, releases: [] })

/** Read by `decide` from top to bottom: the first row of the event and the state counts. */
export const OPERATION_TRANSITIONS: readonly OperationRow[] = [
  row({
    on: 'begun',
    from: ['queued'],
    to: 'running',
    guards: [guards.isNoScale, guards.notCancelled, guards.nothingElseRuns],
    effect: effects.begun,
  }),
  row({ on: 'begun', from: ['running'], to: 'same', guards: [], holds: always, effect: never }),
  row({
    on: 'scaling',
    from: ['queued'],
    to: 'running',
    guards: [guards.isScale, guards.notCancelled, guards.nothingElseRuns, guards.hasLive],
    effect: effects.scaling,
  }),
  row({ on: 'scaling', from: ['running'], to: 'same', guards: [], holds: always, effect: never }),
  row({
    on: 'grown',
    from: ['running'],
    to: 'same',
    guards: [guards.isScale, guards.isOfLive],
    holds: ({ operation }) => operation.steps.every(({ name, state }) => name !== 'start' || state === 'succeeded'),
    effect: effects.grown,
  }),
  row({
    on: 'scaled',
    from: ['running'],
    to: 'succeeded',
    guards: [guards.isScale, guards.isOfLive, guards.isClaimed],
    effect: effects.scaled,
  }),
  row({ on: 'left', from: ENDED, to: 'same', guards: [guards.hasRelease], effect: effects.left }),
  row({
    on: 'passed',
    from: ['running'],
    to: 'same',
    guards: [guards.isNoScale, guards.hasRelease, guards.isPresentStep],
    effect: effects.passed,
  }),
  row({
    on: 'claimed',
    from: ['running'],
    to: 'same',
    guards: [guards.hasRelease, guards.notCancelled],
    holds: ({ operation }) => operation.switchAt !== null,
    effect: effects.claimed,
  }),
  row({
    on: 'switched',
    from: ['running'],
    to: 'succeeded',
    guards: [guards.isNoScale, guards.hasRelease, guards.isClaimed],
    effect: effects.switched,
  }),
  row({
    on: 'cancel',
    from: OPEN,
    to: 'same',
    guards: [guards.beforeSwitch],
    holds: ({ operation }) => operation.cancelAt !== null,
    effect: effects.cancelAsked,
  }),
  row({ on: 'cancel', from: ['cancelled'], to: 'same', guards: [], holds: always, effect: never }),
  // An env that nothing live could apply: it was stored, and that was all.
  row({ on: 'succeeded', from: ['queued'], to: 'succeeded', guards: [], effect: effects.ended }),
  row({ on: 'failed', from: OPEN, to: 'failed', guards: [], effect: effects.ended }),
  // Also after the switch: an app that is deleted takes what runs with it.
  row({ on: 'cancelled', from: OPEN, to: 'cancelled', guards: [], effect: effects.ended }),
  row({ on: 'unknown', from: ['running'], to: 'unknown', guards: [], effect: effects.ended }),
  row({
    on: 'returned',
    from: ['succeeded'],
    to: 'failed',
    guards: [guards.isNoScale, guards.hasRelease, guards.mayReturn],
    effect: effects.returned,
  }),
  row({
    on: 'retired',
    from: ENDED,
    to: 'same',
    guards: [guards.isNoScale, guards.hasRelease, guards.isOverWith],
    holds: ({ release }) => release?.retiredAt !== null,
    effect: effects.retired,
  }),
]

export const OPERATION_EVENTS = [...new Set(OPERATION_TRANSITIONS.map(({ on }) => on))]

const refused = (refusal: OperationRefusal): OperationDecision => ({ state: 'refused', refusal })
const unchanged = (operation: Operation, release: Release | null = null): OperationDecision => ({
  state: 'unchanged',
  operation,
  releases: release ? [release] : [],
})

/**
 * What becomes of an operation by what happened. Nothing that it is given is written on.
 * @param at ISO; what is stamped @returns TOO_LATE for a cancel that nothing can follow any more, WRONG_STATE for the rest
 */
export const decide = (event: OperationEvent, context: OperationContext, at: string): OperationDecision => {
  const { operation, release } = context
  const found = OPERATION_TRANSITIONS.find(({ on, from }) => on === event.on && from.includes(operation.state))
  if (!found) return refused(guards.noRow(event.on, operation))
  for (const guard of found.guards) {
    const why = guard(context, event)
    if (why) return refused(why)
  }
  if (found.holds?.(context)) return unchanged(operation, release)
  const outcome = found.effect(context, event, at)
  const state = found.to === 'same' ? operation.state : found.to
  return { state: 'accepted', operation: { ...outcome.operation, state }, releases: outcome.releases }
}

/**
 * What becomes of a request for an operation: it is entered as the last in the queue, or found. What was written into the
 * spec by hand is taken up however many wait.
 * @returns QUEUE_FULL; IDEMPOTENCY_MISMATCH when the id is another app's
 */
export const decideAsk = (asked: NewAppOperation, queue: OperationQueue, at: string): OperationDecision => {
  const { app, intent, byController } = asked
  const { held, open } = queue
  const last = open.at(-1)
  // Asked twice for the same, without a key: it is one request, as long as it waits or runs.
  if (!byController && last && last.cancelAt === null && isDeepStrictEqual(last.intent, intent)) return unchanged(last)
  if (held && held.app !== app) {
    return refused({ code: 'IDEMPOTENCY_MISMATCH', detail: 'The key was used for an operation of another app.' })
  }
  if (held) return unchanged(held)
  if (!byController && open.length >= QUEUE_MAX) {
    return refused({ code: 'QUEUE_FULL', detail: `${QUEUE_MAX} operations of ${app} wait or run already.` })
  }
  return { state: 'accepted', operation: effects.queued(asked, queue.last + 1, at), releases: [] }
}
