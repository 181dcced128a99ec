/**
 * Finished invoices leave the cluster: their resource is deleted, under the version that was judged, and their view is kept
 * as for any other deletion (forget). What needs one later brings it back (api/invoice/restore.ts). Safe to end anywhere:
 * the deletion is the only effect, and a view that was not archived is found by the next process that leads.
 */
import { INVOICE } from '../../../crds/invoice/kind.ts'
import { isFinished, quietSince } from '../../../crds/invoice/planning/retention.ts'
import type { InvoiceResource } from '../../../crds/invoice/schema.ts'
import { isConflict, isNotFound } from '../../base/errors.ts'
import type { Kube } from '../../kube/kube.ts'
import { quietInvoices } from '../../store/invoice/books.ts'
import { makeAskDeletion } from '../../store/ledger/desires.ts'
import type { Pg } from '../../store/pg/pg.ts'
import type { Held } from '../held.ts'

/** Resources that one sweep deletes: more wait for the next. */
export const ARCHIVE_MAX = 500

export type ArchiveDeps = {
  pg: Pg
  kube: Pick<Kube, 'delete'>
  invoices: Held<InvoiceResource>
  retentionDays: number
  now: () => Date
}

/** @returns how many left; one that was changed meanwhile stays */
export const archiveDue = async (deps: ArchiveDeps, limit = ARCHIVE_MAX): Promise<number> => {
  const now = deps.now()
  const finished = deps.invoices.list().filter((invoice) => isFinished(invoice, now))
  if (finished.length === 0) return 0
  const byName = new Map(finished.map(({ metadata }) => [metadata.name, metadata]))
  const before = quietSince(now, deps.retentionDays)
  let left = 0
  const quiet = await quietInvoices(deps.pg, [...byName.values()], { before, limit })
  if (quiet.length === 0) return 0
  // on record first: whoever leads next could not tell those that are gone from lost ones
  const deletions = makeAskDeletion(deps)
  await deletions.ask(
    INVOICE.kind,
    quiet.map((name) => ({ name, uid: byName.get(name)?.uid ?? '' })),
  )
  for (const name of quiet) {
    const { namespace = '', uid = '', resourceVersion = '' } = byName.get(name) ?? {}
    try {
      await deps.kube.delete(INVOICE, { namespace, name }, { uid, resourceVersion })
      left += 1
    } catch (error) {
      if (isConflict(error)) await deletions.takeBack({ kind: INVOICE.kind, name, uid })
      else if (!isNotFound(error)) throw error
    }
  }
  return left
}
