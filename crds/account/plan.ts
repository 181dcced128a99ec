/** An Account needs no work outside: what its spec says is in force at once. */
import type { Resource } from '../object.ts'
import { type Plan, ready } from '../plan.ts'
import type { AccountSpec, AccountStatus } from './schema.ts'

export type AccountResource = Resource<AccountSpec, AccountStatus>
export type AccountFacts = Omit<AccountStatus, 'observedGeneration' | 'conditions'>
/** There is nothing to do for an account. */
export type AccountStep = never
export type AccountWorld = { factSeq: number }

/** Always ready, without a step. */
export const planAccount = ({ spec }: AccountResource, world: AccountWorld): Plan<AccountStep, AccountFacts> => ({
  steps: [],
  status: { factSeq: world.factSeq, phase: 'active', plan: spec.plan, capabilities: spec.capabilities },
  verdict: ready('Active', `${spec.plan} plan, ${spec.role}`),
})
