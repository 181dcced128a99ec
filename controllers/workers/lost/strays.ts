/**
 * Says at each resource that stands where nobody works on it why that is so, with the code that the admission policy gives where
 * there is one (crds/account/tenants.ts). Nothing of it is changed but its conditions, and nothing of it is forgotten.
 */
import type { CommonStatus, Resource } from '../../../crds/kernel/object.ts'
import { isConflict, isNotFound, KubeError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { Kube } from '../../kube/kube.ts'
import type { StrayObject, Strays } from '../../kube/tenants/strays.ts'
import { mergeDiff, nextStatus } from '../../runtime/status.ts'

const LOOK_MS = 1_000
/** In one look; more wait for the next. */
const AT_ONCE = 50

export type StrayDeps = {
  strays: Pick<Strays, 'list' | 'put'>
  /** The API server itself: inside the platform nobody sees them. */
  kube: Pick<Kube, 'patchStatus'>
  now: () => Date
  log: Log
  lookMs?: number
}

/** What its status is to say; undefined where it says so. */
const patchOf = ({ object, code, message }: StrayObject, now: Date): object | undefined => {
  const { metadata, status } = object as Resource<unknown, CommonStatus>
  const outcome = { state: 'stalled', code, message } as const
  return mergeDiff(status ?? {}, nextStatus({ previous: status, generation: metadata.generation, outcome, now }))
}

/** @param failed those that are not tried again as they are @returns whether the API server was asked */
const tell = async (
  { strays, kube, now, log }: StrayDeps,
  stray: StrayObject,
  failed: WeakSet<object>,
): Promise<boolean> => {
  const patch = failed.has(stray.object) ? undefined : patchOf(stray, now())
  if (patch === undefined) return false
  const { kind, namespace, object } = stray
  const { name, resourceVersion } = object.metadata
  const precondition = resourceVersion === undefined ? {} : { resourceVersion }
  try {
    const written = await kube.patchStatus<typeof object>(kind, { namespace, name }, patch, precondition)
    strays.put({ ...stray, object: written })
  } catch (error) {
    // somebody wrote, it went, or nobody may look there any more: its event comes
    const isOver = isConflict(error) || isNotFound(error) || (error instanceof KubeError && error.status === 403)
    if (isOver) return true
    failed.add(object)
    log.warn({ err: error, kind: kind.kind, name, namespace }, 'a stray resource was not told')
  }
  return true
}

/** @returns the way to end it */
export const startStrays = (deps: StrayDeps): (() => void) => {
  const failed = new WeakSet<object>()
  let isOver = false
  let timer: NodeJS.Timeout | undefined
  const look = async (): Promise<void> => {
    let left = AT_ONCE
    for (const stray of deps.strays.list()) {
      if (isOver || left === 0) break
      if (await tell(deps, stray, failed)) left -= 1
    }
    if (!isOver) timer = setTimeout(look, deps.lookMs ?? LOOK_MS)
  }
  void look()
  return () => {
    isOver = true
    clearTimeout(timer)
  }
}
