/** The routes of reminders and repetition, as data (rules/invoice.md#recurrence). */

import { recurrence } from '../../../crds/invoice/order/timing.ts'
import { invoiceAnswer } from '../../../crds/invoice/rest/answer.ts'
import { reminderAnswer, repetitionAnswer } from '../../../crds/invoice/rest/timinganswer.ts'
import { restSchema } from '../../../crds/kernel/rest.ts'
import type { Scope } from '../../auth/scopes.ts'
import { object, withExamples } from '../../openapi/schemas.ts'
import type { Route } from '../../wiring/route.ts'
import type { InvoiceNeeds } from '../needs.ts'
import { pendingAnswer } from '../shapes.ts'
import { remindClient, repeatInvoice } from './timing.ts'

const scope = (name: Scope) => ({ kind: 'scope' as const, scope: name })
const tag = 'Invoices'
const one = '/api/invoices/:id'

export const timingRoutes: Route<InvoiceNeeds>[] = [
  {
    method: 'POST',
    path: `${one}/remind`,
    summary: 'Remind the client',
    description:
      "Beside the reminders that go out by themselves; one a day in the issuer's time zone. Where no mail goes out, reason says why.",
    tag,
    scope: scope('invoices:write'),
    answers: {
      200: {
        description: 'What became of it.',
        schema: object('What became of it.', { reminder: reminderAnswer, invoice: invoiceAnswer }),
      },
      202: pendingAnswer,
    },
    codes: ['NOT_FOUND', 'NOT_PAYABLE', 'NOTHING_DUE', 'LEDGER_BEHIND'],
    handle: remindClient,
  },
  {
    method: 'POST',
    path: `${one}/recurrence`,
    summary: 'Repeat an invoice every month',
    description:
      'The first on the next such day after now, each with the distance to its due date that this one has (else 14 days). Sent ones count as sends; beyond the cap they are left as drafts. The body takes the place of what was set before.',
    tag,
    scope: scope('invoices:write'),
    body: withExamples(
      restSchema(recurrence),
      { every: 'month', day: 1, mode: 'draft' },
      { every: 'month', day: 31, mode: 'send', until: '2099-12-31' },
      { every: 'month', day: 1, mode: 'send', paused: true },
    ),
    answers: {
      200: {
        description: 'How it is repeated.',
        schema: object('How it is repeated.', { recurrence: repetitionAnswer }),
      },
      202: pendingAnswer,
    },
    codes: [
      'NOT_FOUND',
      'INVALID_FIELD',
      'LOCKED_VOID',
      'NO_ITEMS',
      'ZERO_TOTAL',
      'DOCUMENT_TOO_LARGE',
      'DOCUMENT_SET_ASIDE',
      'LEDGER_BEHIND',
    ],
    handle: repeatInvoice,
  },
]
