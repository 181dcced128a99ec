/** Payments and credit notes: reported here, decided by the controllers' plan (rules/invoice.md#payments). */
import type { NewFact } from '../../../controllers/store/ledger/facts.ts'
import type { MirrorRow } from '../../../controllers/store/mirror.ts'
import { creditKey, paymentKey } from '../../../crds/invoice/facts/records.ts'
import { INVOICE } from '../../../crds/invoice/kind.ts'
import {
  type CreditBody,
  creditBody,
  creditFaults,
  type PaymentBody,
  paymentBody,
  paymentFaults,
} from '../../../crds/invoice/order/requests.ts'
import type { ShownInvoice } from '../../../crds/invoice/rest/shown.ts'
import type { Fault } from '../../../crds/kernel/problem.ts'
import { restPointer, toPatch } from '../../../crds/kernel/rest.ts'
import type { Command, FactGoal } from '../../command/command.ts'
import { nameFor } from '../../command/name.ts'
import { append } from '../../command/report.ts'
import { settle } from '../../command/settle.ts'
import { Problem, refuseFaults } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { creditCommand, paymentCommand, replayOf } from '../commands.ts'
import type { InvoiceNeeds } from '../needs.ts'
import { invoices } from '../read.ts'
import { bringBack } from './restore.ts'

/** The method of a payment that names none. */
const METHOD = 'manual'

/** Nothing is reported or asked of an invoice that the ledger is behind of: it would stay undecided. */
export const refuseBehind = ({ stalled }: Pick<ShownInvoice, 'stalled'>): void => {
  if (stalled?.code === 'LEDGER_BEHIND') throw new Problem('LEDGER_BEHIND', `${stalled.detail}.`)
}

/**
 * The caller's invoice, with a resource that can take something in: one that left the cluster is brought back.
 * @throws Problem NOT_FOUND, LEDGER_BEHIND
 */
export const liveRow = async (deps: InvoiceNeeds, request: ApiRequest): Promise<MirrorRow<ShownInvoice>> => {
  const row = await invoices.find(deps, request)
  refuseBehind(row.view)
  return row.archived ? bringBack(deps, row) : row
}

type Reported = Pick<NewFact, 'key' | 'kind' | 'body' | 'once'>

/** Appends what is reported and answers with the controllers' verdict. @throws Problem as it was refused */
export const reportOn = (
  deps: InvoiceNeeds,
  request: ApiRequest,
  row: MirrorRow<ShownInvoice>,
  { command, fact }: { command: Command<FactGoal, ShownInvoice, InvoiceNeeds>; fact: Reported },
): Promise<Answer> =>
  settle(deps, request, command, {
    ...invoices.commandOn(row),
    pending: async ({ replayed }) => ({ invoice: row.view, ...replayOf(replayed) }),
    act: () => append(deps, { kind: INVOICE, name: row.name, fact, bringBack: () => bringBack(deps, row) }),
  })

/** The same report of money, or the same send, without a key, while nobody can know what became of the first, is the first. */
export const onceOf = ({ idempotencyKey }: ApiRequest) => ({ once: idempotencyKey === undefined })

const refuse = (faults: readonly Fault[]): void =>
  refuseFaults(faults.map((fault) => ({ ...fault, pointer: restPointer(fault.pointer) })))

/** Records money that the caller attests; blank is all that is left to pay. */
export const recordPayment = async (deps: InvoiceNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await liveRow(deps, request)
  const asked = toPatch({ spec: paymentBody }, request.body) as PaymentBody
  const { currency, balance_cents } = row.view
  refuse(paymentFaults(asked, { currency, restCents: balance_cents }))
  const { amountCents, method, reference = '' } = asked
  const body = { amountCents: amountCents ?? null, method: method || METHOD, reference, declaredBy: 'owner' }
  const key = paymentKey(nameFor('pay', request))
  const fact = { key, kind: 'payment', body, ...onceOf(request) }
  return reportOn(deps, request, row, { command: paymentCommand, fact })
}

/** Credits an amount, items, or all that is left. */
export const creditInvoice = async (deps: InvoiceNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await liveRow(deps, request)
  const asked = toPatch({ spec: creditBody }, request.body) as CreditBody
  const { currency, total_cents, credited_cents } = row.view
  const restCents = total_cents === null ? null : total_cents - credited_cents
  refuse(creditFaults(asked, { currency, restCents }))
  const { amountCents, items, reason = '', refund = false } = asked
  const body = { amountCents: amountCents ?? null, items: items ?? null, reason, refund }
  const key = creditKey(nameFor('cn', request))
  const fact = { key, kind: 'credit', body, ...onceOf(request) }
  return reportOn(deps, request, row, { command: creditCommand, fact })
}
