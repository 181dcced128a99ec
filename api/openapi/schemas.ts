/** Small words for describing answers: JSON schemas with a description each. */
import { named } from '../../crds/kernel/named.ts'
import type { JsonSchema } from '../../crds/kernel/rest.ts'

export const text = (description: string): JsonSchema => ({ type: 'string', description })
export const textOrNull = (description: string): JsonSchema => ({ type: ['string', 'null'], description })
export const whole = (description: string): JsonSchema => ({ type: 'integer', description })
export const flag = (description: string): JsonSchema => ({ type: 'boolean', description })
export const oneOf = (description: string, words: readonly string[]): JsonSchema => ({
  ...text(description),
  enum: [...words],
})
/** Names a resource for good. */
export const chosenName = (description: string): JsonSchema => ({
  ...text(description),
  pattern: '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$',
})
export const list = (description: string, items: JsonSchema): JsonSchema => ({ type: 'array', description, items })
export const object = (description: string, properties: Record<string, JsonSchema>): JsonSchema => ({
  type: 'object',
  description,
  properties,
})

/** An object that takes no other fields than these. */
export const closed = (schema: JsonSchema, required: string[] = []): JsonSchema => ({
  ...schema,
  additionalProperties: false,
  ...(required.length > 0 && { required }),
})

/** The schema of a body with bodies that work as they stand; the tests send each of them. */
export const withExamples = (schema: JsonSchema, ...examples: object[]): JsonSchema => ({ ...schema, examples })

/** Of an answer that is still to come (api/command/operation-routes.ts). */
export const operationId = text('Names the operation, where the verdict will stand.')

/** What is said beside an answer that is still to come. */
export const POLL_HEADERS = { location: 'Where the verdict will stand.', 'retry-after': 'Seconds to wait before that.' }

/**
 * An answer 202: what is known so far, and the operation where the verdict will stand.
 * @param known schemas by member
 */
export const pendingWith = (description: string, known: Record<string, JsonSchema>) => ({
  description,
  schema: object('What is known so far.', { operation_id: operationId, ...known }),
  headers: POLL_HEADERS,
})

/** The same as a component of its own. */
export const pendingOf = (name: string, description: string, known: Record<string, JsonSchema>) =>
  named(name, pendingWith(description, known))
