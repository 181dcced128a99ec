/** A change of desire against what stands now, for any kind: read, decide, write under the version that was read. */
import { setTimeout as sleep } from 'node:timers/promises'
import { isConflict } from '../../controllers/base/errors.ts'
import type { KindRef } from '../../controllers/kube/kube.ts'
import type { Resource } from '../../crds/kernel/object.ts'
import { Problem } from '../http/problem.ts'
import type { Writing } from '../wiring/deps.ts'
import { refuseForeign, type Whose } from './own.ts'

/** Somebody else wrote in between (the controllers' status moves the version too): read again and try once more, this often. */
const TRIES_MAX = 10
/** Times the tries so far, and at random, so that a crowd does not meet again. */
const PAUSE_MS = 20

/**
 * @param target.uid where it must be this very life of the resource
 * @param of gives the merge patch for a spec, or null to leave it; it is asked again when somebody wrote in between, and
 *   may refuse by throwing
 * @returns the resource as written, or as it stands @throws KubeError, a conflict too when it lasts; Problem NOT_FOUND where
 *   another account's stands under the name by now
 */
export const editSpec = async <Spec>(
  { kube, namespace }: Writing,
  { kind, name, whose, uid }: { kind: KindRef; name: string; whose: Whose; uid?: string },
  of: (spec: Spec, object: Resource<Spec>) => Record<string, unknown> | null,
): Promise<Resource<Spec>> => {
  const ref = { namespace, name }
  for (let left = TRIES_MAX; ; left--) {
    const object = await kube.get<Resource<Spec>>(kind, ref)
    if (uid !== undefined && object.metadata.uid !== uid)
      throw new Problem('NOT_FOUND', `There is no ${name} any more.`)
    refuseForeign(object, whose, name)
    const spec = of(object.spec, object)
    if (spec === null) return object
    try {
      const { resourceVersion } = object.metadata
      return await kube.patchSpec<Resource<Spec>>(kind, ref, { spec }, { resourceVersion })
    } catch (error) {
      if (!isConflict(error) || left <= 1) throw error
      await sleep(Math.random() * PAUSE_MS * (TRIES_MAX - left + 1))
    }
  }
}
