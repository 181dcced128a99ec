/** What the rows of an app are after an event, as the ledger decides it. */
import type { OperationContext, OperationEvent } from '../../../../crds/app/lifecycle/events.ts'
import { decide } from '../../../../crds/app/lifecycle/transitions.ts'
import type { AppWorld, Operation, Release } from '../../../../crds/app/world.ts'
import { AT } from './app.ts'

const withOperation = (world: AppWorld, changed: Operation): AppWorld => ({
  ...world,
  operations: world.operations.map((one) => (one.id === changed.id ? changed : one)),
})

export const withRelease = (world: AppWorld, number: number, change: Partial<Release>): AppWorld => ({
  ...world,
  releases: world.releases.map((one) => (one.number === number ? { ...one, ...change } : one)),
})

/** What a decision about an operation rests on in this world. */
export const contextIn = (world: AppWorld, operation: Operation): OperationContext => ({
  operation,
  release: world.releases.find(({ number }) => number === operation.release) ?? null,
  live: world.releases.find(({ state }) => state === 'live') ?? null,
  lastRelease: Math.max(0, ...world.releases.map(({ number }) => number)),
  running: world.operations.find(({ state }) => state === 'running')?.id ?? null,
})

/** The world after an event, by the rows that the ledger has; the same one when it is refused. */
export const happened = (world: AppWorld, { id }: Pick<Operation, 'id'>, event: OperationEvent): AppWorld => {
  const operation = world.operations.find((one) => one.id === id)
  const decision = operation && decide(event, contextIn(world, operation), AT)
  if (decision?.state !== 'accepted') return world
  const { releases } = decision
  const made = releases.filter(({ number }) => world.releases.every((one) => one.number !== number))
  const kept = world.releases.map((one) => releases.find(({ number }) => number === one.number) ?? one)
  return withOperation({ ...world, releases: [...made, ...kept] }, decision.operation)
}
