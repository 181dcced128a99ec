/** Payments and credit notes: reported here, decided by the controllers' plan (spec/1 "States and transitions"). */
import type { NewFact } from '../../controllers/runtime/facts.ts'
import type { MirrorRow } from '../../controllers/runtime/mirror.ts'
import { INVOICE } from '../../crds/invoice/kind.ts'
import { creditKey, paymentKey } from '../../crds/invoice/records.ts'
import type { InvoiceView } from '../../crds/invoice/view.ts'
import { type CreditWish, creditFaults, creditWish, type PaymentWish, paymentWish } from '../../crds/invoice/wishes.ts'
import { restPointer, toPatch } from '../../crds/rest.ts'
import type { Deps } from '../deps.ts'
import { report } from '../fact.ts'
import { nameFor } from '../name.ts'
import { refuseFaults } from '../problem.ts'
import type { Answer, ApiRequest } from '../route.ts'
import { accepted, wantsAsync } from '../verdict.ts'
import { bringBack } from './comeback.ts'
import { ownRow } from './read.ts'

/** The method of a payment that names none. */
const METHOD = 'manual'

/** The caller's invoice, with a resource that can take something in: one that left the cluster is brought back. */
export const liveRow = async (deps: Deps, request: ApiRequest): Promise<MirrorRow> => {
  const row = await ownRow(deps, request)
  return row.archived ? bringBack(deps, row) : row
}

/** @returns the view that has taken the fact in, or null while it is undecided @throws Problem as it was refused */
export const reportOn = async (
  deps: Deps,
  request: ApiRequest,
  row: MirrorRow,
  fact: Pick<NewFact, 'key' | 'kind' | 'body'>,
): Promise<InvoiceView | null> => {
  const taken = await report(deps, {
    kind: INVOICE,
    name: row.name,
    fact,
    isAsync: wantsAsync(request),
    bringBack: () => bringBack(deps, row),
  })
  return taken && (taken.view as InvoiceView)
}

export const undecided = (row: MirrorRow): Answer => accepted(`/api/invoices/${row.name}`, { invoice: row.view })

/** Records money that the caller attests; blank is all that is left to pay. */
export const recordPayment = async (deps: Deps, request: ApiRequest): Promise<Answer> => {
  const row = await liveRow(deps, request)
  const { amountCents, method, reference = '' } = toPatch({ spec: paymentWish }, request.body) as PaymentWish
  const body = { amountCents: amountCents ?? null, method: method || METHOD, reference, declaredBy: 'owner' }
  const key = paymentKey(nameFor('pay', request))
  const invoice = await reportOn(deps, request, row, { key, kind: 'payment', body })
  return invoice ? { status: 200, body: { invoice } } : undecided(row)
}

/** Credits an amount, items, or all that is left. */
export const creditInvoice = async (deps: Deps, request: ApiRequest): Promise<Answer> => {
  const row = await liveRow(deps, request)
  const wish = toPatch({ spec: creditWish }, request.body) as CreditWish
  refuseFaults(creditFaults(wish).map((fault) => ({ ...fault, pointer: restPointer(fault.pointer) })))
  const { amountCents, items, reason = '', refund = false } = wish
  const id = nameFor('cn', request)
  const body = { amountCents: amountCents ?? null, items: items ?? null, reason, refund }
  const invoice = await reportOn(deps, request, row, { key: creditKey(id), kind: 'credit', body })
  if (!invoice) return undecided(row)
  const note = invoice.credit_notes.find((one) => one.id === id)
  return { status: 201, body: { credit_note: note, invoice } }
}
