/** Refusals of apps (CONTRACT sections 6 and 10). */
import type { ProblemEntry } from './entry.ts'

export const APP_PROBLEMS = {} as const satisfies Record<string, ProblemEntry>
