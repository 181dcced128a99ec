/** The end of a resource that is not there any more. */
import type { Resource } from '../../crds/kernel/object.ts'
import type { Controller, Pass, PassDeps } from './contract.ts'

/**
 * Whether what goes goes for itself, and not with all of its kind.
 * @param bornAt when it was made; null where that is not known @throws KubeError when nobody can say
 */
export const isDeletion = async <O extends Resource<unknown>, Facts extends object>(
  { kind }: Pick<Controller<O, Facts, unknown, { do: string }>, 'kind'>,
  { witness, onLost }: Pick<PassDeps<O>, 'witness' | 'onLost'>,
  { log, ref }: Pick<Pass, 'log' | 'ref'>,
  bornAt: string | null,
): Promise<boolean> => {
  if (!witness || (await witness.isDeleted(kind, bornAt, ref.name))) return true
  log.debug('its definition or its namespace is removed: nothing of it is forgotten')
  onLost?.()
  return false
}

/** Puts the lives of the name that were seen to go on record, before anything is said of who stands under it now. */
export const recordGone = async <O extends Resource<unknown>, Facts extends object>(
  controller: Pick<Controller<O, Facts, unknown, { do: string }>, 'kind'>,
  deps: PassDeps<O>,
  pass: Pass,
): Promise<'deleted' | 'lost' | 'none'> => {
  const seen = deps.lives.get(pass.key)
  if (!seen) return 'none'
  let isDeleted = false
  for (const life of seen) {
    isDeleted = await isDeletion(controller, deps, pass, life.creationTimestamp)
    if (isDeleted) await deps.kept?.deleted(pass.key, life)
  }
  // others may have gone meanwhile
  const more = deps.lives.get(pass.key)?.slice(seen.length) ?? []
  if (more.length > 0) deps.lives.set(pass.key, more)
  else deps.lives.delete(pass.key)
  return isDeleted ? 'deleted' : 'lost'
}

/**
 * Forgets a resource that was seen to go, unless all of its kind are on their way out.
 * @returns whether it was forgotten @throws what failed, logged
 */
export const forget = async <O extends Resource<unknown>, Facts extends object, World, Step extends { do: string }>(
  controller: Controller<O, Facts, World, Step>,
  deps: PassDeps<O>,
  pass: Pass,
): Promise<boolean> => {
  const { gone } = deps
  const { key, log } = pass
  const how = gone.get(key)
  if (how === undefined) return false
  let isMeant = false
  try {
    const recorded = await recordGone(controller, deps, pass)
    isMeant = recorded === 'none' ? await isDeletion(controller, deps, pass, null) : recorded === 'deleted'
    if (isMeant) {
      if (how === 'absent') await deps.kept?.deleted(key, null)
      await controller.forget?.(key, how)
    }
  } catch (error) {
    log.error({ err: error }, 'not forgotten yet')
    throw error
  }
  // it may have come back meanwhile, and gone again
  if (gone.get(key) === how) gone.delete(key)
  return isMeant
}
