/** GET routes of invoices: all answered from the mirror, the ledger and the blobs; nothing is computed anew. */
import type { MirrorFilter, MirrorRow } from '../../controllers/runtime/mirror.ts'
import { PHASES } from '../../crds/invoice/schema.ts'
import type { InvoiceView } from '../../crds/invoice/view.ts'
import type { JsonSchema } from '../../crds/rest.ts'
import type { Deps } from '../deps.ts'
import { Problem } from '../problem.ts'
import type { Answer, ApiRequest } from '../route.ts'

const LIMIT_DEFAULT = 50
const LIMIT_MAX = 200

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

const digits = (description: string, pattern: string): JsonSchema => ({ type: 'string', description, pattern })
export const pageFilters: Record<string, JsonSchema> = {
  limit: digits(`How many, 1 to ${LIMIT_MAX}; ${LIMIT_DEFAULT} when left out.`, '^([1-9]\\d?|1\\d\\d|200)$'),
  offset: digits('How many to skip.', '^\\d{1,9}$'),
}

/** What lists and the export may be narrowed by (spec/1 Endpoints). */
export const listFilters: Record<string, JsonSchema> = {
  status: { type: 'string', description: 'Only invoices that stand like this.', enum: [...PHASES] },
  since: { type: 'string', description: 'Created on this day (UTC) or later.', format: 'date' },
  client_email: { type: 'string', description: 'Exactly this recipient.', maxLength: 254 },
  external_ref: { type: 'string', description: 'Exactly this reference.', maxLength: 128 },
  issuer_id: { type: 'string', description: 'Under this issuer.', maxLength: 63 },
}

export const filterOf = ({
  status,
  since,
  client_email,
  external_ref,
  issuer_id,
}: ApiRequest['query']): MirrorFilter => ({
  ...(status !== undefined && { status }),
  ...(since !== undefined && { since }),
  ...(client_email !== undefined && { clientEmail: client_email }),
  ...(external_ref !== undefined && { externalRef: external_ref }),
  ...(issuer_id !== undefined && { issuerId: issuer_id }),
})

/** The document's filters, newest first, with the total over all pages. */
export const listInvoices = async (deps: Deps, request: ApiRequest): Promise<Answer> => {
  const { limit, offset } = request.query
  const page = { limit: Number(limit ?? LIMIT_DEFAULT), offset: Number(offset ?? 0) }
  const of = { kind: 'Invoice', account: request.caller.account }
  const { rows, total } = await deps.mirror.list(of, filterOf(request.query), page)
  return { status: 200, body: { invoices: rows.map((row) => row.view as InvoiceView), total, ...page } }
}
