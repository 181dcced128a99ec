/**
 * Parts that schemas have in common are compiled once. ajv writes the code of each place anew: the content of a site, which two
 * bodies hold in two checks each, was 130 MB of a process and over a second of its start.
 */
import type { Ajv2020 } from 'ajv/dist/2020.js'
import type { JsonSchema } from '../../../../crds/kernel/rest.ts'

/** JSON of a part. Of a shorter one a call costs more than its code. */
const PART_CHARS_MIN = 200

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const eachOf = <T>(value: unknown, change: (one: unknown) => T): unknown => {
  if (Array.isArray(value)) return value.map(change)
  return isSchema(value) ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, change(one)])) : value
}

/** Words whose value is a schema, and those that hold several, in a list or under names. */
const ONE = new Set(['items', 'additionalProperties', 'not', 'if', 'then', 'else', 'propertyNames', 'contains'])
const MANY = new Set(['properties', 'patternProperties', 'anyOf', 'oneOf', 'allOf', 'prefixItems'])

export type Parts = {
  /** The same schema, its parts by reference. */
  byParts: (schema: object) => object
  /** Of the parts met so far, as ajv knows them. */
  names: () => string[]
}

/** @param ajv to which the parts are added, under names of their own */
export const makeParts = (ajv: Ajv2020): Parts => {
  const names = new Map<string, string>()
  const within = (schema: JsonSchema): JsonSchema =>
    Object.fromEntries(
      Object.entries(schema).map(([word, value]) => {
        if (ONE.has(word)) return [word, part(value)]
        return [word, MANY.has(word) ? eachOf(value, part) : value]
      }),
    )
  const part = (schema: unknown): unknown => {
    if (!isSchema(schema)) return schema
    const text = JSON.stringify(schema)
    if (text.length < PART_CHARS_MIN) return schema
    let name = names.get(text)
    if (name === undefined) {
      name = `urn:bottega:part:${names.size}`
      names.set(text, name)
      ajv.addSchema({ ...within(schema), $id: name })
    }
    return { $ref: name }
  }
  return { byParts: (schema) => within(schema as JsonSchema), names: () => [...names.values()] }
}
