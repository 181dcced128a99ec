/** PATCH and DELETE of a dev instance: its policy is desire, its end is a call of the protocol. */
import { DEVINSTANCE } from '../../crds/devinstance/kind.ts'
import { deleted } from '../../crds/devinstance/life/effects.ts'
import type { DevInstanceSpec } from '../../crds/devinstance/schema.ts'
import type { ShownDevInstance } from '../../crds/devinstance/view.ts'
import { generationGoal } from '../command/command.ts'
import { editSpec } from '../command/edit.ts'
import { settle } from '../command/settle.ts'
import { Problem } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import { callDevInstance, commandOn } from './call.ts'
import { changeCommand, deleteCommand } from './commands.ts'
import { changeable, ownerOf } from './find.ts'
import type { DevInstanceNeeds } from './needs.ts'

export const patchDevInstance = async (deps: DevInstanceNeeds, request: ApiRequest): Promise<Answer> => {
  const stored = await changeable(deps, request)
  const { id, box: instance } = stored
  const whose = ownerOf(stored)
  if (instance.state === 'terminated') throw new Problem('WRONG_STATE', `${id} is terminated: no policy applies to it.`)
  const { policy } = request.body as { policy?: Record<string, unknown> }
  const change = () => (policy ? { policy } : null)
  return settle(deps, request, changeCommand, {
    ...commandOn(id, whose),
    async act() {
      const { metadata } = await editSpec<DevInstanceSpec>(deps, { kind: DEVINSTANCE, name: id, whose }, change)
      return generationGoal(metadata)
    },
  })
}

const buried = (stored: ShownDevInstance, at: string): ShownDevInstance => {
  const { instance } = deleted({ instance: stored.box, said: {}, at, around: { git: null } })
  return { ...stored, box: { ...instance, version: instance.version + 1 } }
}

export const deleteDevInstance = async (deps: DevInstanceNeeds, request: ApiRequest): Promise<Answer> => {
  const stored = await changeable(deps, request)
  const kept = { tombstone: buried(stored, deps.now().toISOString()) }
  return callDevInstance(deps, request, stored, { trigger: 'delete', said: {}, command: deleteCommand, kept })
}
