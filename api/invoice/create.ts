/**
 * POST /api/invoices: check, write the desire, wait for the controllers' verdict, answer with the view.
 * A repeat of an external_ref is a read: the name derives from account and reference, so the API server itself makes
 * the second create an AlreadyExists (spec/1 Invoice; DESIGN sections 2 and 5).
 */
import { isAlreadyExists } from '../../controllers/runtime/errors.ts'
import type { MirrorRow } from '../../controllers/runtime/mirror.ts'
import { collectFaults } from '../../crds/invoice/collect.ts'
import { faultsOf } from '../../crds/invoice/faults.ts'
import { INVOICE } from '../../crds/invoice/kind.ts'
import { type PayloadView, payloadOf, viewPayload } from '../../crds/invoice/payload.ts'
import { DEFAULT_ISSUER, type InvoiceSpec } from '../../crds/invoice/schema.ts'
import type { ShownInvoice } from '../../crds/invoice/shown.ts'
import { CREATED_FROM, GROUP, VERSION } from '../../crds/object.ts'
import type { Fault } from '../../crds/problem.ts'
import { restPointer, toSpec } from '../../crds/rest.ts'
import type { Deps } from '../deps.ts'
import { nameFor } from '../name.ts'
import { Problem, refuseFaults } from '../problem.ts'
import type { Answer, ApiRequest } from '../route.ts'
import { accepted, refuseStalled, wantsAsync } from '../verdict.ts'
import { refuseStranger } from './issuers.ts'
import { collecting } from './rails.ts'
import { underSendCap } from './send-cap.ts'

/** What POST answers beside the invoice (spec/1 Create response). The password can be derived again, so a replay shows it too. */
const answerOf = (deps: Deps, row: MirrorRow, replay: boolean): Answer => {
  const view = row.view as ShownInvoice
  const hasPassword = view.gate === 'password' && view.send_count > 0
  return {
    status: replay ? 200 : 201,
    headers: { location: `/api/invoices/${view.id}` },
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
export const mismatches = (spec: InvoiceSpec, row: MirrorRow): Fault[] => {
  const asked = viewPayload(payloadOf(spec, spec.issuerId ?? DEFAULT_ISSUER))
  const made = (row.view as ShownInvoice).created_from
  const fields = (Object.keys(asked) as (keyof PayloadView)[]).filter((field) => asked[field] !== made?.[field])
  return fields.map((field) => ({
    code: 'REF_PAYLOAD_MISMATCH',
    pointer: `/${field}`,
    detail: `was ${JSON.stringify(made?.[field])}, is now ${JSON.stringify(asked[field])}`,
  }))
}

/** Answers a repeat with what the first call made, or refuses when the two ask for different things. */
const replay = (deps: Deps, spec: InvoiceSpec, row: MirrorRow): Answer => {
  const { id } = row.view as ShownInvoice
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

/** True once the controllers have said something final about what was asked. */
const settled = (row: MirrorRow | undefined, wantsNumber: boolean): row is MirrorRow => {
  const view = row?.view as ShownInvoice | undefined
  return view !== undefined && (view.stalled !== null || !wantsNumber || view.send_count > 0)
}

/** The invoice of a reference, whatever it is called: one that came by kubectl has a name of its own. */
export const knownBy = async (deps: Deps, account: string, externalRef: string): Promise<MirrorRow | undefined> => {
  const page = { limit: 1, offset: 0 }
  return (await deps.mirror.list({ kind: 'Invoice', account }, { externalRef }, page)).rows[0]
}

const create = async (deps: Deps, name: string, spec: InvoiceSpec): Promise<'made' | 'stood there'> => {
  const asked = viewPayload(payloadOf(spec, spec.issuerId ?? DEFAULT_ISSUER))
  const annotations = { [CREATED_FROM]: JSON.stringify(asked) }
  const metadata = { name, namespace: deps.namespace, annotations }
  try {
    await deps.kube.create(INVOICE, { apiVersion: `${GROUP}/${VERSION}`, kind: INVOICE.kind, metadata, spec })
    return 'made'
  } catch (error) {
    if (isAlreadyExists(error)) return 'stood there'
    throw error
  }
}

export const createInvoice = async (deps: Deps, request: ApiRequest): Promise<Answer> => {
  const { account } = request.caller
  const spec = toSpec<InvoiceSpec>(INVOICE, request.body, { account })
  const faults = [...faultsOf(spec), ...collectFaults(spec, collecting(deps, request))]
  refuseFaults(faults.map((fault) => ({ ...fault, pointer: restPointer(fault.pointer) })))
  const ref = spec.externalRef
  const name = nameFor('inv', request, ref)
  const location = `/api/invoices/${name}`
  const done = (row: MirrorRow | undefined) => settled(row, spec.send)
  const watched = deps.waiter.watch('Invoice', name)
  try {
    const known = ref === undefined ? undefined : await knownBy(deps, account, ref)
    if (done(known)) return replay(deps, spec, known as MirrorRow)
    await refuseStranger(deps, account, spec.issuerId)
    const make = async (): Promise<Answer> => {
      const outcome = await create(deps, name, spec)
      if (wantsAsync(request)) return accepted(location, { invoice: { id: name } })
      const found = await watched.until(done)
      if (!found?.row) return accepted(location, { invoice: { id: name } })
      if (outcome === 'stood there') return replay(deps, spec, found.row)
      refuseStalled(found.row)
      return answerOf(deps, found.row, false)
    }
    return spec.send && !spec.test ? await underSendCap(deps, request, name, make) : await make()
  } finally {
    watched.leave()
  }
}
