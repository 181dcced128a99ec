/** Deleting a resource, so that whoever leads later knows that it was deleted and not lost (hack/decisions/037). */
import { isNotFound, KubeError } from '../../controllers/base/errors.ts'
import type { KindRef } from '../../controllers/kube/kube.ts'
import type { Deps, Writing } from '../wiring/deps.ts'

/** The cluster has judged it, and nothing was done. */
const isRefusal = (error: unknown): boolean =>
  error instanceof KubeError &&
  error.status >= 400 &&
  error.status < 500 &&
  error.status !== 408 &&
  error.status !== 429

/** Deletes this very life of a resource; one that is gone already is no fault. @throws KubeError */
export const removeOwn = async (
  { kube, namespace, deletions }: Writing & Pick<Deps, 'deletions'>,
  kind: KindRef,
  { name, uid }: { name: string; uid: string },
): Promise<void> => {
  await deletions.ask(kind.kind, [{ name, uid }])
  try {
    await kube.delete(kind, { namespace, name }, { uid })
  } catch (error) {
    if (isNotFound(error)) return
    if (isRefusal(error)) await deletions.takeBack({ kind: kind.kind, name, uid })
    throw error
  }
}

/** Deletes what is on record as deleted already, whichever life of it is there; one that is gone is no fault. @throws KubeError */
export const removeByName = async ({ kube, namespace }: Writing, kind: KindRef, name: string): Promise<void> => {
  try {
    await kube.delete(kind, { namespace, name })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}
