/** What the schema cannot say of a spec. */
import type { Fault } from '../kernel/problem.ts'
import type { DevInstanceSpec } from './schema.ts'
import { CLASSES } from './sizing/sizes.ts'

/** @returns findings with pointers into the spec, empty when it is sound */
export const devInstanceFaults = (spec: Pick<DevInstanceSpec, 'sizeClass' | 'diskGb' | 'agents'>): Fault[] => {
  const least = CLASSES[spec.sizeClass].diskGb
  const twice = spec.agents.findIndex((agent, index) => spec.agents.indexOf(agent) < index)
  return [
    ...(spec.diskGb !== undefined && spec.diskGb < least
      ? [
          {
            code: 'INVALID_FIELD' as const,
            pointer: '/diskGb',
            detail: `${spec.diskGb} GB are less than the ${least} GB of ${spec.sizeClass}`,
          },
        ]
      : []),
    ...(twice < 0
      ? []
      : [
          {
            code: 'INVALID_FIELD' as const,
            pointer: `/agents/${twice}`,
            detail: `${spec.agents[twice]} is named twice`,
          },
        ]),
  ]
}
