/** Writing one decision on a dev instance, whether its resource is there or not: all or nothing, under the owner's row lock. */

import { eventOf, factKind, type JudgedBy } from '../../../crds/devinstance/facts.ts'
import { DEVINSTANCE } from '../../../crds/devinstance/kind.ts'
import type { Surroundings } from '../../../crds/devinstance/life/context.ts'
import { committedMicroUsd, type DevInstanceRow } from '../../../crds/devinstance/life/row.ts'
import { judged } from '../../../crds/devinstance/plan.ts'
import type { TransitionSettlement, WrittenRow } from '../../../crds/devinstance/world.ts'
import type { DevInstanceLedger, Settled } from '../../store/devinstance/devinstances.ts'

type Settling = Pick<DevInstanceLedger, 'settle'>

/** Of which dev instance. `uid`: of the resource that entered it. */
export type DecidedOf = { resource: string; uid: string; owner: string }

export type DecisionOn = {
  settlement: TransitionSettlement
  before: DevInstanceRow | null
  rev: number
  capMicroUsd: number
}

/** What a settlement leaves, when it leaves anything. */
export const writtenBy = (settlement: TransitionSettlement): WrittenRow | undefined =>
  settlement.state === 'accepted' ? settlement : settlement.recorded

/** Writes one decision. @returns what forbids it beyond this instance */
export const write = (ledger: Settling, of: DecidedOf, decided: DecisionOn): Promise<Settled> => {
  const { resource, uid, owner } = of
  const { settlement, before, rev, capMicroUsd } = decided
  const { seq, trigger, said, at, by, around } = settlement
  const faults = settlement.state === 'refused' && settlement.faults
  const outcome: JudgedBy = { rev, around, ...(faults && { faults }) }
  const fact = {
    resource,
    resourceKind: DEVINSTANCE.kind,
    key: `${trigger}:${rev}`,
    kind: factKind(trigger),
    body: { said, outcome },
    state: 'accepted' as const,
    at,
  }
  const told = { resource, rev, at, by, outcome, ...(seq === null ? { seq, fact } : { seq }) }
  const written = writtenBy(settlement)
  const row = written && {
    uid,
    box: written.instance,
    committedMicroUsd: committedMicroUsd(written.instance),
    capMicroUsd,
    // The table has seen the cap and lets it go on: a report, or an admin's override.
    over: around.cap !== undefined,
    entries: written.entries,
  }
  if (settlement.state === 'refused') {
    const { code, detail } = settlement
    return ledger.settle({ ...told, state: 'refused', code, detail, row: row ?? null })
  }
  const event = eventOf(resource, owner, before, settlement)
  return ledger.settle({ ...told, state: 'accepted', row: row as NonNullable<typeof row>, event })
}

/** A name, an instance, an address and the cap may each be in the way once. */
const LOOKS_MAX = 5

/** What the database has found in the way, beside what was known to be. */
const seenWith = (around: Surroundings, settled: Settled, capMicroUsd: number): Surroundings => {
  if (settled.outcome === 'CAP_EXCEEDED') return { ...around, cap: { othersMicroUsd: settled.others, capMicroUsd } }
  return settled.outcome === 'taken' ? { ...around, taken: [...(around.taken ?? []), settled.what] } : around
}

/**
 * What only the database sees is put before the table, which says what becomes of the call then.
 * @returns how it was settled; undefined where somebody decided meanwhile: a fresh look tells
 */
export const settleCall = async (
  ledger: Settling,
  of: DecidedOf,
  decided: DecisionOn & { before: DevInstanceRow },
): Promise<TransitionSettlement | undefined> => {
  const { before, capMicroUsd } = decided
  let { settlement } = decided
  for (let look = 0; look < LOOKS_MAX; look++) {
    const settled = await write(ledger, of, { ...decided, settlement })
    if (settled.outcome === 'settled') return settlement
    if (settled.outcome === 'stale' || settlement.trigger === 'reserve') return undefined
    settlement = judged(before, settlement, seenWith(settlement.around, settled, capMicroUsd))
  }
  throw new Error(`${settlement.trigger} of ${of.resource} is in the way of itself`)
}
