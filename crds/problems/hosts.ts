/** Refusals about hosts (spec/2 Apps; CONTRACT section 6). */
import type { ProblemEntry } from './entry.ts'

export const HOST_PROBLEMS = {} as const satisfies Record<string, ProblemEntry>
