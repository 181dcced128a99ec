/** Sending (a draft, or again) and voiding: desires, except that a repeat of a send is an event and so a fact. */
import { randomBytes } from 'node:crypto'
import type { MirrorRow } from '../../../controllers/store/mirror.ts'
import { nextTurn } from '../../../crds/account/quotas.ts'
import { sendKey } from '../../../crds/invoice/facts/records.ts'
import type { ShownInvoice } from '../../../crds/invoice/rest/shown.ts'
import type { InvoiceView } from '../../../crds/invoice/view.ts'
import { accepted, refuseStalled } from '../../command/verdict.ts'
import { Problem } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import type { Deps } from '../../wiring/deps.ts'
import { changeInvoice } from '../change.ts'
import { liveRow, reportOn, undecided } from '../money/money.ts'
import { underSendCap } from './send-cap.ts'

/** What is shown of a send: the link, and the password of this send where it opens the page. */
const sentAnswer = (deps: Deps, invoice: InvoiceView): Answer => {
  const hasPassword = invoice.gate === 'password' && invoice.send_count > 0
  return {
    status: 200,
    body: {
      number: invoice.number,
      url: invoice.url,
      ...(hasPassword && { password: deps.keys.password(invoice.id, invoice.send_count) }),
      ...(invoice.would_email && { would_email: invoice.would_email }),
      invoice,
    },
  }
}

const sendDraft = async (deps: Deps, request: ApiRequest, row: MirrorRow<ShownInvoice>): Promise<Answer> => {
  const send = () => changeInvoice(deps, request, row, () => ({ send: true }))
  const found = row.view.test ? await send() : await underSendCap(deps, request, row.name, send)
  return found ? sentAnswer(deps, found.view) : undecided(row)
}

const withRetryAfter = (deps: Deps, error: unknown): unknown => {
  if (!(error instanceof Problem) || (error.code !== 'SEND_CAP' && error.code !== 'RECIPIENT_CAP')) return error
  const now = deps.now()
  const seconds = Math.max(1, Math.ceil((Date.parse(nextTurn(now)) - now.getTime()) / 1000))
  return new Problem(error.code, error.message, { headers: { 'retry-after': String(seconds) } })
}

/** A new snapshot, a new mail, a new password. */
const sendAgain = async (deps: Deps, request: ApiRequest, row: MirrorRow<ShownInvoice>): Promise<Answer> => {
  const key = sendKey(request.idempotencyKey ?? randomBytes(16).toString('hex'))
  const invoice = await reportOn(deps, request, row, { key, kind: 'send', body: {} }).catch((error: unknown) => {
    throw withRetryAfter(deps, error)
  })
  return invoice ? sentAnswer(deps, invoice) : undecided(row)
}

export const sendInvoice = async (deps: Deps, request: ApiRequest): Promise<Answer> => {
  const row = await liveRow(deps, request)
  const view = row.view
  if (view.send_count === 0) return sendDraft(deps, request, row)
  if (view.status !== 'voided') refuseStalled(row)
  return sendAgain(deps, request, row)
}

/** Once true it stays; a repeat finds it so. */
export const voidInvoice = async (deps: Deps, request: ApiRequest): Promise<Answer> => {
  const row = await liveRow(deps, request)
  const { number } = row.view
  if (number === null) throw new Problem('NOT_NUMBERED', `${row.name} is a draft: there is no number to keep.`)
  const found = await changeInvoice(deps, request, row, (spec) => (spec.void ? null : { void: true }))
  if (!found) return accepted(`/api/invoices/${row.name}`, { invoice: row.view })
  return { status: 200, body: { invoice: found.view } }
}
