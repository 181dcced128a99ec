/**
 * The app's budget among its services: what a service declares it gets, the rest is shared equally by those that declare
 * nothing. All limits together are at most the budget; while two releases run side by side the stateless part is there twice.
 */

import type { ServiceLimits } from '../project.ts'
import type { At, ValidationContext } from '../reading/validation.ts'
import type { ParsedService } from './service.ts'

const MIB = 1_048_576
const CPU_MIN_MILLIS = 20
const MEMORY_MIN_BYTES = 16 * MIB
const PIDS_DEFAULT = 256
const PIDS_MAX = 1024

type Dimension = {
  what: string
  unit: string
  budget: number
  min: number
  step: number
  asked(parsed: ParsedService): number | undefined
}

const dimensionsOf = ({ deployTarget }: ValidationContext): { cpu: Dimension; memory: Dimension } => ({
  cpu: {
    what: 'CPU',
    unit: 'thousandths of a CPU',
    budget: deployTarget.budget.cpuMillis,
    min: CPU_MIN_MILLIS,
    step: 1,
    asked: (parsed) => parsed.asked.cpuMillis,
  },
  memory: {
    what: 'memory',
    unit: 'bytes',
    budget: deployTarget.budget.memoryMib * MIB,
    min: MEMORY_MIN_BYTES,
    step: MIB,
    asked: (parsed) => parsed.asked.memoryBytes,
  },
})

/** What each service that declares nothing gets of one dimension. */
const shareOf = (
  validation: ValidationContext,
  at: At,
  parsedServices: readonly ParsedService[],
  dimension: Dimension,
): number => {
  const { what, unit, budget, min, step, asked } = dimension
  const declared = parsedServices.reduce((sum, parsed) => sum + (asked(parsed) ?? 0), 0)
  const sharing = parsedServices.filter((parsed) => asked(parsed) === undefined).length
  const next = 'Lower the limits, or ask for a larger budget of the app.'
  if (declared > budget) {
    validation.allows(at, 'budget', `The services ask for ${declared} ${unit}; the app's budget is ${budget}.`, next)
  }
  const share = sharing === 0 ? 0 : Math.floor(Math.max(0, budget - declared) / sharing / step) * step
  if (sharing > 0 && share < min) {
    const detail = `Of ${budget} ${unit}, ${declared} are declared: too little ${what} is left for ${sharing} more services.`
    validation.allows(at, 'budget', detail, next)
  }
  return Math.max(min, share)
}

const pidsOf = (validation: ValidationContext, { asked, at }: ParsedService): number => {
  const { pids = PIDS_DEFAULT } = asked
  if (pids <= PIDS_MAX) return pids
  const detail = `${pids} processes are more than the ${PIDS_MAX} that a service may have.`
  return validation.allows(at, 'budget', detail, 'Lower pids_limit.') ? pids : PIDS_MAX
}

/** Limits by the name of the service. @param at the place of all services, for findings about their sum */
export const splitBudget = (
  validation: ValidationContext,
  at: At,
  parsedServices: readonly ParsedService[],
): Map<string, ServiceLimits> => {
  const { cpu, memory } = dimensionsOf(validation)
  const cpuShare = shareOf(validation, at, parsedServices, cpu)
  const memoryShare = shareOf(validation, at, parsedServices, memory)
  return new Map(
    parsedServices.map((parsed) => [
      parsed.name,
      {
        cpuMillis: parsed.asked.cpuMillis ?? cpuShare,
        memoryBytes: parsed.asked.memoryBytes ?? memoryShare,
        pids: pidsOf(validation, parsed),
      },
    ]),
  )
}
