/** What a caller may be refused with, as the table of transitions says: the OpenAPI of the routes is made from it. */
import type { ProblemCode } from '../../kernel/problem.ts'
import type { Trigger } from '../protocol.ts'
import { STATES } from '../schema.ts'
import { RESERVATION_RULES } from './guards.ts'
import { codeOutside } from './refusal.ts'
import { VERSIONED } from './table.ts'
import { TRANSITIONS } from './transitions.ts'

/** In the order of the alphabet, each once. */
export const codesOf = (trigger: Trigger): ProblemCode[] => {
  const rows = TRANSITIONS.filter(({ on }) => on === trigger)
  const guards = rows.flatMap(({ guards: all, records = [] }) => [...all, ...records].map(({ code }) => code))
  const outside = STATES.filter((state) => !rows.some(({ from }) => from.includes(state)))
  const codes = [...guards, ...outside.map((state) => codeOutside(trigger, state))]
  return [...new Set(VERSIONED.includes(trigger) ? [...codes, 'VERSION_CONFLICT' as const] : codes)].sort()
}

/** CAPABILITY_REQUIRED stands with every route that demands a capability. */
export const RESERVATION_CODES: ProblemCode[] = RESERVATION_RULES.map(({ code }) => code).filter(
  (code) => code !== 'CAPABILITY_REQUIRED',
)
