/** Asks the controllers to look at a resource: something that is not in its spec has changed (rules/platform.md#waking). */
import { setTimeout as sleep } from 'node:timers/promises'
import type { KindRef, Kube } from '../../controllers/kube/kube.ts'
import { isPlaneAway } from '../../controllers/store/pg/away.ts'
import { RECONCILE_REQUESTED_AT } from '../../crds/kernel/object.ts'

/** Resolves once a look has been asked for after this call. @throws KubeError, as `isNotFound` when there is no such resource */
export type Wake = (kind: KindRef, name: string) => Promise<void>

type Waking = {
  kube: Pick<Kube, 'patchMeta'>
  namespace: string
  now: () => Date
  /** The other way to whoever leads, through the ledger. */
  ring?: (kind: string, name: string) => Promise<unknown>
  ringAfterMs?: number
}

/** An API server that takes longer than this may be away: nobody waits for it to be sure. */
const RING_AFTER_MS = 500

/**
 * One request at a time for each resource: whoever comes while one is under way shares the next, so that a crowd around one
 * resource costs two writes, and not a conflict for each.
 */
export const makeWake = ({ kube, namespace, now, ring, ringAfterMs = RING_AFTER_MS }: Waking): Wake => {
  const running = new Map<string, Promise<void>>()
  const next = new Map<string, Promise<void>>()
  let count = 0

  const ask = async (kind: KindRef, name: string): Promise<void> => {
    count += 1 // two within a millisecond are two
    const annotations = { [RECONCILE_REQUESTED_AT]: `${now().toISOString()}/${count}` }
    const asked = kube.patchMeta(kind, { namespace, name }, { annotations })
    if (ring) void ringUnless(asked, () => ring(kind.kind, name))
    await asked
  }
  const ringUnless = async (asked: Promise<unknown>, rings: () => Promise<unknown>): Promise<void> => {
    const isHeard = await Promise.race([
      asked.then(
        () => true,
        (error: unknown) => !isPlaneAway(error),
      ),
      sleep(ringAfterMs, false, { ref: false }),
    ])
    // whoever leads looks now and then by itself
    if (!isHeard) await rings().catch(() => undefined)
  }
  const begin = (key: string, kind: KindRef, name: string): Promise<void> => {
    const asked = ask(kind, name).finally(() => running.delete(key))
    running.set(key, asked)
    return asked
  }

  return (kind, name) => {
    const key = `${kind.kind}/${name}`
    const shared = next.get(key)
    if (shared) return shared
    const before = running.get(key)
    if (!before) return begin(key, kind, name)
    const after = before
      .catch(() => {}) // its callers hear of it
      .then(() => {
        next.delete(key)
        return begin(key, kind, name)
      })
    next.set(key, after)
    return after
  }
}
