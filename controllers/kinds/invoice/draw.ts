/** Drawing a document of an invoice, on the turn of its account; a try that came to nothing is recorded. */
import { INVOICE } from '../../../crds/invoice/kind.ts'
import type { Frozen, FrozenDraft } from '../../../crds/invoice/order/frozen.ts'
import { digestOf, failedKey, failuresOf, undrawnFact, undrawnOf } from '../../../crds/invoice/planning/undrawn.ts'
import type { InvoiceResource } from '../../../crds/invoice/schema.ts'
import { Waiting } from '../../base/errors.ts'
import { TooDear } from '../../base/threads/pool.ts'
import { Undrawable } from '../../io/pdf/renderer.ts'
import type { InvoiceDeps } from './deps.ts'

const AGAIN_MS = 1_000

type Drawing = Pick<InvoiceDeps, 'pdf' | 'ahead' | 'ledger' | 'now' | 'suspects' | 'putOffDrawing' | 'log'>
type Drawn = Pick<InvoiceResource, 'metadata' | 'spec'>

/** It needs more than it may take. @returns what the status says until the plan speaks */
const recordTooDear = async (deps: Drawing, { metadata }: Drawn, digest: string, needs: string): Promise<Waiting> => {
  const { facts } = await deps.ledger.observe(metadata.name)
  const tries = undrawnOf(facts).filter((one) => one.digest === digest && 'needs' in one)
  await deps.ledger.appendFact(undrawnFact(metadata.name, { digest, needs }, tries.length + 1, deps.now()))
  return new Waiting('NotDrawn', `the document needs ${needs}`, AGAIN_MS)
}

/** It cannot be drawn, for another reason. @returns what the status says until the plan speaks */
const recordFailed = async (
  deps: Drawing,
  { metadata, spec }: Drawn,
  digest: string,
  how: string,
): Promise<Waiting> => {
  const { facts } = await deps.ledger.observe(metadata.name)
  const { tries, since, most } = failuresOf(undrawnOf(facts), digest)
  await deps.putOffDrawing({
    kind: INVOICE.kind,
    resource: metadata.name,
    account: spec.account,
    subject: digest,
    key: failedKey(digest, tries + 1),
    reason: how,
    tries: tries + 1,
    isLast: since + 1 >= most,
    at: deps.now().toISOString(),
  })
  return new Waiting('NotDrawn', `the document could not be drawn: ${how}`, AGAIN_MS)
}

/** @throws Waiting while it is not the turn of its account, and after a try that is counted: the plan knows when to stop */
export const drawn = async (
  deps: Drawing,
  object: Drawn,
  frozen: Frozen | FrozenDraft,
  signal: AbortSignal,
): Promise<Buffer> => {
  const { name } = object.metadata
  const { account } = object.spec
  try {
    const ahead = deps.ahead.take(name, frozen)
    const bytes = await (ahead ?? deps.pdf.render(frozen, { account, signal, isSuspect: deps.suspects.has(name) }))
    deps.suspects.delete(name)
    return bytes
  } catch (error) {
    if (error instanceof TooDear) throw await recordTooDear(deps, object, digestOf(frozen), error.needs)
    if (!(error instanceof Undrawable)) throw error
    deps.log.warn({ err: error, resource: name }, 'a document could not be drawn')
    deps.suspects.add(name)
    throw await recordFailed(deps, object, digestOf(frozen), error.how)
  }
}
