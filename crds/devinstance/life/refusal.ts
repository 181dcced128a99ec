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

/**
 * What to do about a code, where what is usually done about it cannot be done as the instance stands.
 * @param allowed the last words of the endpoints that are open; @returns undefined where the usual step fits
 */
export const nextAsItStands = (
  code: ProblemCode,
  { state, lease }: Pick<DevInstanceRow, 'state' | 'lease'>,
  allowed: readonly string[],
): string | undefined => {
  const resizes = allowed.includes('resizing')
  switch (code) {
    case 'LEASE_EXPIRED':
      return lease?.renewed
        ? 'It was renewed once: take the instance down, confirm it by POST …/terminated, and reserve another one.'
        : undefined
    case 'RESIZE_REQUIRED':
    case 'NO_RESIZE_INTENT':
      if (resizes) return undefined
      if (state === 'reserved') return 'Nothing is launched yet: delete it, and reserve the size that is needed.'
      return state === 'resizing'
        ? 'Confirm the resize that is under way by POST …/resized first, then repeat.'
        : 'It is resized once it is ready: go on with the protocol, as allowedActions says, then repeat.'
    case 'CAP_EXCEEDED':
      return resizes
        ? 'Take a smaller size, end an instance, or ask an admin for a larger cap, or for an override of the next resize.'
        : undefined
    default:
      return undefined
  }
}

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
