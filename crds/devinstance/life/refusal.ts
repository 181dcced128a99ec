/** A refusal: the code of REST, the rule with its figures, and where there are several places, each of them. */
import type { Fault, ProblemCode } from '../../kernel/problem.ts'
import type { Trigger } from '../protocol.ts'
import type { DevInstanceRow } from './row.ts'
import { type DevInstanceStanding, standingOf } from './table.ts'

export type Refusal = { code: ProblemCode; detail: string; faults?: Fault[] }

export const refusal = (code: ProblemCode, detail: string, faults?: Fault[]): Refusal => ({
  code,
  detail,
  ...(faults && { faults }),
})

const DURING_RESIZE: readonly Trigger[] = ['starting', 'halting', 'resizing']

/** With which code something is refused for which the table has no row. */
export const codeOutside = (trigger: Trigger, state: DevInstanceStanding): ProblemCode => {
  if (state === 'deleted') return 'NOT_FOUND'
  if (trigger === 'delete') return 'INSTANCE_LIVE'
  return state === 'resizing' && DURING_RESIZE.includes(trigger) ? 'RESIZE_PENDING' : 'WRONG_STATE'
}

/** Why the table has no row. */
export const wrongState = (trigger: Trigger, instance: DevInstanceRow): Refusal => {
  const { state, instanceId, intent, deletedAt } = instance
  const code = codeOutside(trigger, standingOf(instance))
  if (deletedAt !== null) return refusal(code, `it was deleted at ${deletedAt}`)
  if (code === 'INSTANCE_LIVE') return refusal(code, `${instanceId} is attached and ${state}`)
  if (code === 'RESIZE_PENDING' && intent) {
    const { from, to } = intent
    return refusal(
      code,
      `a resize from ${from.sizeClass} with ${from.diskGb} GB to ${to.sizeClass} with ${to.diskGb} GB is under way`,
    )
  }
  return refusal(code, `${trigger} is not for an instance that is ${state}`)
}
