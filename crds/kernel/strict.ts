/**
 * A JSON schema in the form that endpoints of language models take for structured answers: every object closed, every
 * field required, null for what is not said, and only the words that all of them know. What comes back is judged by the
 * real schema all the same.
 */
import type { JsonSchema } from './rest.ts'

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** `schema` with null allowed beside it. */
export const orNull = (schema: JsonSchema): JsonSchema => ({
  ...schema,
  type: [schema.type, 'null'],
  ...(Array.isArray(schema.enum) && { enum: [...schema.enum, null] }),
})

/** @param schema of objects, lists and scalars, as `restSchema` gives */
export const strictSchema = (schema: JsonSchema): JsonSchema => {
  const { type, description, enum: words, items, properties } = schema
  const plain = {
    type,
    ...(description !== undefined && { description }),
    ...(Array.isArray(words) && { enum: words }),
  }
  if (isRecord(items)) return { ...plain, items: strictSchema(items) }
  if (!isRecord(properties)) return plain
  const required = Array.isArray(schema.required) ? schema.required : []
  const strict = Object.entries(properties).map(([name, child]) => {
    const one = strictSchema(child as JsonSchema)
    return [name, required.includes(name) ? one : orNull(one)]
  })
  return {
    ...plain,
    additionalProperties: false,
    required: Object.keys(properties),
    properties: Object.fromEntries(strict),
  }
}

/** The value without what was not said: null in an object is left out, at any depth. */
export const withoutNulls = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isRecord(value)) return value
  const said = Object.entries(value).filter(([, one]) => one !== null)
  return Object.fromEntries(said.map(([name, one]) => [name, withoutNulls(one)]))
}
