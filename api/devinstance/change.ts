/** PATCH and DELETE of a dev instance: its policy is desire, its end is a call of the protocol. */
import { isNotFound } from '../../controllers/base/errors.ts'
import type { MirrorRow } from '../../controllers/store/mirror.ts'
import { DEVINSTANCE } from '../../crds/devinstance/kind.ts'
import type { DevInstanceSpec } from '../../crds/devinstance/schema.ts'
import { devInstanceItem } from '../../crds/devinstance/view.ts'
import { editSpec } from '../command/edit.ts'
import { wantsAsync } from '../command/verdict.ts'
import { Problem } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import type { Deps } from '../wiring/deps.ts'
import { callDevInstance, pending } from './call.ts'
import { changeable, detailOf, ownerOf, shownOf } from './find.ts'

export const patchDevInstance = async (deps: Deps, request: ApiRequest): Promise<Answer> => {
  const stored = await changeable(deps, request)
  const { id, box: instance } = stored
  const whose = ownerOf(stored)
  if (instance.state === 'terminated') throw new Problem('WRONG_STATE', `${id} is terminated: no policy applies to it.`)
  const { policy } = request.body as { policy?: Record<string, unknown> }
  const watched = deps.waiter.watch(DEVINSTANCE, id, whose)
  try {
    const { metadata } = await editSpec<DevInstanceSpec>(deps, { kind: DEVINSTANCE, name: id, whose }, () =>
      policy ? { policy } : null,
    )
    if (wantsAsync(request)) return pending(id)
    const isSeen = (row: MirrorRow | undefined) => row === undefined || row.observedGeneration >= metadata.generation
    const now = await deps.mirror.get(DEVINSTANCE, id, whose)
    const found = isSeen(now) ? { row: now } : await watched.until(isSeen)
    const after = shownOf(found?.row)
    return after ? { status: 200, body: { devbox: await detailOf(deps, after) } } : pending(id)
  } finally {
    watched.leave()
  }
}

/** The resource of a tombstone is of no more use; its row is kept. */
const removeResource = async ({ kube, namespace }: Deps, id: string): Promise<void> => {
  await kube.delete(DEVINSTANCE, { namespace, name: id }).catch((error) => {
    if (!isNotFound(error)) throw error
  })
}

export const deleteDevInstance = async (deps: Deps, request: ApiRequest): Promise<Answer> => {
  const row = await deps.mirror.get(DEVINSTANCE, request.params.id ?? '', { account: request.caller.account })
  const held = row?.view
  // An earlier DELETE got as far as the tombstone.
  if (held?.box?.deletedAt) await removeResource(deps, held.id)
  const stored = await changeable(deps, request)
  const called = await callDevInstance(deps, request, stored, { trigger: 'delete', said: {} })
  if (called.stored === null) return pending(stored.id)
  await removeResource(deps, stored.id)
  return { status: 200, body: { devbox: devInstanceItem(called.stored, deps.now().toISOString()) } }
}
