/** How calls and decisions stand in the ledger: the fact of a call, and the event of a change of state. */
import type { Fault } from '../kernel/problem.ts'
import { DEVINSTANCE } from './kind.ts'
import type { Surroundings } from './life/context.ts'
import type { DecidedCall } from './life/rebuilt.ts'
import type { DevInstanceRow } from './life/row.ts'
import type { Said, Trigger } from './protocol.ts'
import type { By, Pending, Sayable, TransitionSettlement } from './world.ts'

const PREFIX = 'devbox.'

export const factKind = (trigger: string): string => `${PREFIX}${trigger}`

type FactBody<T extends Trigger> = { said: Said[T]; by: By }

/** What the api appends for one call, for the controllers to judge. @param key names the call: the same again is one */
export const callFact = <T extends Trigger>(
  resource: string,
  call: { trigger: T; key: string; at: string } & FactBody<T>,
) => {
  const { trigger, key, at, said, by } = call
  return {
    resource,
    resourceKind: DEVINSTANCE.kind,
    key,
    kind: factKind(trigger),
    body: { said, by },
    state: 'pending' as const,
    at,
  }
}

type FactOnRecord = { kind: string; body: Record<string, unknown>; at: string }

/** What a fact says, in the words of the table. */
export const saidBy = ({ kind, body }: Pick<FactOnRecord, 'kind' | 'body'>): Sayable =>
  ({ trigger: kind.slice(PREFIX.length), said: body.said }) as Sayable

export const pendingOf = (fact: FactOnRecord & { seq: number }): Pending =>
  ({ ...saidBy(fact), seq: fact.seq, by: (fact.body.by ?? null) as By | null, at: fact.at }) as Pending

/** What is kept with the verdict on a fact: which decision it was, what was seen around it, and where a refusal points. */
export type JudgedBy = { rev: number; around: Surroundings; faults?: Fault[] }

/** A fact that was decided, as life/rebuilt.ts and costs/ take it. */
export const decidedCallOf = ({ kind, body, at, outcome }: FactOnRecord & { outcome: JudgedBy }): DecidedCall =>
  ({ ...saidBy({ kind, body }), at, around: outcome.around }) as DecidedCall

/** `devbox.state_changed`, when the decision moved the dev instance; null otherwise. */
export const eventOf = (id: string, owner: string, before: DevInstanceRow | null, settlement: TransitionSettlement) => {
  if (settlement.state === 'refused') return null
  const { instance } = settlement
  const stateOf = (one: DevInstanceRow | null) => (one === null ? null : one.deletedAt === null ? one.state : 'deleted')
  const [previousState, state] = [stateOf(before), stateOf(instance)]
  if (state === previousState) return null
  const { name, version, sizeClass, arch } = instance
  return {
    kind: DEVINSTANCE.kind,
    account: owner,
    type: 'devbox.state_changed' as const,
    data: { devbox: { id, owner, name, state, previousState, version, sizeClass, arch } },
  }
}
