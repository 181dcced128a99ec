/** GET routes of invoices: all answered from the mirror, the ledger and the blobs; nothing is computed anew. */
import type { MirrorRow } from '../../controllers/runtime/mirror.ts'
import type { InvoiceView } from '../../crds/invoice/view.ts'
import type { Deps } from '../deps.ts'
import { Problem } from '../problem.ts'
import type { Answer, ApiRequest } from '../route.ts'

const LIMIT_DEFAULT = 50

/** The caller's invoice. Another account's is not there at all (DESIGN section 5). */
export const ownRow = async (deps: Deps, request: ApiRequest): Promise<MirrorRow> => {
  const id = request.params.id ?? ''
  const row = await deps.mirror.get('Invoice', id)
  if (!row || row.account !== request.caller.account) throw new Problem('NOT_FOUND', `There is no invoice ${id}.`)
  return row
}

export const getInvoice = async (deps: Deps, request: ApiRequest): Promise<Answer> => {
  const { view } = await ownRow(deps, request)
  return { status: 200, body: { invoice: view } }
}

/** The document's filters, newest first, with the total over all pages. */
export const listInvoices = async (deps: Deps, request: ApiRequest): Promise<Answer> => {
  const { status, since, client_email, external_ref, issuer_id, limit, offset } = request.query
  const page = { limit: Number(limit ?? LIMIT_DEFAULT), offset: Number(offset ?? 0) }
  const filter = {
    ...(status !== undefined && { status }),
    ...(since !== undefined && { since }),
    ...(client_email !== undefined && { clientEmail: client_email }),
    ...(external_ref !== undefined && { externalRef: external_ref }),
    ...(issuer_id !== undefined && { issuerId: issuer_id }),
  }
  const { rows, total } = await deps.mirror.list({ kind: 'Invoice', account: request.caller.account }, filter, page)
  return { status: 200, body: { invoices: rows.map((row) => row.view as InvoiceView), total, ...page } }
}
