/** Drawing a document of an invoice, on the turn of its account; a try that came to nothing is recorded. */
import type { Frozen, FrozenDraft } from '../../../crds/invoice/order/frozen.ts'
import { digestOf, undrawnFact, undrawnOf } from '../../../crds/invoice/planning/undrawn.ts'
import type { InvoiceResource } from '../../../crds/invoice/schema.ts'
import { Waiting } from '../../base/errors.ts'
import { TooDear } from '../../base/threads/pool.ts'
import type { InvoiceDeps } from './deps.ts'

const AGAIN_MS = 1_000

/** @throws Waiting while it is not the turn of its account, and after a try that is counted: the plan knows when to stop */
export const drawn = async (
  deps: Pick<InvoiceDeps, 'pdf' | 'ahead' | 'ledger' | 'now'>,
  { metadata, spec }: Pick<InvoiceResource, 'metadata' | 'spec'>,
  frozen: Frozen | FrozenDraft,
  signal: AbortSignal,
): Promise<Buffer> => {
  try {
    const ahead = deps.ahead.take(metadata.name, frozen)
    return await (ahead ?? deps.pdf.render(frozen, { account: spec.account, signal }))
  } catch (error) {
    if (!(error instanceof TooDear)) throw error
    const digest = digestOf(frozen)
    const { facts } = await deps.ledger.observe(metadata.name)
    const n = undrawnOf(facts).filter((one) => one.digest === digest).length + 1
    await deps.ledger.appendFact(undrawnFact(metadata.name, { digest, needs: error.needs }, n, deps.now()))
    throw new Waiting('NotDrawn', `the document needs ${error.needs}`, AGAIN_MS)
  }
}
