/**
 * Bringing back the resource of an invoice that left the cluster, because something is to be done to it. It is made anew
 * from the archived view; the controllers find it in the ledger and adopt it: the same number, the same state, no mail.
 */
import { isAlreadyExists } from '../../controllers/runtime/errors.ts'
import type { MirrorRow } from '../../controllers/runtime/mirror.ts'
import { specOfView } from '../../crds/invoice/comeback.ts'
import { INVOICE } from '../../crds/invoice/kind.ts'
import type { ShownInvoice } from '../../crds/invoice/shown.ts'
import { CREATED_FROM, GROUP, VERSION } from '../../crds/object.ts'
import type { Deps } from '../deps.ts'
import { Problem } from '../problem.ts'

type Returning = Pick<Deps, 'kube' | 'namespace' | 'waiter' | 'mirror'>

/**
 * @returns the row of the resource once the controllers have adopted it; who comes second finds it there
 * @throws Problem UNAVAILABLE when they have not in time; the resource stays, and a repeat goes on from there
 */
export const bringBack = async (deps: Returning, row: MirrorRow): Promise<MirrorRow> => {
  const { name, account } = row
  const view = row.view as ShownInvoice
  if (view.number === null) throw new Problem('NOT_FOUND', `There is no invoice ${name}.`)
  const isBack = (now: MirrorRow | undefined): now is MirrorRow =>
    now !== undefined && !now.archived && now.uid !== row.uid
  const watched = deps.waiter.watch(INVOICE.kind, name)
  try {
    const annotations = view.created_from ? { [CREATED_FROM]: JSON.stringify(view.created_from) } : {}
    const metadata = { name, namespace: deps.namespace, annotations }
    const object = { apiVersion: `${GROUP}/${VERSION}`, kind: INVOICE.kind, metadata, spec: specOfView(account, view) }
    await deps.kube.create(INVOICE, object).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error
    })
    const now = await deps.mirror.get(INVOICE.kind, name)
    if (isBack(now)) return now
    const found = await watched.until(isBack)
    if (found && isBack(found.row)) return found.row
  } finally {
    watched.leave()
  }
  const detail = `${view.number} is being brought back from the archive; send the same request again.`
  throw new Problem('UNAVAILABLE', detail, { headers: { 'retry-after': '2' } })
}
