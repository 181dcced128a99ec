/** The row made again of all that was said, in the order of the decisions: what it is worth to have kept the facts. */
import type { Sayable } from '../world.ts'
import type { Surroundings } from './context.ts'
import { reserved } from './effects.ts'
import type { DevInstanceRow } from './row.ts'
import { decide } from './transitions.ts'

/** A fact that was decided: what was said, when, and what was seen around it. */
export type DecidedCall = Sayable & { at: string; around: Surroundings }

/** @returns the row as one more call leaves it; null before there was a reservation */
export const rebuiltAfter = (instance: DevInstanceRow | null, call: DecidedCall): DevInstanceRow | null => {
  if (call.trigger === 'reserve') return reserved(call.said)
  if (instance === null) return null
  const { trigger, said, at, around } = call
  const decision = decide(trigger, { instance, said: said as never, at, around })
  return decision.state === 'accepted' || decision.state === 'recorded' ? decision.instance : instance
}

/** @returns the row as these leave it; null before there was a reservation */
export const rebuilt = (calls: readonly DecidedCall[]): DevInstanceRow | null =>
  calls.reduce<DevInstanceRow | null>(rebuiltAfter, null)
