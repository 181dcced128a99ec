/** The answers that several routes of invoices share. */
import { invoiceAnswer } from '../../crds/invoice/rest/answer.ts'
import { named } from '../../crds/kernel/named.ts'
import { object, pendingOf, text } from '../openapi/schemas.ts'

export const wrapped = named('OneInvoice', object('The invoice.', { invoice: invoiceAnswer }))
export const pendingAnswer = pendingOf(
  'PendingInvoice',
  'Written; the verdict is still to come. Poll the address in Location.',
  {
    invoice: object('The invoice.', { id: text('Names the invoice.') }),
  },
)
