/** What the world of a move is after each step that carries what the app keeps (stepped.ts has the others). */
import type { Carry } from '../../../../crds/app/lifecycle/keeping/moving/carry.ts'
import type { AppStep } from '../../../../crds/app/steps.ts'
import type { AppWorld, JobState } from '../../../../crds/app/world.ts'
import { happened } from './happened.ts'

const DONE: JobState = { state: 'exited', code: 0, log: '', cancelled: false }
const ABSENT: JobState = { state: 'absent' }
const PACK = `packed data 9 ${'1'.repeat(64)}`

/** As it is before anything was told to either host. */
export const aCarry = (change: Partial<Carry> = {}): Carry => ({
  ...{ unreachable: null, fate: 'none', watch: ABSENT, hold: ABSENT, place: ABSENT },
  ...{ laid: [], isFull: false, undone: null, isKept: false },
  ...change,
})

export const HELD: Partial<Carry> = {
  watch: { state: 'running' },
  hold: { ...DONE, log: `\nbottega: ${PACK}\nbottega: held 1\n` },
}

type CarryStep = Extract<
  AppStep,
  { do: 'holdVolumes' | 'carryVolumes' | 'placeVolumes' | 'passVolumes' | 'undoMove' | 'leaveHold' | 'keepThere' }
>

const CARRY_STEPS: readonly string[] = [
  ...['holdVolumes', 'carryVolumes', 'placeVolumes', 'passVolumes'],
  ...['undoMove', 'leaveHold', 'keepThere'],
]

export const isCarry = (step: AppStep): step is CarryStep => CARRY_STEPS.includes(step.do)

const known = (step: Exclude<CarryStep, { do: 'passVolumes' }>): Partial<Carry> => {
  switch (step.do) {
    case 'holdVolumes':
      return HELD
    case 'carryVolumes':
      return { laid: step.packs.map(({ bytes }) => bytes) }
    case 'placeVolumes':
      return { place: DONE }
    case 'undoMove':
      return { fate: 'back', undone: step.ending }
    case 'leaveHold':
      return { fate: 'left' }
    case 'keepThere':
      return { isKept: true }
    default:
      return step satisfies never
  }
}

export const carryStepped = (world: AppWorld, step: CarryStep): AppWorld => {
  if (step.do === 'passVolumes') {
    const { operation, message } = step
    return { ...happened(world, operation, { on: 'passed', step: 'volumes', known: {}, message }), job: ABSENT }
  }
  const { moving } = world
  return { ...world, moving: moving && { ...moving, carry: { ...(moving.carry ?? aCarry()), ...known(step) } } }
}
