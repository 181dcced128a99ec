/** The end of a resource that is not there any more. */
import type { Resource } from '../../crds/kernel/object.ts'
import type { Controller, Pass, PassDeps } from './contract.ts'

/** Forgets a resource that was seen to go, unless all of its kind are on their way out. @throws what failed, logged */
export const forget = async <O extends Resource<unknown>, Facts extends object, World, Step extends { do: string }>(
  controller: Controller<O, Facts, World, Step>,
  { gone, witness, onLost }: PassDeps<O>,
  { key, log }: Pass,
): Promise<void> => {
  const how = gone.get(key)
  if (how === undefined) return
  try {
    if (witness && !(await witness(controller.kind))) {
      log.debug('its definition or its namespace is removed: nothing of it is forgotten')
      onLost?.()
    } else await controller.forget?.(key, how)
  } catch (error) {
    log.error({ err: error }, 'not forgotten yet')
    throw error
  }
  // it may have come back meanwhile, and gone again
  if (gone.get(key) === how) gone.delete(key)
}
