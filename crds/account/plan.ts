/** What an Account's spec says is in force at once; what is done for it is to look into the logos that were sent. */
import type { Resource } from '../object.ts'
import { type Plan, ready, waiting } from '../plan.ts'
import type { AccountSpec, AccountStatus } from './schema.ts'

export type AccountResource = Resource<AccountSpec, AccountStatus>
export type AccountFacts = Omit<AccountStatus, 'observedGeneration' | 'conditions'>
/** Transcodes the picture of this sha256 and makes it a logo, or says why it is none. */
export type AccountStep = { do: 'takeLogo'; seq: number; source: string }
/** `logos` wait to be looked into, in the order of their coming; `factSeq` is the newest that was. */
export type AccountWorld = { factSeq: number; logos: readonly { seq: number; source: string }[] }

/** Ready as soon as no logo waits. */
export const planAccount = ({ spec }: AccountResource, world: AccountWorld): Plan<AccountStep, AccountFacts> => ({
  steps: world.logos.map(({ seq, source }) => ({ do: 'takeLogo', seq, source })),
  status: { factSeq: world.factSeq, phase: 'active', plan: spec.plan, capabilities: spec.capabilities },
  verdict:
    world.logos.length === 0
      ? ready('Active', `${spec.plan} plan, ${spec.role}`)
      : waiting('TakingLogo', 'looks into a logo that was sent'),
})
