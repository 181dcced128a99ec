/** Refusals of dev instances (spec/3 Errors; CONTRACT section 10). */
import type { ProblemEntry } from './entry.ts'

export const DEVINSTANCE_PROBLEMS = {} as const satisfies Record<string, ProblemEntry>
