/**
 * Reporting something that the controllers decide on: append the pending fact, wake the resource, wait with a bound for the
 * verdict (rules/platform.md#facts). The key makes a repeat the same report.
 */

import { isForbidden, isNamespaceNotServed, isNotFound } from '../../controllers/base/errors.ts'
import type { KindRef } from '../../controllers/kube/kube.ts'
import type { FactRow, NewFact } from '../../controllers/store/ledger/facts.ts'
import type { MirrorRow } from '../../controllers/store/mirror.ts'
import { isPlaneAway } from '../../controllers/store/pg/away.ts'
import { isProblemCode } from '../../crds/kernel/problem.ts'
import { Problem } from '../http/problem.ts'
import type { Answer } from '../http/route.ts'
import type { Deps } from '../wiring/deps.ts'
import { type Asking, type Command, type Counting, type FactGoal, judgeFact } from './command.ts'
import { afterStored, DeletedMeanwhile } from './look.ts'

type NewReport = {
  kind: KindRef
  name: string
  fact: Pick<NewFact, 'key' | 'kind' | 'body' | 'once'>
  /** Makes the resource anew where it has left the cluster; without it such a one is NOT_FOUND. */
  bringBack?: () => Promise<unknown>
}
/** The row that has taken an accepted fact in, with what was decided, and all that was on record then. */
export type Decided<View> = { row: MirrorRow<View>; fact: FactRow; facts: FactRow[]; replayed: boolean }

/** Asks for a look at a resource of which something was stored. Where the control plane is away or says no, or its namespace is not served, whoever leads looks anyway. */
export const wakeStored = ({ wake }: Pick<Deps, 'wake'>, kind: KindRef, name: string): Promise<void> =>
  wake(kind, name).catch((error: unknown) => {
    if (!isPlaneAway(error) && !isForbidden(error) && !isNamespaceNotServed(error)) throw error
  })

/** Whoever leads finds what is stored of a resource that is not there, and brings it back. */
const orLeaveIt = (error: unknown) => {
  if (!(isPlaneAway(error) || (error instanceof Problem && error.code === 'UNAVAILABLE'))) throw error
}

const wake = (deps: Pick<Deps, 'wake'>, { kind, name, bringBack }: NewReport): Promise<unknown> =>
  wakeStored(deps, kind, name).catch((error: unknown) => {
    if (!isNotFound(error)) throw error
    // It left just now. Whoever looks at the new one finds the fact.
    if (bringBack) return bringBack().catch(orLeaveIt)
    throw new DeletedMeanwhile(name)
  })

/**
 * Appends the fact and asks for a look at its resource: the `act` of a command that reports.
 * @returns the goal of such a command @throws Problem NOT_FOUND where the resource has left the cluster
 */
export const append = async (
  deps: Pick<Deps, 'appendFact' | 'wake' | 'now'>,
  reported: NewReport,
): Promise<FactGoal> => {
  const at = deps.now().toISOString()
  const { fact, result } = await deps.appendFact({
    ...reported.fact,
    resource: reported.name,
    resourceKind: reported.kind.kind,
    state: 'pending',
    at,
  })
  await afterStored(wake(deps, reported))
  return { seq: fact.seq, ...(reported.fact.once && result === 'old' && { replayed: true }) }
}

/** @returns what was decided on a fact, or null while it is pending @throws Problem as it was refused */
const decisionOn = async (
  { ledger }: Pick<Deps, 'ledger'>,
  name: string,
  { seq, otherwise = 'It was refused.' }: FactGoal & { otherwise?: string | undefined },
): Promise<Pick<Decided<unknown>, 'fact' | 'facts'> | null> => {
  const { facts } = await ledger.observe(name)
  const fact = facts.find((one) => one.seq === seq)
  if (fact?.state === 'accepted') return { fact, facts }
  if (fact?.state !== 'refused') return null
  const code = fact.refusedCode ?? ''
  const detail = fact.outcome?.detail
  throw new Problem(isProblemCode(code) ? code : 'INTERNAL', typeof detail === 'string' ? `${detail}.` : otherwise)
}

const decidedBy = async <View>(
  deps: Pick<Deps, 'ledger'>,
  goal: FactGoal,
  row: MirrorRow<View> | undefined,
  otherwise?: string,
): Promise<Decided<View> | null> => {
  const decision = row && (await decisionOn(deps, row.name, { ...goal, otherwise }))
  return row && decision ? { row, ...decision, replayed: goal.replayed === true } : null
}

/** A command that reports a fact: `answer` is given what was decided on it, once it was accepted. */
export const factCommand = <View extends Counting, Needs = unknown>({
  answer,
  refusal,
  ...command
}: Pick<Command<FactGoal, View>, 'name' | 'kind' | 'isPatient'> & {
  /** The words of a refusal that has none of its own. */
  refusal?: string
  answer(deps: Needs, asking: Asking, decided: Decided<View>): Answer | Promise<Answer>
}): Command<FactGoal, View, Needs & Pick<Deps, 'ledger'>> => ({
  ...command,
  reports: true,
  judge: judgeFact,
  async answer(deps, asking, goal, row) {
    const decided = await decidedBy(deps, goal, row, refusal)
    return decided && answer(deps, asking, decided)
  },
})
