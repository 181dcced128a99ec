/** The answers that several routes of invoices share. */
import { invoiceAnswer } from '../../crds/invoice/answer.ts'
import { object, text } from '../schemas.ts'

export const wrapped = object('The invoice.', { invoice: invoiceAnswer })
export const pendingAnswer = {
  description: 'Written; the verdict is still to come. Poll the address in Location.',
  schema: object('What is known so far.', { invoice: object('The invoice.', { id: text('Names the invoice.') }) }),
  headers: { location: 'Where to poll.', 'retry-after': 'Seconds to wait before that.' },
}
