/**
 * A call of the protocol: judged by the table against what stands, appended as a fact, and judged for good by the
 * controllers. What they say is the answer (rules/devinstance.md#calls-are-facts). A report that the document has refused goes
 * to them, too: they answer it so, and have it on record. A repeat under an Idempotency-Key finds
 * its own fact before anything is compared, so it succeeds though the version has moved on.
 */
import { randomUUID } from 'node:crypto'
import { gitOf } from '../../crds/devinstance/bootstrap/report.ts'
import { callFact } from '../../crds/devinstance/facts.ts'
import { DEVINSTANCE } from '../../crds/devinstance/kind.ts'
import type { CapBudget } from '../../crds/devinstance/life/context.ts'
import { committedMicroUsd } from '../../crds/devinstance/life/row.ts'
import { decide } from '../../crds/devinstance/life/transitions.ts'
import type { Said, Trigger } from '../../crds/devinstance/protocol.ts'
import { usdOf } from '../../crds/devinstance/sizing/prices.ts'
import type { ShownDevInstance } from '../../crds/devinstance/view.ts'
import type { By } from '../../crds/devinstance/world.ts'
import type { Whose } from '../command/own.ts'
import { append } from '../command/report.ts'
import { settle } from '../command/settle.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import { type CallCommand, deletedCommand, type Kept } from './commands.ts'
import { budgetOf, ownerOf, pathOf, shownOf } from './find.ts'
import type { DevInstanceNeeds } from './needs.ts'
import { refuse } from './ruling.ts'

export type TriggerCall<T extends Trigger, K extends Kept> = {
  trigger: T
  said: Said[T]
  command: CallCommand<K>
  kept: K
  /** Names the call where it is not its Idempotency-Key that does. */
  key?: string
  /** What must be stored before the fact is. */
  store?(): Promise<void>
}

export const byOf = ({ caller }: Pick<ApiRequest, 'caller'>): By => ({
  account: caller.account,
  kind: caller.by.kind,
  id: caller.by.id,
})

/** The key of a call's fact: the same for each retry under one Idempotency-Key. */
export const callKey = (trigger: Trigger, { idempotencyKey }: Pick<ApiRequest, 'idempotencyKey'>): string =>
  `${trigger}:${idempotencyKey ?? randomUUID()}`

const judge = async <T extends Trigger>(
  deps: DevInstanceNeeds,
  stored: ShownDevInstance,
  { trigger, said, at, budget }: { trigger: T; said: Said[T]; at: string; budget?: CapBudget },
) => {
  const report = await deps.devInstances.lastReport(stored.id)
  const around = { git: report && gitOf(report.body), ...(budget && { cap: budget }) }
  return decide(trigger, { instance: stored.box, said, at, around })
}

/** What would become of a request, the cap included: nothing is kept. @throws Problem as it would be refused */
const rehearse = async <T extends Trigger>(
  deps: DevInstanceNeeds,
  stored: ShownDevInstance,
  { trigger, said }: { trigger: T; said: Said[T] },
): Promise<Answer> => {
  const { committedMicroUsd: all, capMicroUsd } = await budgetOf(deps, stored.owner)
  const othersMicroUsd = all - committedMicroUsd(stored.box)
  const at = deps.now().toISOString()
  const decision = await judge(deps, stored, { trigger, said, at, budget: { othersMicroUsd, capMicroUsd } })
  if (decision.state === 'refused') refuse(decision.refusal, stored, {})
  const after = decision.state === 'accepted' ? decision.instance : stored.box
  const dryRun = {
    state: after.state,
    version: after.version,
    committedMonthlyUsd: usdOf(committedMicroUsd(after)),
    ownerCommittedMonthlyUsd: usdOf(othersMicroUsd + committedMicroUsd(after)),
    capMonthlyUsd: usdOf(capMicroUsd),
  }
  return { status: 200, body: { dryRun } }
}

/** What every command on a dev instance says of it. */
export const commandOn = (id: string, whose: Whose) => ({
  name: id,
  whose,
  resource: pathOf(id),
  pending: { devbox: { id } },
})

/** @returns the answer of the call's command, or 202 @throws Problem with the code that the call was refused with */
export const callDevInstance = async <T extends Trigger, K extends Kept>(
  deps: DevInstanceNeeds,
  request: ApiRequest,
  stored: ShownDevInstance,
  call: TriggerCall<T, K>,
): Promise<Answer> => {
  const { id } = stored
  const { trigger, said, command, kept, key = callKey(trigger, request) } = call
  if (request.query.dryRun === '1') return rehearse(deps, stored, call)
  const at = deps.now().toISOString()
  const isDeleted = stored.box.deletedAt !== null
  const isRepeat = request.idempotencyKey !== undefined && (await deps.devInstances.verdict(id, { key })) !== null
  if (!isRepeat) {
    const decision = await judge(deps, stored, { trigger, said, at })
    if (decision.state === 'refused') refuse(decision.refusal, stored, kept)
    if (decision.state === 'unchanged') return isDeleted ? refuseDeleted(stored) : command.show(deps, stored, kept)
  }
  const fact = callFact(id, { trigger, key, at, said, by: byOf(request) })
  const on = commandOn(id, ownerOf(stored))
  if (isDeleted) {
    // its resource may be there for a moment still; without one nobody is woken, and the fact is found
    const reported = { kind: DEVINSTANCE, name: id, fact, bringBack: async () => {} }
    return settle(deps, request, deletedCommand, {
      ...on,
      act: async () => ({ id, ...(await append(deps, reported)) }),
    })
  }
  return settle(deps, request, command, {
    ...on,
    async act() {
      await call.store?.()
      return { ...kept, ...(await append(deps, { kind: DEVINSTANCE, name: id, fact })) }
    },
  })
}

/** It says what is known: as of everything of one that was deleted. */
const refuseDeleted = (stored: ShownDevInstance): never =>
  refuse({ code: 'NOT_FOUND', detail: `it was deleted at ${stored.box.deletedAt}` }, stored, {})

/** The row now, for who has changed nothing. */
export const nowOf = async (deps: DevInstanceNeeds, id: string, whose: Whose): Promise<ShownDevInstance | undefined> =>
  shownOf(await deps.mirror.get(DEVINSTANCE, id, whose))
