/** Sending (a draft, or again) and voiding: desires, except that a repeat of a send is an event and so a fact. */
import { randomBytes } from 'node:crypto'
import type { MirrorRow } from '../../../controllers/store/mirror.ts'
import { sendKey } from '../../../crds/invoice/facts/records.ts'
import type { ShownInvoice } from '../../../crds/invoice/rest/shown.ts'
import type { InvoiceSpec } from '../../../crds/invoice/schema.ts'
import { refuseStalled } from '../../command/verdict.ts'
import { Problem } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { changeInvoice } from '../change.ts'
import { sendAgainCommand, sendCommand, voidCommand } from '../commands.ts'
import { liveRow, reportOn } from '../money/money.ts'
import type { InvoiceNeeds } from '../needs.ts'
import { underSendCap } from './send-cap.ts'

const sendDraft = (deps: InvoiceNeeds, request: ApiRequest, row: MirrorRow<ShownInvoice>): Promise<Answer> => {
  const send = (reserved: boolean) =>
    changeInvoice(deps, request, row, { command: sendCommand, reserved, of: () => ({ send: true }) })
  return row.view.test ? send(false) : underSendCap(deps, request, row.name, send)
}

/** A new snapshot, a new mail, a new password. */
const sendAgain = (deps: InvoiceNeeds, request: ApiRequest, row: MirrorRow<ShownInvoice>): Promise<Answer> => {
  const key = sendKey(request.idempotencyKey ?? randomBytes(16).toString('hex'))
  return reportOn(deps, request, row, { command: sendAgainCommand, fact: { key, kind: 'send', body: {} } })
}

export const sendInvoice = async (deps: InvoiceNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await liveRow(deps, request)
  const view = row.view
  if (view.send_count === 0) return sendDraft(deps, request, row)
  if (view.status !== 'voided') refuseStalled(row)
  return sendAgain(deps, request, row)
}

/** Once true it stays; a repeat finds it so. */
export const voidInvoice = async (deps: InvoiceNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await liveRow(deps, request)
  const { number } = row.view
  if (number === null) throw new Problem('NOT_NUMBERED', `${row.name} is a draft: there is no number to keep.`)
  const of = (spec: InvoiceSpec) => (spec.void ? null : { void: true })
  return changeInvoice(deps, request, row, { command: voidCommand, of })
}
