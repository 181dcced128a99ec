/**
 * Code of checks that ajv wrote beforehand. The sources have none: a bundle has what `write.ts` says in place of `written`
 * (hack/container/bundle.ts), for to write it took most of a start.
 */
import { createHash } from 'node:crypto'
import type { ValidateFunction } from 'ajv/dist/2020.js'

/** `stopping` ends with the first finding, `thorough` reports all of them. */
export type CheckEngine = 'stopping' | 'thorough'

export type WrittenChecks = {
  /** By digest of the schema (`digestOf`). */
  checks: Readonly<Record<string, ValidateFunction>>
  /** All that it consists of. */
  functions: readonly ValidateFunction[]
}

export type WrittenEngines = Readonly<Record<CheckEngine, WrittenChecks>>

/** A schema that came to be another one since is not found, and compiled. */
export const digestOf = (schema: object): string =>
  createHash('sha256').update(JSON.stringify(schema)).digest('hex').slice(0, 32)

export const written: WrittenEngines | null = null
