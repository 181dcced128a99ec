/**
 * The next epoch, which is above every one before, also when an older copy of the database was put back: the highest that was
 * ever taken is kept on the Lease too. So no two leaders share an epoch, and the marks that hosts keep stay below.
 * Where the Lease was lost the database rules; where both were, hosts refuse the new leader until its epoch is above their marks.
 */
import { GROUP } from '../../crds/kernel/object.ts'
import { isConflict } from '../base/errors.ts'
import type { Kube, Ref } from '../kube/kube.ts'
import { LEASE } from '../kube/lease.ts'
import type { AnyObject } from '../kube/objects.ts'
import { LEASE as EPOCHS, takeEpoch } from '../store/pg/fence.ts'
import type { Pg } from '../store/pg/pg.ts'

/** On the Lease: the highest epoch that was ever taken. */
export const EPOCH = `${GROUP}/epoch`

const TRIES_MAX = 5

type Taking = {
  kube: Pick<Kube, 'get' | 'patchMeta'>
  pg: Pg
  /** Of the Lease, which is there. */
  ref: Ref
  holder: string
}

const keptOf = ({ metadata }: AnyObject): number => {
  const text = metadata.annotations?.[EPOCH] ?? ''
  return /^\d{1,15}$/.test(text) ? Number(text) : 0
}

/** Never back: somebody who was slow must not write over what came after. */
const keep = async ({ kube, ref }: Taking, epoch: number): Promise<void> => {
  for (let left = TRIES_MAX; ; left -= 1) {
    const lease = await kube.get(LEASE, ref)
    if (keptOf(lease) >= epoch) return
    const { resourceVersion } = lease.metadata
    try {
      const annotations = { [EPOCH]: String(epoch) }
      await kube.patchMeta(LEASE, ref, { annotations }, resourceVersion === undefined ? {} : { resourceVersion })
      return
    } catch (error) {
      // The lease is renewed every two seconds.
      if (!isConflict(error) || left <= 1) throw error
    }
  }
}

/**
 * Takes the next epoch, in the database and then on the Lease, before anything is done under it.
 * @returns the epoch, and by how many the database was behind the Lease: then it is an older copy
 * @throws KubeError, DatabaseUnavailable
 */
export const takeNextEpoch = async (taking: Taking): Promise<{ epoch: number; behind: number }> => {
  const { pg, holder } = taking
  const kept = keptOf(await taking.kube.get(LEASE, taking.ref))
  const text = 'select epoch from epochs where lease = $1'
  const { rows } = await pg.query<{ epoch: number }>('epoch_before', text, [EPOCHS])
  const epoch = await takeEpoch(pg, holder, EPOCHS, kept)
  await keep(taking, epoch)
  return { epoch, behind: Math.max(0, kept - (rows[0]?.epoch ?? 0)) }
}
