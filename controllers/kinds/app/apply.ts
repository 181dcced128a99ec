/** What the answer of a step says of the world, so that the step after it needs no look in between. */
import type { AppWorld, Operation, Release } from '../../../crds/app/world.ts'

type Apply = (world: AppWorld) => AppWorld

const withOperation =
  (id: string, change: (operation: Operation) => Operation): Apply =>
  (world) => ({ ...world, operations: world.operations.map((one) => (one.id === id ? change(one) : one)) })

const withRelease =
  (number: number, change: Partial<Release>): Apply =>
  (world) => ({
    ...world,
    releases: world.releases.map((one) =>
      one.number === number
        ? { ...one, ...change, ...(change.record && { record: { ...one.record, ...change.record } }) }
        : one,
    ),
  })

const both =
  (first: Apply, second: Apply): Apply =>
  (world) =>
    second(first(world))

export const applyBegun = (
  given: { operation: Operation; source: string; envVersion: number | null; restoredFrom: number | null; at: string },
  number: number,
): Apply => {
  const { operation, at, ...rest } = given
  const release: Release = {
    ...rest,
    number,
    id: operation.id.replace(/^op-/, 'rel-'),
    operation: operation.id,
    state: 'building',
    reason: null,
    logTail: null,
    record: null,
    digest: null,
    address: null,
    createdAt: at,
    liveAt: null,
    supersededAt: null,
    retiredAt: null,
  }
  const begun = withOperation(operation.id, (one) => ({
    ...one,
    state: 'running',
    release: number,
    startedAt: at,
    steps: one.steps.map((step, place) => (place === 0 ? { ...step, state: 'running', startedAt: at } : step)),
  }))
  return both(begun, (world) => ({ ...world, releases: [release, ...world.releases] }))
}

export const applyPassed = (operation: Operation, known: Partial<Release>, at: string): Apply => {
  const advanced = withOperation(operation.id, (one) => {
    const present = one.steps.findIndex(({ state }) => state === 'running')
    const steps = one.steps.map((step, place) => {
      if (place === present) return { ...step, state: 'succeeded' as const, endedAt: at }
      return place === present + 1 ? { ...step, state: 'running' as const, startedAt: at } : step
    })
    return { ...one, steps }
  })
  // The next step's job is not there yet: nobody has started it.
  const jobless: Apply = (world) => ({ ...world, job: { state: 'absent' } })
  return both(both(advanced, withRelease(operation.release ?? 0, known)), jobless)
}

export const applyEnded = (operation: Operation, change: Partial<Operation>, at: string): Apply =>
  both(
    withOperation(operation.id, (one) => ({ ...one, ...change, endedAt: at })),
    operation.release === null ? (world) => world : withRelease(operation.release, { state: 'failed' }),
  )

export const applyLive = (operation: Operation, at: string): Apply => {
  const switched: Apply = (world) => ({
    ...world,
    // What was seen was the release before: its address is where visitors must not be sent back to.
    look: null,
    releases: world.releases.map((one) => {
      if (one.number === operation.release) return { ...one, state: 'live' as const, liveAt: at }
      return one.state === 'live' ? { ...one, state: 'superseded' as const, supersededAt: at } : one
    }),
  })
  return both(
    switched,
    withOperation(operation.id, (one) => ({ ...one, state: 'succeeded', endedAt: at })),
  )
}

export const applyOperation = (operation: Operation, change: Partial<Operation>): Apply =>
  withOperation(operation.id, (one) => ({ ...one, ...change }))

export const applyRetired = (number: number, at: string): Apply => withRelease(number, { retiredAt: at })

export const applyRoute = (of: { release: number; digest: string; address: string; dial: string | null }): Apply => {
  const { release, digest, address, dial } = of
  const routed: Apply = (world) => ({
    ...world,
    route: { digest, address },
    look: world.look && { ...world.look, dial },
  })
  return both(routed, withRelease(release, { address }))
}
