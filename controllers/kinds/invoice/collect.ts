/** Card collection: what is asked of the processor, and whom a change of the account's rails concerns. */
import { RAIL } from '../../../crds/invoice/money/collect.ts'
import type { InvoiceResource } from '../../../crds/invoice/schema.ts'
import { keyOfAccount } from '../held.ts'
import type { FollowRule } from '../kind-controller.ts'
import { factOf, type InvoiceDeps, type InvoiceStepOf } from './deps.ts'

/** The fact and the row of the outbox; the payment worker makes the call. */
export const askProcessor = async (
  deps: InvoiceDeps,
  step: InvoiceStepOf<'askProcessor'>,
  { metadata, spec }: InvoiceResource,
) => {
  const { fact, messageId, ask } = step
  const at = deps.now().toISOString()
  await deps.requestCard({
    account: spec.account,
    fact: { ...fact, ...factOf(metadata), state: 'accepted', at },
    messageId,
    payload: ask,
  })
  deps.onQueued()
}

/** An invoice that was looked at under another setting of its account offers Pay now, or no more. */
export const followsRails: FollowRule<InvoiceResource> = {
  kind: 'Account',
  under: ({ spec }) => (spec.collect?.enabled === false ? null : spec.account),
  of: keyOfAccount,
  concerns: (changed, own) => {
    const { rails = [] } = changed.spec as { rails?: readonly string[] }
    return rails.includes(RAIL) !== (own.status?.collect === true)
  },
}
