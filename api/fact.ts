/**
 * Reporting something that the controllers decide on: append the pending fact, wake the resource, wait with a bound for the
 * verdict (DESIGN section 1). The key makes a repeat the same report.
 */
import { isNotFound } from '../controllers/runtime/errors.ts'
import type { FactRow, NewFact } from '../controllers/runtime/facts.ts'
import type { KindRef } from '../controllers/runtime/kube.ts'
import type { MirrorRow } from '../controllers/runtime/mirror.ts'
import { isProblemCode } from '../crds/problem.ts'
import type { Deps } from './deps.ts'
import { Problem } from './problem.ts'
import { WAIT_MS, type Watched } from './wait.ts'

type Reporting = Pick<Deps, 'wake' | 'mirror' | 'ledger' | 'waiter' | 'appendFact' | 'now'>
type Reported = {
  kind: KindRef
  name: string
  fact: Pick<NewFact, 'key' | 'kind' | 'body'>
  /** Once the fact stands: the caller does not want to wait. */
  isAsync: boolean
  /** Makes the resource anew where it has left the cluster; without it such a one is NOT_FOUND. */
  bringBack?: () => Promise<unknown>
  /** What is reported is decided in a pass to come, when something outside has answered. */
  isPatient?: true
}
/** The row that has taken an accepted fact in, with what was decided, and all that was on record then. */
export type Decided = { row: MirrorRow; fact: FactRow; facts: FactRow[] }

const wake = (deps: Reporting, { kind, name, bringBack }: Reported): Promise<unknown> =>
  deps.wake(kind, name).catch((error: unknown) => {
    if (!isNotFound(error)) throw error
    // It left just now. Whoever looks at the new one finds the fact.
    if (bringBack) return bringBack()
    throw new Problem('NOT_FOUND', `${name} was deleted; what was asked is decided when it is applied again.`)
  })

/** How a fact stands; a patient caller looks again whenever the resource changed, until the time is up. */
const decisionOn = async ({ ledger }: Reporting, { name, isPatient }: Reported, watched: Watched, seq: number) => {
  const untilMs = performance.now() + WAIT_MS
  for (;;) {
    const { facts } = await ledger.observe(name)
    const decided = facts.find((fact) => fact.seq === seq)
    const leftMs = untilMs - performance.now()
    if (decided?.state !== 'pending' || !isPatient || leftMs <= 0) return { decided, facts }
    await watched.until(() => true, leftMs)
  }
}

/**
 * @returns the row that has taken the accepted fact in; null when it is still undecided
 * @throws Problem with the code and the words of the refusal
 */
export const report = async (deps: Reporting, reported: Reported): Promise<MirrorRow | null> =>
  (await reportAndSee(deps, reported))?.row ?? null

/** As `report`, with what was decided. */
export const reportAndSee = async (deps: Reporting, reported: Reported): Promise<Decided | null> => {
  const { kind, name } = reported
  const watched = deps.waiter.watch(kind.kind, name)
  try {
    const at = deps.now().toISOString()
    const { fact } = await deps.appendFact({ ...reported.fact, resource: name, state: 'pending', at })
    await wake(deps, reported)
    if (reported.isAsync) return null
    const isTaken = (row: MirrorRow | undefined) =>
      row === undefined || Number((row.view as { fact_seq?: number }).fact_seq ?? 0) >= fact.seq
    const now = await deps.mirror.get(kind.kind, name)
    const found = isTaken(now) ? { row: now } : await watched.until(isTaken)
    if (!found?.row) return null
    const { decided, facts } = await decisionOn(deps, reported, watched, fact.seq)
    if (decided?.state === 'accepted') return { row: found.row, fact: decided, facts }
    if (decided?.state !== 'refused') return null
    const code = decided.refusedCode ?? ''
    const detail = decided.outcome?.detail
    throw new Problem(
      isProblemCode(code) ? code : 'INTERNAL',
      typeof detail === 'string' ? `${detail}.` : 'It was refused.',
    )
  } finally {
    watched.leave()
  }
}
