/**
 * The next step of one dev instance: a pure function of what is asked, the row, the inventory and what this run has learned. The
 * same of these gives the same step, so a crash at any place loses nothing but what has to be looked at again.
 */
import { released, terminated } from './end.ts'
import { asIs, running, stopped, stopWished } from './power.ts'
import { announced, resized, sizeWished } from './resize.ts'
import { reportsMended, up } from './up.ts'
import { notForeign, upkeep } from './upkeep.ts'
import { type BoxGoal, type BoxPlan, type BoxStep, type BoxWorld, firstOf, stuck } from './world.ts'

const renamed =
  (name: string): BoxPlan =>
  ({ row }) =>
    row.name === name ? null : { do: 'say', word: 'renamed', body: { version: row.version, name } }

/** Beyond that nothing is left to act on. */
const ended: BoxPlan = ({ row }) =>
  row.state === 'terminated'
    ? stuck('WRONG_STATE', `${row.id} is terminated`, 'Reserve another: bottega-devbox up NAME --size-class S')
    : null

const alive = (...parts: readonly BoxPlan[]): BoxPlan => firstOf(ended, notForeign, upkeep, up, ...parts)

/** First what the row and the cloud do not agree about: who is silent may be stopped, or at no address. */
const mended: BoxPlan = (world) => {
  const step = asIs(world)
  return step?.do === 'done' ? (reportsMended(world) ?? step) : step
}

const planFor = (goal: BoxGoal): BoxPlan => {
  switch (goal.kind) {
    case 'asIs':
      return alive(stopWished, sizeWished, resized, goal.mendsReports ? mended : asIs)
    case 'running':
      return alive(resized, running)
    case 'stopped':
      return alive(resized, stopped)
    case 'resized':
      return alive(announced(goal), resized, asIs)
    case 'renamed':
      return firstOf(ended, notForeign, renamed(goal.name), upkeep, () => ({ do: 'done' }))
    case 'released':
      return firstOf(ended, notForeign, upkeep, released(goal.allocationId))
    case 'terminated':
      return firstOf(notForeign, terminated(goal))
    default:
      return goal satisfies never
  }
}

export const nextStep = (goal: BoxGoal, world: BoxWorld): BoxStep => {
  const step = planFor(goal)(world)
  return step ?? stuck('UNDECIDED', `nothing is planned for ${world.row.id}, which is ${world.row.state}`, 'Report it.')
}
