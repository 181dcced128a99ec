/**
 * The next epoch, which is above every one before, also when the database or the cluster was put back: the highest that was ever
 * taken is kept on both sides, here and on the Lease (truths.ts compares them, hack/decisions/036). So no two leaders share an
 * epoch. A host that knows a higher one, because both were lost, has ours raised above its mark.
 */
import type { LeaseMarks } from '../../crds/kernel/desire/absence.ts'
import { GROUP } from '../../crds/kernel/object.ts'
import { isConflict } from '../base/errors.ts'
import type { Kube, Ref } from '../kube/kube.ts'
import { type AnyObject, LEASE } from '../kube/objects.ts'
import type { Installation } from '../store/installation/installation.ts'
import { LEASE as EPOCHS, raiseEpoch, takeEpoch } from '../store/pg/fence.ts'
import type { Pg } from '../store/pg/pg.ts'

/** On the Lease: the highest epoch that was ever taken, and by which installation. */
export const EPOCH = `${GROUP}/epoch`
export const INSTALLATION = `${GROUP}/installation`

const TRIES_MAX = 5

export type Taking = {
  kube: Pick<Kube, 'get' | 'patchMeta'>
  pg: Pg
  installation: Pick<Installation, 'read' | 'keepEpoch'>
  /** Of the Lease, which is there. */
  ref: Ref
}

/** @throws KubeError */
export const marksOf = ({ metadata }: AnyObject): LeaseMarks => {
  const text = metadata.annotations?.[EPOCH] ?? ''
  const epoch = /^\d{1,15}$/.test(text) ? Number(text) : 0
  return { installation: metadata.annotations?.[INSTALLATION] ?? null, epoch }
}

/** Writes it on the Lease, with the id of the installation. Never back: somebody who was slow must not write over what came after. */
export const keepEpoch = async ({ kube, ref, installation }: Taking, epoch: number): Promise<void> => {
  const read = () => kube.get<AnyObject>(LEASE, ref)
  const [kept, first] = await Promise.all([installation.read(), read()])
  if (kept === null) throw new Error('nobody leads by a database that belongs to no installation')
  const { id } = kept
  for (let left = TRIES_MAX, lease = first; ; left -= 1, lease = await read()) {
    const marks = marksOf(lease)
    if (marks.installation === id && marks.epoch >= epoch) break
    const { resourceVersion } = lease.metadata
    try {
      const annotations = { [EPOCH]: String(Math.max(epoch, marks.epoch)), [INSTALLATION]: id }
      await kube.patchMeta(LEASE, ref, { annotations }, resourceVersion === undefined ? {} : { resourceVersion })
      break
    } catch (error) {
      // The lease is renewed every two seconds.
      if (!isConflict(error) || left <= 1) throw error
    }
  }
  await installation.keepEpoch(epoch)
}

/**
 * Takes the next epoch, in the database and then on the Lease, before anything is done under it.
 * @throws KubeError, DatabaseUnavailable
 */
export const takeNextEpoch = async (taking: Taking, holder: string): Promise<number> => {
  const marks = marksOf(await taking.kube.get<AnyObject>(LEASE, taking.ref))
  const epoch = await takeEpoch(taking.pg, holder, EPOCHS, marks.epoch)
  await keepEpoch(taking, epoch)
  return epoch
}

/**
 * Somebody outside knows of a leader after us, whom neither the database nor the Lease know: raises the epoch above that one.
 * What was begun under `epoch` is refused from now on, ours too.
 * @throws StaleEpoch when somebody else leads indeed, KubeError, DatabaseUnavailable
 */
export const raiseAbove = async (taking: Taking, epoch: number, mark: number): Promise<number> => {
  const raised = await raiseEpoch(taking.pg, epoch, mark)
  await keepEpoch(taking, raised)
  return raised
}
