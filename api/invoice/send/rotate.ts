/** Ending the link of a client's page, or its password: a fact that holds from when it is stored (rules/platform.md#links). */
import type { InvoiceLink } from '../../../crds/invoice/facts/versions.ts'
import { invoiceAnswer } from '../../../crds/invoice/rest/answer.ts'
import { named } from '../../../crds/kernel/named.ts'
import type { ProblemCode } from '../../../crds/kernel/problem.ts'
import { FIRST_LINK } from '../../../crds/values/links.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { object, text, textOrNull, whole } from '../../openapi/schemas.ts'
import { rotateBody, rotation } from '../../page/links.ts'
import type { Route } from '../../wiring/route.ts'
import { liveRow, reportOn } from '../money/money.ts'
import type { InvoiceNeeds } from '../needs.ts'
import { pendingAnswer } from '../shapes.ts'
import { rotateCommand, rotatedAnswer } from './rotated.ts'

const rotate =
  (purpose: InvoiceLink) =>
  async (deps: InvoiceNeeds, request: ApiRequest): Promise<Answer> => {
    const row = await liveRow(deps, request)
    const now = row.view.link_versions?.[purpose] ?? FIRST_LINK
    const fact = rotation(request, purpose, now)
    if (fact === null) return rotatedAnswer(deps, row, purpose, true)
    return reportOn(deps, request, row, { command: rotateCommand, fact })
  }

const rotated = named(
  'RotatedLink',
  object('What opens the page from now on.', {
    version: whole('The good one; those before it are ended.'),
    url: textOrNull("The client's page; null until the invoice is sent."),
    password: text('Opens the page. Only for a client without an account.'),
    invoice: invoiceAnswer,
    replayed: { type: 'boolean', description: 'True where it had come to that version already.' },
  }),
)

const one = '/api/invoices/:id'
const shared = {
  method: 'POST' as const,
  tag: 'Invoices',
  scope: { kind: 'scope' as const, scope: 'invoices:write' as const },
  body: rotateBody,
  answers: { 200: { description: 'What opens the page from now on.', schema: rotated }, 202: pendingAnswer },
  codes: ['NOT_FOUND', 'INVALID_FIELD', 'LEDGER_BEHIND'] as ProblemCode[],
}

export const rotateRoutes: Route<InvoiceNeeds>[] = [
  {
    ...shared,
    path: `${one}/link/rotate`,
    summary: "End the link of the client's page",
    description:
      'Every link of before leads nowhere from the moment that this is stored, visits and checkouts that were begun by one are over. Nobody is mailed: pass the new link on, or send the invoice again.',
    handle: rotate('link'),
  },
  {
    ...shared,
    path: `${one}/password/rotate`,
    summary: "End the password of the client's page",
    description:
      'The password of before opens nothing from the moment that this is stored, and visits that were begun by it are over. Nobody is mailed: pass the new one on.',
    handle: rotate('password'),
  },
]
