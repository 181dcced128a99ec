/** What the answer of a step says of the world, so that the step after it needs no look in between. */
import type { OperationDecision } from '../../../crds/app/lifecycle/events.ts'
import type { AppWorld, Operation, Release } from '../../../crds/app/world.ts'

type Apply = (world: AppWorld) => AppWorld

/** Changed ones in their places, a new one before all others. */
const withReleases = (known: readonly Release[], changed: readonly Release[]): Release[] => {
  const made = changed.filter(({ number }) => known.every((one) => one.number !== number))
  return [...made, ...known.map((one) => changed.find(({ number }) => number === one.number) ?? one)]
}

const withOperation = (known: readonly Operation[], changed: Operation): Operation[] =>
  known.some(({ id }) => id === changed.id)
    ? known.map((one) => (one.id === changed.id ? changed : one))
    : [...known, changed]

/**
 * The rows as they were decided and stored.
 * @param also what else is other than it was @returns undefined for what was refused: the world is not what it was taken for
 */
export const applyDecision = (decision: OperationDecision, also: Partial<AppWorld> = {}): Apply | undefined => {
  if (decision.state === 'refused') return undefined
  const { operation, releases } = decision
  return (world) => ({
    ...world,
    ...also,
    operations: withOperation(world.operations, operation),
    releases: withReleases(world.releases, releases),
  })
}

export const applyRoute = (of: { release: number; digest: string; address: string; dial: string | null }): Apply => {
  const { release, digest, address, dial } = of
  return (world) => ({
    ...world,
    route: { digest, address, letIn: world.route?.letIn ?? null },
    look: world.look && { ...world.look, dial, hasRoute: true },
    releases: world.releases.map((one) => (one.number === release ? { ...one, address } : one)),
  })
}
