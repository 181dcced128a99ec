/**
 * One pass: observe, plan, act, one status patch. It loops while steps are taken; only a round without steps says Ready.
 * Three early endings and no more: Waiting, Stalled, and a fault, which is thrown on to the queue and backs off.
 */

import { randomUUID } from 'node:crypto'
import { type Key, PAUSED, type Resource } from '../../crds/kernel/object.ts'
import { type Plan, waiting } from '../../crds/kernel/plan.ts'
import { isConflict, isNotFound, nameOf, Stalled, Waiting, withDeadline } from '../base/errors.ts'
import type { Ref } from '../kube/kube.ts'
import type { Controller, Pass, PassDeps, StepEffect } from './contract.ts'
import { forget } from './forget.ts'
import { camelCase, type PassOutcome } from './status.ts'
import { makeWriter } from './writer.ts'

/** More rounds with steps than any plan needs: it contradicts itself. */
const ROUNDS_MAX = 20
/** A plan that wants to be woken in the past must not spin. */
const WAKE_MIN_MS = 1_000

/** The round's ending: `again` for the next round, or the pass is over, to be run again `afterMs` from now if given. */
type Ending = { again: true } | { again: false; afterMs?: number }
const AGAIN: Ending = { again: true }
const DONE: Ending = { again: false }

/** An early ending of a step as the plan would have said it. */
const endedBy = <Step extends { do: string }, Facts>(
  plan: Plan<Step, Facts>,
  early: Stalled | Waiting,
): Plan<Step, Facts> => {
  if (early instanceof Waiting) {
    return { ...plan, steps: [], verdict: waiting(early.reason, early.message, early.retryAfterMs) }
  }
  const { code, message, wakeAt } = early
  const verdict = { state: 'stalled', code, message } as const
  return { ...plan, steps: [], verdict, ...(wakeAt !== undefined && { wakeAt }) }
}

/** Null when all went well; the error when it is an early ending. */
const earlyEnding = (work: Promise<void>): Promise<Stalled | Waiting | null> =>
  work.then(
    () => null,
    (error) => (error instanceof Stalled || error instanceof Waiting ? error : Promise.reject(error)),
  )

const refOf = (key: Key): Ref => {
  const slash = key.indexOf('/')
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}

