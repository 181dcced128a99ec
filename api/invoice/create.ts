/**
 * POST /api/invoices: check, write the desire, wait for the controllers' verdict, answer with the view.
 * A repeat of an external_ref is a read: the name derives from account and reference, so the API server itself makes
 * the second create an AlreadyExists (rules/invoice.md#one-invoice-a-reference).
 */

import { KubeError } from '../../controllers/base/errors.ts'
import { type MirrorRow, rowOf } from '../../controllers/store/mirror.ts'
import { isAway, isPlaneAway } from '../../controllers/store/pg/away.ts'
import { sizeFaults } from '../../crds/invoice/document/drawcost.ts'
import { INVOICE } from '../../crds/invoice/kind.ts'
import { collectFaults, faultsAround } from '../../crds/invoice/money/collect.ts'
import { type PayloadView, payloadOf, viewPayload } from '../../crds/invoice/order/payload.ts'
import { askedInvoice, type ShownInvoice } from '../../crds/invoice/rest/shown.ts'
import { DEFAULT_ISSUER, type InvoiceResource, type InvoiceSpec } from '../../crds/invoice/schema.ts'
import { CREATED_FROM } from '../../crds/kernel/object.ts'
import type { Fault } from '../../crds/kernel/problem.ts'
import { restPointer, toSpec } from '../../crds/kernel/rest.ts'
import { type Made, makeOwn, readOwn, underOwnName } from '../command/make.ts'
import { namesFor } from '../command/name.ts'
import { sameOwner, type Whose } from '../command/own.ts'
import { settle } from '../command/settle.ts'
import { wantsAsync } from '../command/verdict.ts'
import { refuseFaults, unavailable } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import type { Deps } from '../wiring/deps.ts'
import { collecting } from './cards/rails.ts'
import { createCommand, locationOf } from './commands.ts'
import { assertIssuer } from './issuers/issuers.ts'
import type { InvoiceNeeds } from './needs.ts'
import { underSendCap } from './send/send-cap.ts'

/** What was asked, as a repeat is held against it. */
export const askedOf = (spec: InvoiceSpec): PayloadView => viewPayload(payloadOf(spec, spec.issuerId ?? DEFAULT_ISSUER))

/** The invoice of a reference, whatever it is called: one that came by kubectl has a name of its own. */
export const knownBy = async (
  deps: Pick<Deps, 'mirror'>,
  account: string,
  externalRef: string,
): Promise<MirrorRow<ShownInvoice> | undefined> => {
  const page = { limit: 1, offset: 0 }
  return (await deps.mirror.list({ kind: INVOICE, account }, { externalRef }, page)).rows[0]
}

const create = async (deps: InvoiceNeeds, name: string, spec: InvoiceSpec): Promise<Made<InvoiceSpec>> => {
  try {
    return await makeOwn(deps, INVOICE, { name, spec, annotations: { [CREATED_FROM]: JSON.stringify(askedOf(spec)) } })
  } catch (error) {
    if (!isPlaneAway(error)) throw error
    throw unavailable('The control plane cannot be reached', { location: locationOf(name) })
  }
}

/** `made`: as it was written just now; what was waited for is read again. */
type Asked = { made: InvoiceResource | null; whose: Whose }

/** Puts what was asked into the next GET and the next list. What is gone meanwhile is not shown. */
const show = async (deps: InvoiceNeeds, name: string, { made, whose }: Asked): Promise<void> => {
  try {
    const object = made ?? (await readOwn<InvoiceResource>(deps, { kind: INVOICE, name, whose }))
    const view = askedInvoice(object)
    await deps.show(rowOf(object, { kind: INVOICE, account: object.spec.account, view }))
  } catch (error) {
    // it is stored all the same, and the first verdict shows it
    if (!(error instanceof KubeError) && !isAway(error)) throw error
  }
}

/** Of an invoice that has this name, or is to have it. */
const callOn = (name: string, whose: Whose, spec: InvoiceSpec) => ({
  name,
  whose,
  resource: locationOf(name),
  pending: { invoice: { id: name } },
  goal: { asked: askedOf(spec), send: spec.send, reference: spec.externalRef ?? null },
})

/** @throws NameHeld where another account's invoice stands under the name */
const make = async (deps: InvoiceNeeds, request: ApiRequest, name: string, spec: InvoiceSpec): Promise<Answer> => {
  const whose = { account: spec.account }
  const { goal, ...call } = callOn(name, whose, spec)
  const work = async (reserved: boolean): Promise<Answer> => {
    let made: InvoiceResource | null = null
    const answer = await settle(deps, request, createCommand, {
      ...call,
      async act() {
        const { object, outcome } = await create(deps, name, spec)
        made = wantsAsync(request) ? object : null
        return { ...goal, uid: object.metadata.uid, stoodThere: outcome === 'stood there', reserved }
      },
    })
    if (answer.status === 202) await show(deps, name, { made, whose })
    return answer
  }
  return spec.send && !spec.test ? underSendCap(deps, request, name, work) : work(false)
}

/** What is on its way under the reference is waited for, whatever it is called: no second one is made beside it. */
const join = (
  deps: InvoiceNeeds,
  request: ApiRequest,
  known: MirrorRow<ShownInvoice>,
  spec: InvoiceSpec,
): Promise<Answer> => {
  const { goal, ...call } = callOn(known.name, sameOwner(known), spec)
  const act = async () => ({ ...goal, uid: known.uid, stoodThere: true, reserved: false })
  return settle(deps, request, createCommand, { ...call, act })
}

export const createInvoice = async (deps: InvoiceNeeds, request: ApiRequest): Promise<Answer> => {
  const { account } = request.caller
  const spec = toSpec<InvoiceSpec>(INVOICE, request.body, { account })
  const around = collecting(deps, request)
  const refuse = (faults: Fault[]) =>
    refuseFaults(faults.map((fault) => ({ ...fault, pointer: restPointer(fault.pointer) })))
  refuse([...faultsAround(spec, around), ...collectFaults(spec, around)])
  const ref = spec.externalRef
  const known = ref === undefined ? undefined : await knownBy(deps, account, ref)
  if (known) return join(deps, request, known, spec)
  refuse(sizeFaults(spec))
  await assertIssuer(deps, account, spec.issuerId)
  return underOwnName(namesFor(deps.keys, 'inv', request, ref), (name) => make(deps, request, name, spec))
}
