/** GET routes of invoices: all answered from the mirror, the ledger and the blobs; nothing is computed anew. */

import type { MirrorFilter, MirrorRow } from '../../controllers/store/mirror.ts'
import { INVOICE } from '../../crds/invoice/kind.ts'
import type { ShownInvoice } from '../../crds/invoice/rest/shown.ts'
import { PHASES } from '../../crds/invoice/schema.ts'
import { named } from '../../crds/kernel/named.ts'
import type { JsonSchema } from '../../crds/kernel/rest.ts'
import { sameOwner } from '../command/own.ts'
import { Problem } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import type { Deps } from '../wiring/deps.ts'
import { locationOf } from './commands.ts'

const LIMIT_DEFAULT = 50

/** The caller's invoice. Another account's is not there at all (rules/platform.md#ownership). */
export const ownRow = async (deps: Pick<Deps, 'mirror'>, request: ApiRequest): Promise<MirrorRow<ShownInvoice>> => {
  const id = request.params.id ?? ''
  const row = await deps.mirror.get(INVOICE, id, { account: request.caller.account })
  if (!row) throw new Problem('NOT_FOUND', `There is no invoice ${id}.`)
  return row
}

/** What every command on an invoice says of it. */
export const commandOn = (row: MirrorRow<ShownInvoice>) => ({
  name: row.name,
  whose: sameOwner(row),
  resource: locationOf(row.name),
  pending: { invoice: row.view },
})

export const getInvoice = async (deps: Pick<Deps, 'mirror'>, request: ApiRequest): Promise<Answer> => {
  const { view } = await ownRow(deps, request)
  return { status: 200, body: { invoice: view } }
}

/** What lists and the export may be narrowed by (rules/invoice.md#filters). */
export const listFilters: Record<string, JsonSchema> = {
  status: named('InvoiceStatusFilter', {
    type: 'string',
    description: 'Only invoices that stand like this.',
    enum: [...PHASES],
  }),
  since: named('SinceFilter', { type: 'string', description: 'Created on this day (UTC) or later.', format: 'date' }),
  client_email: named('ClientEmailFilter', { type: 'string', description: 'Exactly this recipient.', maxLength: 254 }),
  external_ref: named('ExternalRefFilter', { type: 'string', description: 'Exactly this reference.', maxLength: 128 }),
  issuer_id: named('IssuerIdFilter', { type: 'string', description: 'Under this issuer.', maxLength: 63 }),
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
export const listInvoices = async (deps: Pick<Deps, 'mirror'>, request: ApiRequest): Promise<Answer> => {
  const { limit, offset } = request.query
  const page = { limit: Number(limit ?? LIMIT_DEFAULT), offset: Number(offset ?? 0) }
  const of = { kind: INVOICE, account: request.caller.account }
  const { rows, total } = await deps.mirror.list(of, filterOf(request.query), page)
  return { status: 200, body: { invoices: rows.map((row) => row.view), total, ...page } }
}
