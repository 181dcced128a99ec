/** Where each app lives, as its pass has seen: all that is done for it is done there, but for what a move does elsewhere. */
import { placedOn } from '../../../../../crds/app/lifecycle/keeping/moving/place.ts'
import type { AppResource } from '../../../../../crds/app/schema.ts'
import type { AppStep } from '../../../../../crds/app/steps.ts'
import type { AppWorld } from '../../../../../crds/app/world.ts'
import type { Controller } from '../../../../runtime/contract.ts'
import { hostOfStep } from './moving.ts'

type App = Controller<AppResource, object, AppWorld, AppStep>
type Act = (step: AppStep, object: AppResource, ...rest: never[]) => unknown

export const makePlaced = () => {
  const homes = new Map<string, string>()

  const observing =
    (observe: App['observe']): App['observe'] =>
    async (object, signal) => {
      const world = await observe(object, signal)
      homes.set(object.metadata.name, world.home)
      return world
    }

  const placed =
    (act: Act): Act =>
    (step, object, ...rest) => {
      const host = hostOfStep(step) ?? homes.get(object.metadata.name) ?? object.spec.hostId
      return act(step, placedOn(object, host), ...rest)
    }

  /** Each act is given the app as one of the host that its step is done on. */
  const acting = (acts: App['act']): App['act'] =>
    Object.fromEntries(Object.entries(acts).map(([name, act]) => [name, placed(act as Act)])) as unknown as App['act']

  return { observing, acting, forget: (app: string) => void homes.delete(app) }
}
