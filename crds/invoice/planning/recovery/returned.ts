/** A number is on record under this name for another resource, which has been deleted since. */

import { belongsTo } from '../../../kernel/fields.ts'
import { stalled, waiting } from '../../../kernel/plan.ts'
import type { ProblemCode } from '../../../kernel/problem.ts'
import { NOTHING_COLLECTED } from '../../facts/collected.ts'
import { type InvoiceRecord, newestSend } from '../../facts/ledger.ts'
import { faultsOf } from '../../faults.ts'
import { issuerIdOf } from '../../order/order.ts'
import { payloadDiff, payloadOf, payloadOfFrozen } from '../../order/payload.ts'
import type { InvoiceResource, InvoiceSpec } from '../../schema.ts'
import { documentFacts } from '../../status.ts'
import type { InvoicePlan } from '../../steps.ts'
import type { InvoiceWorld } from '../../world.ts'

/** What a stranger under this name may be told of: nothing that is on record. */
const unknown = (world: InvoiceWorld): InvoiceWorld => ({
  ...world,
  record: null,
  sends: [],
  payments: [],
  credits: [],
  collected: NOTHING_COLLECTED,
  snapshots: [],
  order: null,
  unsent: null,
})

/** The same order is the same invoice again; another one gets no number and sees none. */
export const planReturned = (
  { spec, metadata }: InvoiceResource,
  world: InvoiceWorld,
  record: InvoiceRecord,
  now: Date,
): InvoicePlan => {
  const fault = faultsOf(spec)[0]
  const status = documentFacts(spec, unknown(world), now)
  const stop = (code: ProblemCode, detail: string): InvoicePlan => ({
    steps: [],
    status,
    verdict: stalled(code, `${code}: ${detail}`),
  })
  if (fault) return stop(fault.code, `${fault.pointer} ${fault.detail}`)
  if (isOthers(spec, record)) return stop('NAME_TAKEN', `the name ${metadata.name} is in use; take another`)
  const pointers = returnedDiff(spec, world, record)
  if (pointers.length > 0) {
    return stop('REF_PAYLOAD_MISMATCH', `${record.number} was made with another ${pointers.join(', ')}`)
  }
  const verdict = waiting('Adopting', `is ${record.number}`)
  return { steps: [{ do: 'adopt', uid: metadata.uid }], status, verdict }
}

/** A number stays with the account that it was given to, whoever writes under its name later. */
const isOthers = ({ account }: InvoiceSpec, { claimed }: InvoiceRecord): boolean =>
  claimed.account !== undefined && !belongsTo(claimed, account)

/** What differs from the order as claimed and, after an edit, as last frozen or fixed; empty when it is one of these. */
const returnedDiff = (spec: InvoiceSpec, world: InvoiceWorld, record: InvoiceRecord): string[] => {
  const asked = payloadOf(spec, issuerIdOf(spec, world))
  const last = newestSend(world.sends)
  const known = [
    record.claimed,
    ...(last ? [payloadOfFrozen(last.frozen, record.claimed.issuerId)] : []),
    ...(world.order ? [world.order] : []),
    ...(world.unsent?.edit ? [world.unsent.edit] : []),
  ]
  const diffs = known.map((payload) => payloadDiff(asked, payload))
  return diffs.some((diff) => diff.length === 0) ? [] : (diffs[0] ?? [])
}
