/** POST /api/invoices/preflight: every rule of create, and nothing done. Reads only (test/api/invoice/books.test.ts). */
import { limitOf, quotaDay, sendCapDetail } from '../../../crds/account/quotas.ts'
import { sizeFaults } from '../../../crds/invoice/document/drawcost.ts'
import { INVOICE } from '../../../crds/invoice/kind.ts'
import { collectFaults, faultsAround } from '../../../crds/invoice/money/collect.ts'
import { type Gate, gateOf } from '../../../crds/invoice/order/gate.ts'
import { issuerOf } from '../../../crds/invoice/order/issuer.ts'
import { preflightReminders, preflightTotals, preflightWarnings } from '../../../crds/invoice/rest/preflight.ts'
import { DEFAULT_ISSUER, type InvoiceSpec, spec as specSchema } from '../../../crds/invoice/schema.ts'
import type { Issuer } from '../../../crds/invoice/world.ts'
import type { Fault } from '../../../crds/kernel/problem.ts'
import { restPointer, restSchema, toSpec } from '../../../crds/kernel/rest.ts'
import { Problem } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { compileCheck } from '../../http/validate.ts'
import { collecting } from '../cards/rails.ts'
import { mismatches } from '../commands.ts'
import { askedOf, knownBy } from '../create.ts'
import { assertIssuer } from '../issuers/issuers.ts'
import type { BooksNeeds } from '../needs.ts'

export const preflightBody = restSchema(specSchema)
const shape = compileCheck(preflightBody)

/** What would be refused, as findings. */
const faultsFrom = async (work: Promise<void>): Promise<Fault[]> => {
  try {
    await work
    return []
  } catch (error) {
    if (error instanceof Problem) return error.faults
    throw error
  }
}

const issuerFor = async (deps: BooksNeeds, { caller }: ApiRequest, id = DEFAULT_ISSUER): Promise<Issuer | null> => {
  const row = await deps.issuers.get({ account: caller.account, id })
  return row && issuerOf(caller.profile, row)
}

const gateFor = async (deps: BooksNeeds, { clientEmail }: InvoiceSpec): Promise<Gate | null> =>
  clientEmail === undefined
    ? null
    : gateOf({ clientIsAccount: (await deps.accounts.byEmail(clientEmail)) !== undefined })

/** Whether a first send would still have a place today. */
const capFaults = async (deps: BooksNeeds, { caller }: ApiRequest, spec: InvoiceSpec): Promise<Fault[]> => {
  if (!spec.send || spec.test) return []
  const now = deps.now()
  const limit = limitOf('sends_per_day', caller.profile)
  if ((await deps.sendQuota.used(caller.account, quotaDay(now))) < limit) return []
  return [{ code: 'SEND_CAP', pointer: '/send', detail: `${sendCapDetail(caller.account, limit, now)}.` }]
}

type Earlier = { faults: Fault[]; replayOf: { id: string; number: string | null } | null }

/** What an earlier call under the same external_ref means for this one. */
const earlierOf = async (deps: BooksNeeds, { caller }: ApiRequest, spec: InvoiceSpec): Promise<Earlier> => {
  const row = spec.externalRef === undefined ? undefined : await knownBy(deps, caller.account, spec.externalRef)
  if (!row) return { faults: [], replayOf: null }
  const faults = mismatches(askedOf(spec), row)
  const { id, number, stalled } = row.view
  if (faults.length > 0 || stalled === null) return { faults, replayOf: faults.length > 0 ? null : { id, number } }
  return { faults: [{ code: stalled.code as Fault['code'], pointer: '', detail: stalled.detail }], replayOf: null }
}

/** The body has the shape of an invoice; its values may still break rules. */
const judge = async (deps: BooksNeeds, request: ApiRequest, spec: InvoiceSpec) => {
  const around = collecting(deps, request)
  const found = [...faultsAround(spec, around), ...collectFaults(spec, around), ...sizeFaults(spec)]
  const own = found.map((fault) => ({ ...fault, pointer: restPointer(fault.pointer) }))
  const totals = preflightTotals(spec)
  const earlier =
    totals === null || own.length > 0 ? { faults: [], replayOf: null } : await earlierOf(deps, request, spec)
  const isRepeat = earlier.faults.length > 0 || earlier.replayOf !== null
  const [noIssuer, cap, issuer, gate] = await Promise.all([
    isRepeat ? [] : faultsFrom(assertIssuer(deps, request.caller.account, spec.issuerId)),
    isRepeat ? [] : capFaults(deps, request, spec),
    issuerFor(deps, request, spec.issuerId),
    gateFor(deps, spec),
  ])
  const now = deps.now()
  const datesHold = !own.some(({ pointer }) => pointer === '/due_date')
  return {
    problems: [...own, ...earlier.faults, ...noIssuer, ...cap],
    totals,
    reminders: issuer && datesHold ? preflightReminders(spec, issuer, now) : [],
    gate,
    warnings: preflightWarnings(spec, issuer, now),
    replay_of: earlier.replayOf,
  }
}

const NOTHING = { totals: null, reminders: [], gate: null, warnings: [], replay_of: null }

export const preflight = async (deps: BooksNeeds, request: ApiRequest): Promise<Answer> => {
  const misshapen = shape(request.body)
  const found =
    misshapen.length > 0
      ? { problems: misshapen, ...NOTHING }
      : await judge(deps, request, toSpec<InvoiceSpec>(INVOICE, request.body, { account: request.caller.account }))
  return { status: 200, body: { ok: found.problems.length === 0, ...found } }
}
