/** Refusals of websites (spec/2 Errors; CONTRACT sections 5 and 10). */
import type { ProblemEntry } from './entry.ts'

export const SITE_PROBLEMS = {} as const satisfies Record<string, ProblemEntry>
