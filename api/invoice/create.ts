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
import { accepted, refuseStalled, wantsAsync } from '../command/verdict.ts'
import { Problem, refuseFaults, unavailable } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import type { Deps } from '../wiring/deps.ts'
import { collecting } from './cards/rails.ts'
import { assertIssuer } from './issuers/issuers.ts'
import { underSendCap } from './send/send-cap.ts'

/**
 * What POST answers beside the invoice (rules/invoice.md#what-a-create-answers). The password can be derived again, so a
 * replay shows it too.
 */
const answerOf = (deps: Deps, row: MirrorRow<ShownInvoice>, replay: boolean): Answer => {
  const view = row.view
  const hasPassword = view.gate === 'password' && view.send_count > 0
  return {
    status: replay ? 200 : 201,
    headers: { location: locationOf(view.id) },
    body: {
      number: view.number,
      url: view.url,
      ...(hasPassword && { password: deps.keys.password(view.id, view.send_count) }),
      ...(replay && { idempotent_replay: true }),
      ...(view.would_email && { would_email: view.would_email }),
      invoice: view,
    },
  }
}

/** The fields in which a repeat asks for something else than the first call did. */
export const mismatches = (spec: InvoiceSpec, row: MirrorRow<ShownInvoice>): Fault[] => {
  const asked = viewPayload(payloadOf(spec, spec.issuerId ?? DEFAULT_ISSUER))
  const made = row.view.created_from
  const fields = (Object.keys(asked) as (keyof PayloadView)[]).filter((field) => asked[field] !== made?.[field])
  return fields.map((field) => ({
    code: 'REF_PAYLOAD_MISMATCH',
    pointer: `/${field}`,
    detail: `was ${JSON.stringify(made?.[field])}, is now ${JSON.stringify(asked[field])}`,
  }))
}

/** Answers a repeat with what the first call made, or refuses when the two ask for different things. */
const replay = (deps: Deps, spec: InvoiceSpec, row: MirrorRow<ShownInvoice>): Answer => {
  const { id } = row.view
  const faults = mismatches(spec, row)
  const fields = faults.map(({ pointer }) => pointer.slice(1)).join(', ')
  if (faults.length > 0 && spec.externalRef === undefined) {
    throw new Problem('IDEMPOTENCY_MISMATCH', `The key was used for ${id} with another ${fields}.`)
  }
  if (faults.length > 0) {
    const detail = `The reference ${spec.externalRef} was used for ${id} with another ${fields}.`
    throw new Problem('REF_PAYLOAD_MISMATCH', detail, { faults })
  }
  refuseStalled(row)
  return answerOf(deps, row, true)
}

/** True once something final can be said about what was asked: the controllers have, or it is not what stands there. */
const settled = (row: MirrorRow<ShownInvoice> | undefined, spec: InvoiceSpec): row is MirrorRow<ShownInvoice> => {
  if (row === undefined || row.observedGeneration === 0) return false
  const view = row.view
  const isOther = view.created_from !== null && mismatches(spec, row).length > 0
  return view.stalled !== null || !spec.send || view.send_count > 0 || isOther
}

/** The invoice of a reference, whatever it is called: one that came by kubectl has a name of its own. */
export const knownBy = async (
  deps: Deps,
  account: string,
  externalRef: string,
): Promise<MirrorRow<ShownInvoice> | undefined> => {
  const page = { limit: 1, offset: 0 }
  return (await deps.mirror.list({ kind: INVOICE, account }, { externalRef }, page)).rows[0]
}

const locationOf = (name: string): string => `/api/invoices/${name}`

const create = async (deps: Deps, name: string, spec: InvoiceSpec): Promise<Made<InvoiceSpec>> => {
  const asked = viewPayload(payloadOf(spec, spec.issuerId ?? DEFAULT_ISSUER))
  try {
    return await makeOwn(deps, INVOICE, { name, spec, annotations: { [CREATED_FROM]: JSON.stringify(asked) } })
  } catch (error) {
    if (!isPlaneAway(error)) throw error
    throw unavailable('The control plane cannot be reached', 'unknown', { location: locationOf(name) })
  }
}

const pendingAt = (name: string): Answer => accepted(locationOf(name), { invoice: { id: name } })

type Pending = { made: InvoiceResource | null; whose: Whose }

/** 202, with what was asked in the next GET and the next list. What is gone meanwhile is not shown. */
const pending = async (deps: Deps, name: string, { made, whose }: Pending): Promise<Answer> => {
  try {
    const object = made ?? (await readOwn<InvoiceResource>(deps, { kind: INVOICE, name, whose }))
    const view = askedInvoice(object)
    await deps.show(rowOf(object, { kind: INVOICE, account: object.spec.account, view }))
  } catch (error) {
    // it is stored all the same, and the first verdict shows it
    if (!(error instanceof KubeError) && !isAway(error)) throw error
  }
  return pendingAt(name)
}

/** @throws NameHeld where another account's invoice stands under the name */
const make = async (deps: Deps, request: ApiRequest, name: string, spec: InvoiceSpec): Promise<Answer> => {
  const whose = { account: spec.account }
  const watched = deps.waiter.watch(INVOICE, name, whose)
  const work = async (): Promise<Answer> => {
    const { object, outcome } = await create(deps, name, spec)
    if (wantsAsync(request)) return pending(deps, name, { made: object, whose })
    const found = await watched.until((row) => settled(row, spec))
    if (!found?.row) return pending(deps, name, { made: null, whose })
    if (outcome === 'stood there') return replay(deps, spec, found.row)
    refuseStalled(found.row)
    return answerOf(deps, found.row, false)
  }
  try {
    return spec.send && !spec.test ? await underSendCap(deps, request, name, work) : await work()
  } finally {
    watched.leave()
  }
}

/** What is on its way under the reference is waited for, whatever it is called: no second one is made beside it. */
const join = async (
  deps: Deps,
  request: ApiRequest,
  known: MirrorRow<ShownInvoice>,
  spec: InvoiceSpec,
): Promise<Answer> => {
  const { name } = known
  const done = (row: MirrorRow<ShownInvoice> | undefined) => settled(row, spec)
  if (done(known)) return replay(deps, spec, known)
  if (wantsAsync(request)) return pendingAt(name)
  const watched = deps.waiter.watch(INVOICE, name, sameOwner(known))
  try {
    const found = await watched.until(done)
    return found?.row ? replay(deps, spec, found.row) : pendingAt(name)
  } finally {
    watched.leave()
  }
}

export const createInvoice = async (deps: Deps, request: ApiRequest): Promise<Answer> => {
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
