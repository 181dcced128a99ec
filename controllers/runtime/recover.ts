/** What an error of a round means: an early ending, a conflict with another writer, or a fault. */
import { isConflict, isNotFound, nameOf, Stalled, Waiting, withDeadline } from '../base/errors.ts'
import type { Pass } from './contract.ts'
import { camelCase, type PassOutcome } from './status.ts'
import type { KindTypes, PassContext } from './steps.ts'

/** The world as it was found, for this object as it stood then. */
export type WorldSeen<K extends KindTypes> = { object: K['object']; world: K['world'] }

/** The round's ending: `again` for the next round, or the pass is over, to be run again `afterMs` from now if given. */
export type RoundEnding<K extends KindTypes> = { again: true; seen?: WorldSeen<K> } | { again: false; afterMs?: number }
export const AGAIN: { again: true } = { again: true }
export const DONE: { again: false } = { again: false }

/** Somebody wrote in between: take the object as it is now, and look again. */
const refresh = async <K extends KindTypes>(
  { controller, deps }: PassContext<K>,
  pass: Pass,
): Promise<RoundEnding<K>> => {
  pass.log.debug('object changed meanwhile')
  deps.cache.put(await deps.kube.get<K['object']>(controller.kind, pass.ref, { signal: pass.signal }))
  return AGAIN
}

const faultOf = (pass: Pass, error: unknown): PassOutcome => ({
  state: 'fault',
  reason: `${camelCase(pass.stage)}Failed`,
  // Always the same for the same failure, or each attempt would write. The error's own message may quote secrets.
  message: `${pass.stage} failed (${nameOf(error)}); it is tried again with back-off, the log says more.`,
  ready: pass.stage === 'observe' || pass.stage === 'plan' ? 'Unknown' : 'False',
})

/** Shows what is asked though there is no verdict on it. The next look makes up for a failure. */
export const show = async <K extends KindTypes>(
  { controller, deps }: PassContext<K>,
  pass: Pass,
  object: K['object'],
): Promise<void> => {
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

/** Writes the fault into the status, and throws it. */
export const fail = async <K extends KindTypes>(
  context: PassContext<K>,
  pass: Pass,
  object: K['object'],
  error: unknown,
): Promise<never> => {
  pass.log.error({ err: error, stage: pass.stage }, 'pass failed')
  // The status is right already when only the report failed.
  if (pass.stage !== 'report') {
    await context.writer
      .status(pass, object, faultOf(pass, error))
      .catch((second) => pass.log.warn({ err: second }, 'failure not written to the status'))
    if (pass.stage !== 'observe' && pass.stage !== 'plan') await show(context, pass, object)
  }
  throw error
}

/** Waiting and Stalled may be thrown as well as planned: the status says so, the kind's own facts stay. */
const endEarly = async <K extends KindTypes>(
  { deps, writer }: PassContext<K>,
  pass: Pass,
  object: K['object'],
  error: Waiting | Stalled,
): Promise<RoundEnding<K>> => {
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

/** @returns how the round ends after this error @throws a fault, once the status says so */
export const recover = async <K extends KindTypes>(
  context: PassContext<K>,
  pass: Pass,
  object: K['object'],
  error: unknown,
): Promise<RoundEnding<K>> => {
  if (pass.signal.aborted) throw error
  await pass.note
  if (error instanceof Waiting || error instanceof Stalled) {
    return endEarly(context, pass, object, error).catch((second) => recover(context, pass, object, second))
  }
  const ours = pass.stage === 'status' || pass.stage === 'finalizer'
  if (ours && isConflict(error)) return refresh(context, pass)
  if (ours && isNotFound(error)) return DONE
  return fail(context, pass, object, error)
}
