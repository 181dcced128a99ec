/** A refusal: the code of REST, the rule with its figures, and where there are several places, each of them. */
import type { Fault, ProblemCode } from '../../kernel/problem.ts'
import type { Trigger } from '../protocol.ts'
import type { DevInstanceRow } from './row.ts'

export type Refusal = { code: ProblemCode; detail: string; faults?: Fault[] }

export const refusal = (code: ProblemCode, detail: string, faults?: Fault[]): Refusal => ({
  code,
  detail,
  ...(faults && { faults }),
})

const DURING_RESIZE: readonly Trigger[] = ['started', 'stopped', 'resizing', 'eip-released']

/** Why the table has no row: with the code of the case where there is one. */
export const wrongState = (trigger: Trigger, instance: DevInstanceRow): Refusal => {
  const { state, instanceId, intent } = instance
  if (trigger === 'delete') return refusal('INSTANCE_LIVE', `${instanceId} is attached and ${state}`)
  if (state === 'resizing' && intent && DURING_RESIZE.includes(trigger)) {
    const { from, to } = intent
    const detail = `a resize from ${from.sizeClass} with ${from.diskGb} GB to ${to.sizeClass} with ${to.diskGb} GB is under way`
    return refusal('RESIZE_PENDING', detail)
  }
  if (trigger === 'resized' && state !== 'terminated') {
    return refusal('NO_RESIZE_INTENT', `the instance is ${state}, and no resize was announced`)
  }
  return refusal('WRONG_STATE', `${trigger} is not for an instance that is ${state}`)
}
