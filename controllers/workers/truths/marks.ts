/**
 * While nobody leads by an older copy of the database: each resource that knows of more than it says so itself, for those who look at
 * resources with kubectl and at nothing else. Conditions alone are written, under the version that was looked at, by whoever holds
 * the lease; nothing of the resource is judged anew. The first pass of the next leader takes it back (hack/decisions/117).
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { INVOICE } from '../../../crds/invoice/kind.ts'
import { planBehind } from '../../../crds/invoice/planning/recovery/behind.ts'
import type { InvoiceResource } from '../../../crds/invoice/schema.ts'
import { type Condition, PAUSED } from '../../../crds/kernel/object.ts'
import { isConflict, isNotFound } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { Caches } from '../../kinds/held.ts'
import type { Kube } from '../../kube/kube.ts'
import { nextStatus, sameJson } from '../../runtime/status.ts'
import type { Looked } from './judgement.ts'

/** Writes under way at once. */
const AT_ONCE = 8
/** Writes after one look; the next look goes on. */
export const MARKS_MAX = 1_000
/** Resources that are compared in one turn of the event loop: some milliseconds. */
const LOOK_AT_ONCE = 500

export type MarksDeps = {
  kube: Pick<Kube, 'patchStatus'>
  caches: Pick<Caches, 'of'>
  now(): Date
  log: Log
}

type Disagreeing = Looked['behind'][number]
type Mark = { invoice: InvoiceResource; conditions: Condition[] }

/** The conditions as they are to stand; null where they do. A paused one keeps what was said of it, and is stalled beside. */
const conditionsOf = ({ invoice, detail }: Disagreeing, now: Date): Condition[] | null => {
  const { metadata, status: previous } = invoice
  const outcome = planBehind(invoice, detail).verdict
  const { conditions = [] } = nextStatus({ previous, generation: metadata.generation, outcome, now })
  const stands = previous?.conditions ?? []
  const isStalled = ({ type }: Condition) => type === 'Stalled'
  const wanted =
    metadata.annotations?.[PAUSED] === 'true'
      ? [...stands.filter((one) => !isStalled(one)), ...conditions.filter(isStalled)]
      : conditions
  return sameJson(stands, wanted) ? null : wanted
}

/** Those that do not say it yet, the first of them. */
const missing = async (behind: readonly Disagreeing[], now: Date, signal: AbortSignal): Promise<Mark[]> => {
  const found: Mark[] = []
  for (const [at, one] of behind.entries()) {
    const conditions = conditionsOf(one, now)
    if (conditions) found.push({ invoice: one.invoice, conditions })
    if (found.length >= MARKS_MAX) break
    if ((at + 1) % LOOK_AT_ONCE === 0) await nextTurn()
    signal.throwIfAborted()
  }
  return found
}

/**
 * @returns a function that has those say it that do not yet; what fails is made up for by the next look
 * @throws the signal's reason
 */
export const makeMarks =
  ({ kube, caches, now, log }: MarksDeps) =>
  async (behind: readonly Disagreeing[], signal: AbortSignal): Promise<void> => {
    const left = await missing(behind, now(), signal)
    let failure: unknown
    const write = async ({ invoice: { metadata }, conditions }: Mark): Promise<void> => {
      const { namespace = '', name, resourceVersion } = metadata
      try {
        const written = await kube.patchStatus<InvoiceResource>(
          INVOICE,
          { namespace, name },
          { conditions },
          { resourceVersion },
        )
        caches.of(INVOICE).put(written)
      } catch (error) {
        // another version: the next look sees it
        if (!isConflict(error) && !isNotFound(error)) failure = error
      }
    }
    const lane = async (): Promise<void> => {
      for (let one = left.shift(); one && failure === undefined; one = left.shift()) {
        signal.throwIfAborted()
        await write(one)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, lane))
    if (failure !== undefined) log.warn({ err: failure }, 'not all resources say yet that the database is behind')
  }
