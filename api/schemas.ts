/** Small words for describing answers: JSON schemas with a description each. */
import type { JsonSchema } from '../crds/rest.ts'

export const text = (description: string): JsonSchema => ({ type: 'string', description })
export const textOrNull = (description: string): JsonSchema => ({ type: ['string', 'null'], description })
export const whole = (description: string): JsonSchema => ({ type: 'integer', description })
export const list = (description: string, items: JsonSchema): JsonSchema => ({ type: 'array', description, items })
export const object = (description: string, properties: Record<string, JsonSchema>): JsonSchema => ({
  type: 'object',
  description,
  properties,
})

/** What every list says beside its items. */
export const paging = {
  total: whole('How many there are over all pages.'),
  limit: whole('As asked.'),
  offset: whole('As asked.'),
}

/** The schema of a body with bodies that work as they stand; the tests send each of them. */
export const withExamples = (schema: JsonSchema, ...examples: object[]): JsonSchema => ({ ...schema, examples })
