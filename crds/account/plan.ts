/** What an Account's spec says is in force at once; what is done for it is to look into the logos that were sent. */
import type { Resource } from '../kernel/object.ts'
import { type OwnCondition, type Plan, ready, waiting } from '../kernel/plan.ts'
import { type AccountLife, isToBegin, lifeConditions, REMADE } from './life.ts'
import type { AccountSpec, AccountStatus } from './schema.ts'
import { type Unserved, unservedWords } from './tenants.ts'

export type AccountResource = Resource<AccountSpec, AccountStatus>
export type AccountFacts = Omit<AccountStatus, 'observedGeneration' | 'conditions'>
/**
 * - `begin`: binds the resource to the key of its account's rows
 * - `takeLogo`: transcodes the picture of this sha256 and makes it a logo, or says why it is none
 */
export type AccountStep = { do: 'begin' } | { do: 'takeLogo'; seq: number; source: string }
/**
 * `logos` wait to be looked into, in the order of their coming; `factSeq` is the newest that was. `life` is what is on record of
 * this very resource; null before it was seen.
 */
export type AccountWorld = {
  factSeq: number
  logos: readonly { seq: number; source: string }[]
  life?: AccountLife | null
  /** Resources of it in namespaces that are not served. */
  unserved?: readonly Pick<Unserved, 'namespace' | 'count'>[]
}

export const UNSERVED = 'ResourcesUnserved'

const unservedCondition = (unserved: NonNullable<AccountWorld['unserved']>): OwnCondition[] => {
  const message = `NAMESPACE_NOT_SERVED: ${unserved.map(unservedWords).join('; ')}`
  return unserved.length === 0 ? [] : [{ type: UNSERVED, status: 'True', reason: 'NamespaceNotServed', message }]
}

/** What is said of an account that was made again, or of what stands where nobody looks; left out where there is nothing to say, and nothing was said. */
const conditionsOf = ({ metadata, status }: AccountResource, { life, unserved = [] }: AccountWorld) => {
  const conditions = [...(life ? lifeConditions(life, metadata) : []), ...unservedCondition(unserved)]
  const isSaid = status?.conditions?.some(({ type }) => type === REMADE || type === UNSERVED) ?? false
  return conditions.length > 0 || isSaid ? { conditions } : {}
}

/** What its resources name it by, where that is not its name. */
const keyOf = ({ metadata }: AccountResource, life: AccountLife | null | undefined) =>
  life && life.key !== metadata.name ? { key: life.key } : {}

/** Ready as soon as it is bound and no logo waits. */
export const planAccount = (object: AccountResource, world: AccountWorld): Plan<AccountStep, AccountFacts> => {
  const { metadata, spec } = object
  const { life } = world
  const logos = world.logos.map(({ seq, source }): AccountStep => ({ do: 'takeLogo', seq, source }))
  return {
    // what is sent for an account is sent for its key
    steps: life !== undefined && isToBegin(life, metadata, spec.email) ? [{ do: 'begin' }] : logos,
    status: {
      factSeq: world.factSeq,
      phase: 'active',
      plan: spec.plan,
      capabilities: spec.capabilities,
      ...keyOf(object, life),
    },
    ...conditionsOf(object, world),
    verdict:
      world.logos.length === 0
        ? ready('Active', `${spec.plan} plan, ${spec.role}`)
        : waiting('TakingLogo', 'looks into a logo that was sent'),
  }
}
