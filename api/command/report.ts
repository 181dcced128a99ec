/**
 * Reporting something that the controllers decide on: append the pending fact, wake the resource, wait with a bound for the
 * verdict (rules/platform.md#facts). The key makes a repeat the same report.
 *
 * Once the fact stands nobody is told to send it again: where the control plane or the ledger is away after that, the verdict
 * is still to come (202), and whoever leads finds what is pending (controllers/workers/pending-facts.ts).
 */

import { isNotFound } from '../../controllers/base/errors.ts'
import type { KindRef } from '../../controllers/kube/kube.ts'
import type { FactRow, NewFact } from '../../controllers/store/ledger/facts.ts'
import type { MirrorRow } from '../../controllers/store/mirror.ts'
import { isAway, isPlaneAway } from '../../controllers/store/pg/away.ts'
import { isProblemCode } from '../../crds/kernel/problem.ts'
import { Problem, unavailable } from '../http/problem.ts'
import type { Deps } from '../wiring/deps.ts'
import type { Whose } from './own.ts'
import { WAIT_MS, type Watched } from './wait.ts'

type Reporting = Pick<Deps, 'wake' | 'mirror' | 'ledger' | 'waiter' | 'appendFact' | 'now'>
type Reported = {
  kind: KindRef
  name: string
  whose: Whose
  fact: Pick<NewFact, 'key' | 'kind' | 'body' | 'once'>
  /** Once the fact stands: the caller does not want to wait. */
  isAsync: boolean
  /** Makes the resource anew where it has left the cluster; without it such a one is NOT_FOUND. */
  bringBack?: () => Promise<unknown>
  /** What is reported is decided in a pass to come, when something outside has answered. */
  isPatient?: true
}
/** The row that has taken an accepted fact in, with what was decided, and all that was on record then. */
export type Decided = { row: MirrorRow; fact: FactRow; facts: FactRow[] }

/** What comes after something was stored: null where a part is away, and the verdict still to come. */
export const afterStored = <T>(work: Promise<T>): Promise<T | null> =>
  work.catch((error: unknown) => {
    if (isAway(error)) return null
    throw error
  })

/** Asks for a look at a resource of which something was stored. Where the control plane is away, whoever leads looks anyway. */
export const wakeStored = ({ wake }: Pick<Deps, 'wake'>, kind: KindRef, name: string): Promise<void> =>
  wake(kind, name).catch((error: unknown) => {
    if (!isPlaneAway(error)) throw error
  })

/** Nobody finds what is stored of a resource that is not there: the caller is to come again, and meets its own report. */
const orComeAgain = (name: string) => (error: unknown) => {
  if (isPlaneAway(error)) throw unavailable(`${name} left the cluster and cannot be brought back now`, 'stored')
  // one that is on its way back finds the fact
  if (!(error instanceof Problem && error.code === 'UNAVAILABLE')) throw error
}

const wake = (deps: Reporting, { kind, name, bringBack }: Reported): Promise<unknown> =>
  wakeStored(deps, kind, name).catch((error: unknown) => {
    if (!isNotFound(error)) throw error
    // It left just now. Whoever looks at the new one finds the fact.
    if (bringBack) return bringBack().catch(orComeAgain(name))
    throw new Problem('NOT_FOUND', `${name} was deleted; what was asked is decided when it is applied again.`)
  })

/** How a fact stands; a patient caller looks again whenever the resource changed, until the time is up. */
const decisionOn = async (
  { ledger }: Reporting,
  { name, isPatient }: Reported,
  { watched, untilMs, seq }: { watched: Watched; untilMs: number; seq: number },
) => {
  for (let isOver = false; ; ) {
    const { facts } = await ledger.observe(name)
    const decided = facts.find((fact) => fact.seq === seq)
    if (decided?.state !== 'pending' || !isPatient || isOver) return { decided, facts }
    isOver = (await watched.until(() => true, untilMs - performance.now())) === null
  }
}

/** @returns what was decided on a fact that stands, or null when the time was up @throws Problem as it was refused */
const verdictOn = async (
  deps: Reporting,
  reported: Reported,
  { watched, seq }: { watched: Watched; seq: number },
): Promise<Decided | null> => {
  const untilMs = performance.now() + WAIT_MS
  await wake(deps, reported)
  if (reported.isAsync) return null
  const { kind, name, whose } = reported
  const isTaken = (row: MirrorRow | undefined) =>
    row === undefined || Number((row.view as { fact_seq?: number }).fact_seq ?? 0) >= seq
  const now = await deps.mirror.get(kind.kind, name, whose)
  const found = isTaken(now) ? { row: now } : await watched.until(isTaken, untilMs - performance.now())
  if (!found?.row) return null
  const { decided, facts } = await decisionOn(deps, reported, { watched, untilMs, seq })
  if (decided?.state === 'accepted') return { row: found.row, fact: decided, facts }
  if (decided?.state !== 'refused') return null
  const code = decided.refusedCode ?? ''
  const detail = decided.outcome?.detail
  throw new Problem(
    isProblemCode(code) ? code : 'INTERNAL',
    typeof detail === 'string' ? `${detail}.` : 'It was refused.',
  )
}

/**
 * @returns the row that has taken the accepted fact in; null when it is still undecided
 * @throws Problem with the code and the words of the refusal
 */
export const report = async (deps: Reporting, reported: Reported): Promise<MirrorRow | null> =>
  (await reportAndSee(deps, reported))?.row ?? null

/** As `report`, with what was decided. */
export const reportAndSee = async (deps: Reporting, reported: Reported): Promise<Decided | null> => {
  const { kind, name, whose } = reported
  const watched = deps.waiter.watch(kind.kind, name, whose)
  try {
    const at = deps.now().toISOString()
    const { fact } = await deps.appendFact({
      ...reported.fact,
      resource: name,
      resourceKind: kind.kind,
      state: 'pending',
      at,
    })
    return await afterStored(verdictOn(deps, reported, { watched, seq: fact.seq }))
  } finally {
    watched.leave()
  }
}
