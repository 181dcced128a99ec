/**
 * A numbered invoice that left the cluster while something was reported of it comes back by itself: it is made anew from its
 * archived view, adopted by the ledger, and decides (crds/invoice/planning/restore.ts). Over REST its caller does the same.
 */
import { INVOICE } from '../../../crds/invoice/kind.ts'
import { specOfView } from '../../../crds/invoice/planning/restore.ts'
import type { ShownInvoice } from '../../../crds/invoice/rest/shown.ts'
import { CREATED_FROM, GROUP, VERSION } from '../../../crds/kernel/object.ts'
import { isAlreadyExists } from '../../base/errors.ts'
import type { Kube } from '../../kube/kube.ts'
import { type MirrorRow, typedBy } from '../../store/mirror.ts'

type Returning = { kube: Pick<Kube, 'create'>; namespace: string }

export const bringBackInvoice = async ({ kube, namespace }: Returning, row: MirrorRow): Promise<void> => {
  const { account, name } = row
  const view: ShownInvoice = typedBy(INVOICE, row).view
  if (view.number === null) return
  const annotations = view.created_from ? { [CREATED_FROM]: JSON.stringify(view.created_from) } : {}
  const metadata = { name, namespace, annotations }
  const whole = { apiVersion: `${GROUP}/${VERSION}`, kind: INVOICE.kind, metadata, spec: specOfView(account, view) }
  try {
    await kube.create(INVOICE, whole)
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
}
