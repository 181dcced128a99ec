/**
 * The app's budget among its services: what a service declares it gets, the rest is shared equally by those that declare
 * nothing. All limits together are at most the budget; while two releases run side by side the stateless part is there twice.
 */
import type { At, Desk } from './desk.ts'
import type { Limits } from './project.ts'
import type { Draft } from './service.ts'

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
  asked(draft: Draft): number | undefined
}

const dimensionsOf = ({ ground }: Desk): { cpu: Dimension; memory: Dimension } => ({
  cpu: {
    what: 'CPU',
    unit: 'thousandths of a CPU',
    budget: ground.budget.cpuMillis,
    min: CPU_MIN_MILLIS,
    step: 1,
    asked: (draft) => draft.asked.cpuMillis,
  },
  memory: {
    what: 'memory',
    unit: 'bytes',
    budget: ground.budget.memoryMib * MIB,
    min: MEMORY_MIN_BYTES,
    step: MIB,
    asked: (draft) => draft.asked.memoryBytes,
  },
})

/** What each service that declares nothing gets of one dimension. */
const shareOf = (desk: Desk, at: At, drafts: readonly Draft[], dimension: Dimension): number => {
  const { what, unit, budget, min, step, asked } = dimension
  const declared = drafts.reduce((sum, draft) => sum + (asked(draft) ?? 0), 0)
  const sharing = drafts.filter((draft) => asked(draft) === undefined).length
  const next = 'Lower the limits, or ask for a larger budget of the app.'
  if (declared > budget) {
    desk.allows(at, 'budget', `The services ask for ${declared} ${unit}; the app's budget is ${budget}.`, next)
  }
  const share = sharing === 0 ? 0 : Math.floor(Math.max(0, budget - declared) / sharing / step) * step
  if (sharing > 0 && share < min) {
    const detail = `Of ${budget} ${unit}, ${declared} are declared: too little ${what} is left for ${sharing} more services.`
    desk.allows(at, 'budget', detail, next)
  }
  return Math.max(min, share)
}

const pidsOf = (desk: Desk, { asked, at }: Draft): number => {
  const { pids = PIDS_DEFAULT } = asked
  if (pids <= PIDS_MAX) return pids
  const detail = `${pids} processes are more than the ${PIDS_MAX} that a service may have.`
  return desk.allows(at, 'budget', detail, 'Lower pids_limit.') ? pids : PIDS_MAX
}

/** Limits by the name of the service. @param at the place of all services, for findings about their sum */
export const splitBudget = (desk: Desk, at: At, drafts: readonly Draft[]): Map<string, Limits> => {
  const { cpu, memory } = dimensionsOf(desk)
  const cpuShare = shareOf(desk, at, drafts, cpu)
  const memoryShare = shareOf(desk, at, drafts, memory)
  return new Map(
    drafts.map((draft) => [
      draft.name,
      {
        cpuMillis: draft.asked.cpuMillis ?? cpuShare,
        memoryBytes: draft.asked.memoryBytes ?? memoryShare,
        pids: pidsOf(desk, draft),
      },
    ]),
  )
}
