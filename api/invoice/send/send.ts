/** Sending (a draft, or again) and voiding: desires, except that a repeat of a send is an event and so a fact. */
import { randomBytes } from 'node:crypto'
import type { MirrorRow } from '../../../controllers/store/mirror.ts'
import { sendKey } from '../../../crds/invoice/facts/records.ts'
import type { ShownInvoice } from '../../../crds/invoice/rest/shown.ts'
import type { InvoiceSpec } from '../../../crds/invoice/schema.ts'
import { operationPath } from '../../command/operation.ts'
import { accepted, refuseStalled } from '../../command/verdict.ts'
import { WAIT_MS } from '../../command/wait.ts'
import { Problem } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { changeInvoice } from '../change.ts'
import { sendAgainCommand, sendCommand, voidCommand } from '../commands.ts'
import { liveRow, onceOf, reportOn } from '../money/money.ts'
import type { InvoiceNeeds } from '../needs.ts'
import { underSendCap } from './send-cap.ts'

const sendDraft = (deps: InvoiceNeeds, request: ApiRequest, row: MirrorRow<ShownInvoice>): Promise<Answer> => {
  const send = (reserved: boolean) =>
    changeInvoice(deps, request, row, { command: sendCommand, reserved, of: () => ({ send: true }) })
  return row.view.test ? send(false) : underSendCap(deps, request, row.name, send)
}

/**
 * Who was answered 202 a moment ago, or left before there was an answer, and asks again without a key repeats a request whose
 * verdict stands elsewhere: it is shown where, and nothing is sent twice.
 */
const repeated = async (
  { operations, now }: InvoiceNeeds,
  { caller, url, route }: ApiRequest,
  row: MirrorRow<ShownInvoice>,
): Promise<Answer | null> => {
  const path = url.split('?', 1)[0] ?? url
  const since = new Date(now().getTime() - WAIT_MS).toISOString()
  const id = await operations.latest({ account: caller.account, method: route.method, path, since })
  if (id === null) return null
  return { ...accepted(operationPath(id), { operation_id: id, invoice: row.view, replayed: true }), operation: id }
}

/** A new snapshot, a new mail, a new password. */
const sendAgain = async (deps: InvoiceNeeds, request: ApiRequest, row: MirrorRow<ShownInvoice>): Promise<Answer> => {
  const { idempotencyKey } = request
  const before = idempotencyKey === undefined ? await repeated(deps, request, row) : null
  if (before) return before
  const key = sendKey(idempotencyKey ?? randomBytes(16).toString('hex'))
  const fact = { key, kind: 'send', body: {}, ...onceOf(request) }
  return reportOn(deps, request, row, { command: sendAgainCommand, fact })
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
