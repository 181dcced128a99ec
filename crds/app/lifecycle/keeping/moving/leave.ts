/** What is left of an app goes from hosts that it has left once their visitors need them no more (rules/app.md#moves). Pure. */
import type { AppStep } from '../../../steps.ts'
import type { AppWorld, Operation } from '../../../world.ts'
import { carries } from './carry.ts'
import { targetOf } from './place.ts'

/** One that is away is waited for: what runs there would run on for ever. */
export const leftSteps = ({ leaving }: Pick<AppWorld, 'leaving'>): AppStep[] =>
  Object.entries(leaving).flatMap(([host, job]): AppStep[] =>
    job === null || job.state === 'running' ? [] : [{ do: 'leavePlace', host }],
  )

/** Of an app that is deleted: null once nothing of it is anywhere but where it lives. */
export const leavePlaces = (world: Pick<AppWorld, 'leaving' | 'places'>): AppStep[] | null =>
  world.places.every(({ place }) => place === 'home') ? null : leftSteps(world)

/**
 * Whether what a host keeps of an app goes with the rest of it there: what a move has carried on, or had only begun to bring. Where the move
 * away carried nothing, or nobody knows of it any more, what is there may be all that there is.
 * @param operations those that are known, in the order of asking
 */
export const takesVolumes = (operations: readonly Operation[], host: string): boolean => {
  const moves = operations.filter(({ kind, endedAt }) => kind === 'move' && endedAt !== null)
  const came = moves.findLastIndex((one) => targetOf(one) === host)
  if (moves[came] && moves[came].state !== 'succeeded') return true
  const away = moves.slice(came + 1).find(({ state }) => state === 'succeeded')
  return away !== undefined && carries(away)
}
