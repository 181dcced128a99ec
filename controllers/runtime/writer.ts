/** The one writer of a kind's objects: status and finalizers, each under the version that was looked at. */
import type { Key, Resource } from '../../crds/kernel/object.ts'
import type { OwnCondition } from '../../crds/kernel/plan.ts'
import type { Controller, Pass, PassDeps } from './contract.ts'
import { mergeDiff, nextStatus, type PassOutcome } from './status.ts'

type ReadyNow = { type: string; status: string; reason: string; message: string }

const readyOf = (status: { conditions?: ReadyNow[] } | undefined): ReadyNow | undefined =>
  status?.conditions?.find(({ type }) => type === 'Ready')

const withFinalizers = (object: Resource<unknown>, change: (held: string[]) => string[]) => ({
  finalizers: change(object.metadata.finalizers ?? []),
})

/** Writes of one kind, each under the version that was looked at. */
export type Writer<O, Facts> = {
  /** @returns the object with that status; nothing is written when it stands already @throws KubeError */
  status(
    pass: Pass,
    object: O,
    outcome: PassOutcome,
    planned?: { status?: Facts; conditions?: readonly OwnCondition[] },
  ): Promise<O>
  finalizers(pass: Pass, object: O, change: (held: string[]) => string[]): Promise<void>
}

/** @returns the writes of one kind */
export const makeWriter = <O extends Resource<unknown>, Facts extends object>(
  kind: Controller<O, Facts, unknown, { do: string }>['kind'],
  deps: PassDeps<O>,
): Writer<O, Facts> => {
  const { kube, cache, events } = deps

  /** The object as it is now, as long as it asks for the same: our own note may have moved its version. */
  const latest = (key: Key, object: O): O => {
    const held = cache.get(key)
    const same = held?.metadata.uid === object.metadata.uid && held.metadata.generation === object.metadata.generation
    return held !== undefined && same ? held : object
  }

  const announce = (before: O, after: O, outcome: PassOutcome) => {
    const [was, is] = [readyOf(before.status), readyOf(after.status)]
    if (!events || !is || (was?.reason === is.reason && was.status === is.status)) return
    const warns =
      outcome.state === 'stalled' || outcome.state === 'fault' || (outcome.state === 'unready' && outcome.warns)
    // The first verdict is in the status; an Event for it would cost a write per object.
    if (!warns && was === undefined) return
    const type = warns ? ('Warning' as const) : ('Normal' as const)
    events.emit({ object: after, kind, type, reason: is.reason, action: 'Reconcile', message: is.message })
  }

  const status = async (
    pass: Pass,
    object: O,
    outcome: PassOutcome,
    planned: { status?: Facts; conditions?: readonly OwnCondition[] } = {},
  ): Promise<O> => {
    const base = latest(pass.key, object)
    const previous = base.status
    const generation = object.metadata.generation
    const { status: facts, conditions } = planned
    const said = { ...(facts && { facts }), ...(conditions && { conditions }) }
    const wanted = nextStatus({ previous, generation, outcome, now: deps.now(), ...said })
    // said in the view alone: there is nothing to write it to
    if (base.metadata.isLost) return { ...base, status: wanted }
    const patch = mergeDiff(previous ?? {}, wanted)
    if (patch === undefined) return base
    const { resourceVersion } = base.metadata
    const written = await deps.write(pass.key, async () => {
      const answer = await kube.patchStatus<O>(kind, pass.ref, patch, { resourceVersion })
      cache.put(answer)
      return answer
    })
    // What went as planned is in the status itself; a line for each would cost as much as the pass.
    pass.log[outcome.state === 'ready' ? 'debug' : 'info'](
      { state: outcome.state, reason: readyOf(written.status)?.reason },
      'status written',
    )
    announce(base, written, outcome)
    return written
  }

  const finalizers = async (pass: Pass, object: O, change: (held: string[]) => string[]) => {
    const { resourceVersion, isLost } = object.metadata
    if (isLost) return
    await deps.write(pass.key, async () => {
      const answer = await kube.patchMeta<O>(kind, pass.ref, withFinalizers(object, change), { resourceVersion })
      cache.put(answer)
      return answer
    })
  }

  return { status, finalizers }
}
