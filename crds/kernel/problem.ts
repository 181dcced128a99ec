/**
 * The catalogue of refusals: code → HTTP status, title, next step, put together from the surfaces' own lists. One catalogue
 * feeds REST answers, `Stalled` conditions, the OpenAPI and the documentation pages. A code never changes (rules/platform.md#errors).
 */
import { APP_PROBLEMS } from '../problems/apps.ts'
import { COLLECT_PROBLEMS } from '../problems/collect.ts'
import { COMMON_PROBLEMS } from '../problems/common.ts'
import { DEVINSTANCE_PROBLEMS } from '../problems/devinstances.ts'
import type { ProblemEntry } from '../problems/entry.ts'
import { HOST_PROBLEMS } from '../problems/hosts.ts'
import { INVOICE_PROBLEMS } from '../problems/invoices.ts'
import { SITE_PROBLEMS } from '../problems/sites.ts'
import { WEBHOOK_PROBLEMS } from '../problems/webhooks.ts'

export const PROBLEMS = {
  ...COMMON_PROBLEMS,
  ...INVOICE_PROBLEMS,
  ...COLLECT_PROBLEMS,
  ...HOST_PROBLEMS,
  ...SITE_PROBLEMS,
  ...APP_PROBLEMS,
  ...DEVINSTANCE_PROBLEMS,
  ...WEBHOOK_PROBLEMS,
} as const satisfies Record<string, ProblemEntry>

export type ProblemCode = keyof typeof PROBLEMS

export const isProblemCode = (word: string): word is ProblemCode => Object.hasOwn(PROBLEMS, word)

/** One finding about one place. `pointer` is a JSON pointer into the request body (or the spec, for kubectl). */
export type Fault = { code: ProblemCode; pointer: string; detail: string }
