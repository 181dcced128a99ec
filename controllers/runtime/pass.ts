/**
 * One pass: observe, plan, act, one status patch. It loops while steps are taken; only a round without steps says Ready.
 * Three early endings and no more: Waiting, Stalled, and a fault, which is thrown on to the queue and backs off.
 */

import { randomUUID } from 'node:crypto'
import { type Key, PAUSED, type Resource } from '../../crds/kernel/object.ts'
import { waiting } from '../../crds/kernel/plan.ts'
import { Stalled, Waiting, withDeadline } from '../base/errors.ts'
import type { Ref } from '../kube/kube.ts'
import type { Controller, Pass, PassDeps } from './contract.ts'
import { forget, isDeletion, recordGone } from './forget.ts'
import { AGAIN, DONE, fail, type RoundEnding, recover, show, type WorldSeen } from './recover.ts'
import { camelCase } from './status.ts'
import { type KindTypes, look, type PassContext, type PlanOf, ROUNDS_MAX, takeSteps } from './steps.ts'
import { makeWriter } from './writer.ts'

/** A plan that wants to be woken in the past must not spin. */
const WAKE_MIN_MS = 1_000

/** An early ending of a step as the plan would have said it. */
const endedBy = <K extends KindTypes>(plan: PlanOf<K>, early: Stalled | Waiting): PlanOf<K> => {
  if (early instanceof Waiting) {
    return { ...plan, steps: [], verdict: waiting(early.reason, early.message, early.retryAfterMs) }
  }
  const { code, message, wakeAt } = early
  const verdict = { state: 'stalled', code, message } as const
  return { ...plan, steps: [], verdict, ...(wakeAt !== undefined && { wakeAt }) }
}

/** What the work gave, or the error when that is an early ending. */
const orEarlyEnding = <T>(work: Promise<T>): Promise<T | Stalled | Waiting> =>
  work.catch((error) => (error instanceof Stalled || error instanceof Waiting ? error : Promise.reject(error)))

const refOf = (key: Key): Ref => {
  const slash = key.indexOf('/')
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}

const nextLook = <K extends KindTypes>({ deps }: PassContext<K>, plan: PlanOf<K>): RoundEnding<K> => {
  const waits: number[] = []
  if (plan.wakeAt !== undefined) waits.push(Math.max(WAKE_MIN_MS, Date.parse(plan.wakeAt) - deps.now().getTime()))
  if (plan.verdict.state === 'waiting' && plan.verdict.retryAfterMs !== undefined) waits.push(plan.verdict.retryAfterMs)
  return waits.length === 0 ? DONE : { again: false, afterMs: Math.min(...waits) }
}

/** With the uid that its rows know it by. */
const knownOf = async <K extends KindTypes>({ deps }: PassContext<K>, object: K['object']): Promise<K['object']> =>
  deps.kept && !object.metadata.isLost ? deps.kept.known(object) : object

/** A round that took no step: the status, the report, and when to look again; or the finalizer goes. */
const settle = async <K extends KindTypes>(
  context: PassContext<K>,
  pass: Pass,
  object: K['object'],
  { world, plan }: { world: K['world']; plan: PlanOf<K> },
): Promise<RoundEnding<K>> => {
  const { controller, deps, writer } = context
  if (object.metadata.deletionTimestamp !== undefined && plan.verdict.state === 'ready') {
    // on record while it is there: once it has gone nobody could tell this from a loss
    await deps.kept?.deleted(pass.key, object.metadata)
    await writer.finalizers(pass, object, (held) => held.filter((name) => name !== controller.finalizer))
    // ours was the last finalizer: the watch may bring no event of it
    if (deps.cache.get(pass.key) === undefined) deps.gone.set(pass.key, 'deleted')
    return DONE
  }
  if (plan.verdict.state === 'stalled') deps.metrics?.controller.stalled(deps.name)
  const written = await writer.status(pass, object, plan.verdict, plan)
  pass.stage = 'report'
  const known = await knownOf(context, written)
  await withDeadline('report', deps.actLimitMs, pass.signal, async (signal) =>
    controller.report?.(known, world, plan, signal),
  )
  return nextLook(context, plan)
}

/** What a step of the round before saw counts for as long as the object is the same that it was taken for. */
const worldOf = <K extends KindTypes>(
  context: PassContext<K>,
  pass: Pass,
  object: K['object'],
  seen: WorldSeen<K> | undefined,
): Promise<K['world']> | K['world'] => (seen?.object === object ? seen.world : look(context, pass, object))

/** Observes, plans, and takes the steps or settles. */
const workOn = async <K extends KindTypes>(
  context: PassContext<K>,
  pass: Pass,
  object: K['object'],
  seen: WorldSeen<K> | undefined,
): Promise<RoundEnding<K>> => {
  const { controller, deps } = context
  const world = await worldOf(context, pass, object, seen)
  pass.stage = 'plan'
  const plan = controller.plan(object, world, deps.now())
  if (plan.steps.length > 0) {
    const ended = await orEarlyEnding(takeSteps(context, pass, object, { world, steps: plan.steps }))
    await pass.note
    if (ended === null) return AGAIN
    if ('looked' in ended) return { again: true, seen: { object, world: ended.looked } }
    // What a step finds out is said like what the plan finds out, in the status and in the mirror, and of the world as
    // the steps before it left it: a number that was claimed is shown though its document has to wait.
    const left = await look(context, pass, object)
    pass.stage = 'status'
    return settle(context, pass, object, {
      world: left,
      plan: endedBy(controller.plan(object, left, deps.now()), ended),
    })
  }
  pass.stage = 'status'
  await pass.note
  return settle(context, pass, object, { world, plan })
}

