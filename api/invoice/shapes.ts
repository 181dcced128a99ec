/** The answers that several routes of invoices share. */
import { invoiceAnswer } from '../../crds/invoice/rest/answer.ts'
import { named } from '../../crds/kernel/named.ts'
import { object, operationId, POLL_HEADERS, text } from '../openapi/schemas.ts'

export const wrapped = named('OneInvoice', object('The invoice.', { invoice: invoiceAnswer }))
export const pendingAnswer = named('PendingInvoice', {
  description: 'Written; the verdict is still to come. Poll the address in Location.',
  schema: object('What is known so far.', {
    operation_id: operationId,
    invoice: object('The invoice.', { id: text('Names the invoice.') }),
  }),
  headers: POLL_HEADERS,
})
