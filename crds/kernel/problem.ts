/**
 * The catalogue of refusals: code → HTTP status, title, next step, put together from the kinds' own (crds/catalogue/). One catalogue
 * feeds REST answers, `Stalled` conditions, the OpenAPI and the documentation pages. A code never changes (rules/platform.md#errors).
 */
import { type Catalogued, catalogued } from '../catalogue/list.ts'
import type { ProblemEntry } from '../problems/entry.ts'

export type ProblemCode = Catalogued<'problems'>

export const PROBLEMS: Readonly<Record<ProblemCode, ProblemEntry>> = catalogued('problems')

export const isProblemCode = (word: string): word is ProblemCode => Object.hasOwn(PROBLEMS, word)

/** One finding about one place. `pointer` is a JSON pointer into the request body (or the spec, for kubectl). */
export type Fault = { code: ProblemCode; pointer: string; detail: string }
