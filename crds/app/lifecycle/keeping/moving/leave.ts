/** What is left of an app goes from hosts that it has left once their visitors need them no more (rules/app.md#moves). Pure. */
import type { AppStep } from '../../../steps.ts'
import type { AppWorld } from '../../../world.ts'

/** One that is away is waited for: what runs there would run on for ever. */
export const leftSteps = ({ leaving }: Pick<AppWorld, 'leaving'>): AppStep[] =>
  Object.entries(leaving).flatMap(([host, job]): AppStep[] =>
    job === null || job.state === 'running' ? [] : [{ do: 'leavePlace', host }],
  )

/** Of an app that is deleted: null once nothing of it is anywhere but where it lives. */
export const leavePlaces = (world: Pick<AppWorld, 'leaving' | 'places'>): AppStep[] | null =>
  world.places.every(({ place }) => place === 'home') ? null : leftSteps(world)
