/** PATCH and DELETE of an invoice: a change of desire, guarded by what the ledger has made of it already. */

import { isNotFound } from '../../controllers/base/errors.ts'
import type { MirrorRow } from '../../controllers/store/mirror.ts'
import { sizeFaults, specCost } from '../../crds/invoice/document/drawcost.ts'
import { INVOICE } from '../../crds/invoice/kind.ts'
import { collectFaults, faultsAround } from '../../crds/invoice/money/collect.ts'
import { TIMING } from '../../crds/invoice/order/timing.ts'
import type { ShownInvoice } from '../../crds/invoice/rest/shown.ts'
import { type InvoiceSpec, spec as specSchema } from '../../crds/invoice/schema.ts'
import type { InvoiceView } from '../../crds/invoice/view.ts'
import { fixedFaults, restPointer, toPatch } from '../../crds/kernel/rest.ts'
import { withDefaults } from '../../crds/kernel/schema.ts'
import { mergePatch } from '../../crds/values/merge.ts'
import { generationGoal } from '../command/command.ts'
import { editSpec } from '../command/edit.ts'
import { sameOwner } from '../command/own.ts'
import { removeOwn } from '../command/remove.ts'
import { settle } from '../command/settle.ts'
import { Problem, refuseFaults } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import { collecting } from './cards/rails.ts'
import { type ChangeCommand, changeCommand, deleteCommand } from './commands.ts'
import { assertIssuer } from './issuers/issuers.ts'
import { liveRow } from './money/money.ts'
import { bringBack } from './money/restore.ts'
import type { InvoiceNeeds } from './needs.ts'
import { commandOn, ownRow } from './read.ts'
import { underSendCap } from './send/send-cap.ts'

/** Nothing of what is asked stands on the document. */
const isTiming = (body: unknown): boolean =>
  Object.keys(body as object).every((field) => (TIMING as readonly string[]).includes(field))

/** Money that was received locks the document (rules/invoice.md#locked). */
const refuseLocked = (view: InvoiceView): void => {
  if (view.status === 'voided') throw new Problem('LOCKED_VOID', `${view.number} is voided.`)
  if (view.status === 'paid') throw new Problem('LOCKED_PAID', `${view.number} is paid.`)
  if (view.paid_cents > 0) throw new Problem('LOCKED_PARTIAL', `${view.number} is partly paid.`)
  if (view.credited_cents > 0) throw new Problem('LOCKED_PARTIAL', `${view.number} is partly credited.`)
}

const merged = (spec: InvoiceSpec, change: Record<string, unknown>): InvoiceSpec =>
  withDefaults(specSchema, mergePatch(spec, change))

/** A change that leaves the document as it was is not held against its size: it may be what ends it. */
const sizeChanges = (before: InvoiceSpec, after: InvoiceSpec): boolean =>
  (after.send && !before.send) || specCost(after).units !== specCost(before).units

const refuseChange = (before: InvoiceSpec, after: InvoiceSpec, around: ReturnType<typeof collecting>): void => {
  // what could not be collected before is not this change's fault
  const uncollectable = collectFaults(before, around).length > 0 ? [] : collectFaults(after, around)
  const tooLarge = sizeChanges(before, after) ? sizeFaults(after) : []
  const fixed = fixedFaults(specSchema, before, after)
  const faults = [...fixed, ...faultsAround(after, around), ...tooLarge, ...uncollectable]
  refuseFaults(faults.map((fault) => ({ ...fault, pointer: restPointer(fault.pointer) })))
}

/** A draft that this very change sends. */
const sendsNow = (view: InvoiceView, body: unknown): boolean =>
  view.number === null && !view.test && (body as { send?: unknown }).send === true

type ChangeAsked = {
  command: ChangeCommand
  reserved?: boolean
  of(spec: InvoiceSpec): Record<string, unknown> | null
}

/**
 * Writes what `of` gives for the spec as it stands (null: nothing), and answers with the controllers' verdict.
 * @param asked.reserved this request took the place of a send @throws Problem when refused
 */
export const changeInvoice = async (
  deps: InvoiceNeeds,
  request: ApiRequest,
  row: MirrorRow<ShownInvoice>,
  { command, reserved = false, of }: ChangeAsked,
): Promise<Answer> => {
  const { name } = row
  const edit = () =>
    editSpec<InvoiceSpec>(deps, { kind: INVOICE, name, whose: sameOwner(row) }, (spec) => {
      const change = of(spec)
      if (change) refuseChange(spec, merged(spec, change), collecting(deps, request))
      return change
    })
  return settle(deps, request, command, {
    ...commandOn(row),
    async act() {
      const { metadata } = await edit().catch(async (error: unknown) => {
        // a numbered one left the cluster just now
        if (!isNotFound(error) || row.view.number === null) throw error
        await bringBack(deps, row)
        return edit()
      })
      return { ...generationGoal(metadata), reserved }
    },
  })
}

export const patchInvoice = async (deps: InvoiceNeeds, request: ApiRequest): Promise<Answer> => {
  const seen = (await ownRow(deps, request)).view
  if (seen.status === 'voided' || !isTiming(request.body)) refuseLocked(seen)
  const row = await liveRow(deps, request)
  const view = row.view
  const { issuer_id } = request.body as { issuer_id?: string | null }
  if (issuer_id !== view.issuer_id) await assertIssuer(deps, row.account, issuer_id ?? undefined)
  const change = (reserved: boolean) =>
    changeInvoice(deps, request, row, {
      command: changeCommand,
      reserved,
      of: () => toPatch(INVOICE, request.body),
    })
  return sendsNow(view, request.body) ? underSendCap(deps, request, row.name, change) : change(false)
}

export const deleteInvoice = async (deps: InvoiceNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await ownRow(deps, request)
  const view = row.view
  if (view.number !== null && !view.test) throw new Problem('LOCKED_NUMBERED', `${view.number} is in the register.`)
  if (row.observedGeneration === 0 && !view.test && (await deps.ledger.observe(row.name)).record !== null) {
    // it is shown as it was asked for, and has its number already
    throw new Problem('LOCKED_NUMBERED', `${row.name} is in the register.`)
  }
  const { name, uid } = row
  return settle(deps, request, deleteCommand, {
    ...commandOn(row),
    async act() {
      await removeOwn(deps, INVOICE, { name, uid })
      return { uid }
    },
  })
}