/** @returns the pass: resolves with when to look again, rejects with a fault */
export const makePass = <O extends Resource<unknown>, Facts extends object, World, Step extends { do: string }>(
  controller: Controller<O, Facts, World, Step>,
  deps: PassDeps<O>,
) => {
  const { kind, finalizer } = controller
  const { cache, kube } = deps
  const writer = makeWriter<O, Facts>(kind, deps)

  const act = async (pass: Pass, step: Step, object: O) => {
    pass.stage = step.do
    // The record is keyed by the step's own name; the compiler cannot follow that through the union.
    const effect = controller.act[step.do as Step['do']] as StepEffect<Step, O, World>
    const limitMs = deps.actLimitMs
    const apply = await withDeadline(`step ${step.do}`, limitMs, pass.signal, (signal) => effect(step, object, signal))
    pass.log.debug({ step: step.do }, 'step done')
    return apply
  }

  const look = async (pass: Pass, object: O): Promise<World> => {
    pass.stage = 'observe'
    return withDeadline('observe', deps.observeLimitMs, pass.signal, (signal) => controller.observe(object, signal))
  }

  const nextLook = (plan: Plan<Step, Facts>): Ending => {
    const waits: number[] = []
    if (plan.wakeAt !== undefined) waits.push(Math.max(WAKE_MIN_MS, Date.parse(plan.wakeAt) - deps.now().getTime()))
    if (plan.verdict.state === 'waiting' && plan.verdict.retryAfterMs !== undefined)
      waits.push(plan.verdict.retryAfterMs)
    return waits.length === 0 ? DONE : { again: false, afterMs: Math.min(...waits) }
  }

  const settle = async (pass: Pass, object: O, world: World, plan: Plan<Step, Facts>): Promise<Ending> => {
    if (object.metadata.deletionTimestamp !== undefined && plan.verdict.state === 'ready') {
      await writer.finalizers(pass, object, (held) => held.filter((name) => name !== finalizer))
      // ours was the last: the watch may never tell
      if (cache.get(pass.key) === undefined) deps.gone.set(pass.key, 'deleted')
      return DONE
    }
    if (plan.verdict.state === 'stalled') deps.metrics?.controller.stalled(deps.name)
    const written = await writer.status(pass, object, plan.verdict, plan)
    pass.stage = 'report'
    await withDeadline('report', deps.actLimitMs, pass.signal, async (signal) =>
      controller.report?.(written, world, plan, signal),
    )
    return nextLook(plan)
  }

  const round = async (pass: Pass, object: O): Promise<Ending> => {
    const { deletionTimestamp, finalizers = [], annotations = {} } = object.metadata
    const isHeld = finalizer !== undefined && finalizers.includes(finalizer)
    if (deletionTimestamp !== undefined && !isHeld) return DONE
    if (annotations[PAUSED] === 'true') {
      pass.stage = 'status'
      await writer.status(pass, object, { state: 'paused' })
      return DONE
    }
    if (finalizer !== undefined && !isHeld) {
      // Before the first effect, or a deletion could overtake it.
      pass.stage = 'finalizer'
      await writer.finalizers(pass, object, (held) => [...held, finalizer])
      return AGAIN
    }
    const world = await look(pass, object)
    pass.stage = 'plan'
    const plan = controller.plan(object, world, deps.now())
    if (plan.steps.length > 0) {
      const stop = await earlyEnding(work(pass, object, world, plan.steps))
      await pass.note
      if (stop === null) return AGAIN
      // What a step finds out is said like what the plan finds out, in the status and in the mirror, and of the world as
      // the steps before it left it: a number that was claimed is shown though its document has to wait.
      const left = await look(pass, object)
      pass.stage = 'status'
      return settle(pass, object, left, endedBy(controller.plan(object, left, deps.now()), stop))
    }
    pass.stage = 'status'
    await pass.note
    return settle(pass, object, world, plan)
  }

  /**
   * Takes the steps, and those that follow from what the steps themselves answered, without looking in between. What is
   * said of the object in the end comes from a fresh look.
   */
  const work = async (pass: Pass, object: O, first: World, planned: Step[]): Promise<void> => {
    let world = first
    let steps = planned
    for (let n = 0; n < ROUNDS_MAX && steps.length > 0; n += 1) {
      const changes: ((world: World) => World)[] = []
      for (const step of steps) {
        const apply = await act(pass, step, object)
        if (apply) changes.push(apply)
      }
      if (changes.length < steps.length) return
      world = changes.reduce((known, apply) => apply(known), world)
      pass.stage = 'plan'
      steps = controller.plan(object, world, deps.now()).steps
    }
  }

  /** Somebody wrote in between: take the object as it is now, and look again. */
  const refresh = async (pass: Pass): Promise<Ending> => {
    pass.log.debug('object changed meanwhile')
    cache.put(await kube.get<O>(kind, pass.ref, { signal: pass.signal }))
    return AGAIN
  }

  const faultOf = (pass: Pass, error: unknown): PassOutcome => ({
    state: 'fault',
    reason: `${camelCase(pass.stage)}Failed`,
    // Always the same for the same failure, or each attempt would write. The error's own message may quote secrets.
    message: `${pass.stage} failed (${nameOf(error)}); it is tried again with back-off, the log says more.`,
    ready: pass.stage === 'observe' || pass.stage === 'plan' ? 'Unknown' : 'False',
  })

  /** What is asked is seen though there is no verdict on it; a failure is made up for by the next look. */
  const show = async (pass: Pass, object: O): Promise<void> => {
    if (!controller.show) return
    try {
      const world = await withDeadline('observe', deps.observeLimitMs, pass.signal, (signal) =>
        controller.observe(object, signal),
      )
      await controller.show(object, world, controller.plan(object, world, deps.now()))
    } catch (error) {
      pass.log.debug({ err: error }, 'not shown before its verdict')
    }
  }

  const fail = async (pass: Pass, object: O, error: unknown): Promise<never> => {
    pass.log.error({ err: error, stage: pass.stage }, 'pass failed')
    // The status is right already when only the report failed.
    if (pass.stage !== 'report') {
      await writer
        .status(pass, object, faultOf(pass, error))
        .catch((second) => pass.log.warn({ err: second }, 'failure not written to the status'))
      if (pass.stage !== 'observe' && pass.stage !== 'plan') await show(pass, object)
    }
    throw error
  }

  /** Waiting and Stalled may be thrown as well as planned: the status says so, the kind's own facts stay. */
  const early = async (pass: Pass, object: O, error: Waiting | Stalled): Promise<Ending> => {
    pass.stage = 'status'
    if (error instanceof Stalled) {
      deps.metrics?.controller.stalled(deps.name)
      await writer.status(pass, object, { state: 'stalled', code: error.code, message: error.message })
      return DONE
    }
    const { reason, message, retryAfterMs } = error
    await writer.status(pass, object, { state: 'waiting', reason, message })
    return { again: false, ...(retryAfterMs !== undefined && { afterMs: retryAfterMs }) }
  }

  /** What a round's error means. */
  const recover = async (pass: Pass, object: O, error: unknown): Promise<Ending> => {
    if (pass.signal.aborted) throw error
    await pass.note
    if (error instanceof Waiting || error instanceof Stalled) {
      return early(pass, object, error).catch((second) => recover(pass, object, second))
    }
    const ours = pass.stage === 'status' || pass.stage === 'finalizer'
    if (ours && isConflict(error)) return refresh(pass)
    if (ours && isNotFound(error)) return DONE
    return fail(pass, object, error)
  }

  /** Nothing but a look so far, and the status speaks of the spec as it is: a slow look changes nothing. */
  const isMereLook = ({ stage }: Pass, { metadata, status }: O): boolean =>
    (stage === 'observe' || stage === 'plan') && status?.observedGeneration === metadata.generation

  /** Says once that work goes on, unless the status says so already. @returns whether to look again later */
  const noteWork = (pass: Pass): 'later' | 'done' => {
    if (pass.stage === 'status' || pass.stage === 'finalizer' || pass.stage === 'report') return 'done'
    const object = cache.get(pass.key)
    if (!object || object.status?.conditions?.some(({ type, status }) => type === 'Reconciling' && status === 'True'))
      return 'done'
    if (isMereLook(pass, object)) return 'later'
    const message = `${pass.stage} is under way.`
    const said = writer
      .status(pass, object, { state: 'working', reason: camelCase(pass.stage), message })
      .catch((error) => pass.log.debug({ err: error }, 'progress not written to the status'))
    pass.note = Promise.all([said, show(pass, object)])
    return 'done'
  }

  const rounds = async (pass: Pass): Promise<number | undefined> => {
    for (let n = 0; n < ROUNDS_MAX; n += 1) {
      pass.signal.throwIfAborted()
      const object = cache.get(pass.key)
      if (!object) {
        await forget(controller, deps, pass)
        return undefined
      }
      const ending = await round(pass, object).catch((error) => recover(pass, object, error))
      if (!ending.again) return ending.afterMs
    }
    pass.stage = 'plan'
    const object = cache.get(pass.key)
    const error = new Error(`no end after ${ROUNDS_MAX} rounds with steps`)
    if (!object) throw error
    return fail(pass, object, error)
  }

  return async (key: Key, signal: AbortSignal): Promise<number | undefined> => {
    const ref = refOf(key)
    const log = deps.log.child({ controller: deps.name, ...ref, reconcileID: randomUUID() })
    const pass: Pass = { key, ref, signal, log, stage: 'observe', note: Promise.resolve() }
    const timer = setInterval(() => {
      if (noteWork(pass) === 'done') clearInterval(timer)
    }, deps.quietMs)
    try {
      return await rounds(pass)
    } finally {
      clearInterval(timer)
    }
  }
}
