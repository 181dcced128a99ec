/** How `run` stands: what its rounds came to, written by the loop, read by the port that people who run the platform look at. */
import type { BoxStep } from '../plan/world.ts'
import type { Converged } from './converge.ts'

/** Who has to answer, or nothing is done. */
export type Partner = 'registry' | 'cloud'

export type RunStanding = {
  /** Whether they answered when they were last asked: true, or why not, in one line. */
  answered: Record<Partner, true | string>
  /** Since when they are being asked; null: they are not. */
  askedMs: Record<Partner, number | null>
  /** When the last round ended well, on the clock of the loop; null: none has. */
  wellAtMs: number | null
  rounds: { well: number; failed: number }
  /** Of the last round. */
  instances: Record<Converged['state'], number>
  /** Effects that were begun, by what they do. */
  steps: Map<string, number>
  /** A month, as the inventory had it last. */
  orphanUsd: number
}

const UNASKED = 'nothing was asked of it yet'

export const newStanding = (): RunStanding => ({
  answered: { registry: UNASKED, cloud: UNASKED },
  askedMs: { registry: null, cloud: null },
  wellAtMs: null,
  rounds: { well: 0, failed: 0 },
  instances: { done: 0, waiting: 0, stuck: 0 },
  steps: new Map(),
  orphanUsd: 0,
})

const PAUSES: readonly string[] = ['done', 'wait', 'stuck']

/** Pauses are none. */
export const countStep = ({ steps }: RunStanding, step: BoxStep): void => {
  if (!PAUSES.includes(step.do)) steps.set(step.do, (steps.get(step.do) ?? 0) + 1)
}
