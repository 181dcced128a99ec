/** Finding, reading and listing invoices: all answered from the mirror; nothing is computed anew. */

import type { MirrorFilter } from '../../controllers/store/mirror.ts'
import { INVOICE } from '../../crds/invoice/kind.ts'
import { PHASES } from '../../crds/invoice/schema.ts'
import { named } from '../../crds/kernel/named.ts'
import type { JsonSchema } from '../../crds/kernel/rest.ts'
import { makeOwnResources } from '../command/resource.ts'
import type { ApiRequest } from '../http/route.ts'
import { locationOf } from './commands.ts'

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

export const invoices = makeOwnResources({
  kind: INVOICE,
  noun: 'invoice',
  one: 'invoice',
  pathOf: locationOf,
  filterOf,
})
