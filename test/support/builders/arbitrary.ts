/** Values that a schema may hold, and texts that it would refuse: for a part that has to bear anything. */
import fc, { type Arbitrary } from 'fast-check'
import { isObject, type Schema } from '../../../crds/kernel/schema.ts'

const LIST_MAX = 4

/**
 * Values of the schema's shape. Texts are any texts at all, whatever pattern the schema has for them.
 * @param texts by the last key of the path, where a text cannot be just any
 */
export const arbitraryOf = (schema: Schema, texts: Record<string, Arbitrary<string>>, key = ''): Arbitrary<unknown> => {
  switch (schema.type) {
    case 'string':
      if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
      return texts[key] ?? fc.string({ unit: 'binary', minLength: schema.minLength ?? 0, maxLength: 40 })
    case 'integer':
      return fc.integer({ min: schema.minimum ?? 0, max: schema.maximum ?? 1000 })
    case 'boolean':
      return fc.boolean()
    case 'array':
      return fc.array(arbitraryOf(schema.items, texts, key), { minLength: schema.minItems ?? 0, maxLength: LIST_MAX })
    case 'map':
      return fc.dictionary(fc.string(), arbitraryOf(schema.values, texts, key), { maxKeys: LIST_MAX })
    case 'object': {
      if (!isObject(schema)) return fc.constant({})
      const fields: Record<string, Arbitrary<unknown>> = Object.fromEntries(
        Object.entries(schema.properties).map(([name, child]) => [name, arbitraryOf(child, texts, name)]),
      )
      return fc.record(fields, { requiredKeys: [...(schema.required ?? [])] })
    }
    default: {
      const never: never = schema
      throw new Error(String(never))
    }
  }
}