const round = async <K extends KindTypes>(
  context: PassContext<K>,
  pass: Pass,
  object: K['object'],
  seen: WorldSeen<K> | undefined,
): Promise<RoundEnding<K>> => {
  const { finalizer } = context.controller
  const { deletionTimestamp, finalizers = [], annotations = {} } = object.metadata
  const isHeld = finalizer !== undefined && finalizers.includes(finalizer)
  if (deletionTimestamp !== undefined && !isHeld) return DONE
  // it is there still, and so is its definition
  if (deletionTimestamp !== undefined && !(await isDeletion(context.controller, context.deps, pass, null))) {
    // all of its kind go: nobody meant what it stands for, which stays
    await context.writer.finalizers(pass, object, (held) => held.filter((name) => name !== finalizer))
    return DONE
  }
  if (annotations[PAUSED] === 'true') {
    pass.stage = 'status'
    await context.writer.status(pass, object, { state: 'paused' })
    return DONE
  }
  if (finalizer !== undefined && !isHeld) {
    // Before the first effect, or a deletion could overtake it.
    pass.stage = 'finalizer'
    await context.writer.finalizers(pass, object, (held) => [...held, finalizer])
    return AGAIN
  }
  return workOn(context, pass, object, seen)
}

/** Nothing but a look so far, and the status speaks of the spec as it is: a slow look changes nothing. */
const isMereLook = ({ stage }: Pass, { metadata, status }: Resource<unknown>): boolean =>
  (stage === 'observe' || stage === 'plan') && status?.observedGeneration === metadata.generation

/** Says once that work goes on, unless the status says so already. @returns whether to look again later */
const noteWork = <K extends KindTypes>(context: PassContext<K>, pass: Pass): 'later' | 'done' => {
  if (pass.stage === 'status' || pass.stage === 'finalizer' || pass.stage === 'report') return 'done'
  const object = context.deps.cache.get(pass.key)
  if (!object || object.status?.conditions?.some(({ type, status }) => type === 'Reconciling' && status === 'True'))
    return 'done'
  if (isMereLook(pass, object)) return 'later'
  const message = context.controller.words?.(pass.stage) ?? `${pass.stage} is under way.`
  const said = context.writer
    .status(pass, object, { state: 'working', reason: camelCase(pass.stage), message })
    .catch((error) => pass.log.debug({ err: error }, 'progress not written to the status'))
  pass.note = Promise.all([said, show(context, pass, object)])
  return 'done'
}

/** What the pass is about: the resource, or what is kept of one that was lost and goes on. Null when there is neither. */
const present = async <K extends KindTypes>(context: PassContext<K>, pass: Pass): Promise<K['object'] | null> => {
  const { controller, deps } = context
  const held = deps.cache.get(pass.key)
  if (!held) {
    if (await forget(controller, deps, pass)) return null
    return (await deps.kept?.stored(pass.key)) ?? null
  }
  await recordGone(controller, deps, pass)
  return knownOf(context, held)
}

/** What was asked is kept, also where there was nothing to show. A failure is made up for by the next pass. */
const keep = async <K extends KindTypes>({ deps }: PassContext<K>, pass: Pass): Promise<void> => {
  const held = deps.cache.get(pass.key)
  if (!held || held.metadata.deletionTimestamp !== undefined || !deps.kept) return
  await deps.kept.keep(held).catch((error) => pass.log.warn({ err: error }, 'what is asked was not kept'))
}

const rounds = async <K extends KindTypes>(context: PassContext<K>, pass: Pass): Promise<number | undefined> => {
  const { deps } = context
  let seen: WorldSeen<K> | undefined
  for (let n = 0; n < ROUNDS_MAX; n += 1) {
    pass.signal.throwIfAborted()
    const object = await present(context, pass)
    if (!object) return undefined
    const ending = await round(context, pass, object, seen).catch((error) => recover(context, pass, object, error))
    if (!ending.again) return ending.afterMs
    seen = ending.seen
  }
  pass.stage = 'plan'
  const object = deps.cache.get(pass.key)
  const error = new Error(`no end after ${ROUNDS_MAX} rounds with steps`)
  if (!object) throw error
  return fail(context, pass, object, error)
}

/** @returns the pass: resolves with when to look again, rejects with a fault */
export const makePass = <O extends Resource<unknown>, Facts extends object, World, Step extends { do: string }>(
  controller: Controller<O, Facts, World, Step>,
  deps: PassDeps<O>,
) => {
  const writer = makeWriter<O, Facts>(controller.kind, deps)
  const context: PassContext<{ object: O; facts: Facts; world: World; step: Step }> = { controller, deps, writer }
  return async (key: Key, signal: AbortSignal): Promise<number | undefined> => {
    const ref = refOf(key)
    const log = deps.log.child({ controller: deps.name, ...ref, reconcileID: randomUUID() })
    const pass: Pass = { key, ref, signal, log, stage: 'observe', note: Promise.resolve() }
    const timer = setInterval(() => {
      if (noteWork(context, pass) === 'done') clearInterval(timer)
    }, deps.quietMs)
    try {
      return await rounds(context, pass)
    } finally {
      clearInterval(timer)
      await keep(context, pass)
    }
  }
}
