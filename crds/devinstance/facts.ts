/** How calls and decisions stand in the ledger: the fact of a call, and the event of a change of state. */
import { DEVINSTANCE } from './kind.ts'
import type { DevInstanceRow } from './life/row.ts'
import type { Said, Trigger } from './protocol.ts'
import type { By, Pending, TransitionSettlement } from './world.ts'

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

export const pendingOf = (fact: { seq: number; kind: string; body: Record<string, unknown>; at: string }): Pending => ({
  seq: fact.seq,
  trigger: fact.kind.slice(PREFIX.length) as Trigger,
  said: fact.body.said as Pending['said'],
  by: (fact.body.by ?? null) as By | null,
  at: fact.at,
})

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
