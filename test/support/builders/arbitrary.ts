/** Values that a schema may hold, such as just fit, such as just do not, and such as are something else. */
import fc, { type Arbitrary } from 'fast-check'
import { isObject, type Schema, type StringSchema } from '../../../crds/kernel/schema.ts'

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

/** Of each list, in a value that is not about its length. */
const FEW_MAX = 3
const STRANGE = [
  '',
  ' ',
  'a\nb',
  'a\tb',
  '\u0000',
  '\u202e',
  '\u2066',
  'é',
  'e\u0301',
  '😀',
  '\u00a0',
  'a'.repeat(65),
  '-',
  '1e3',
  '01',
  '２',
]
const OTHER: readonly unknown[] = ['1', 1, 1.5, true, [], {}, [null], -0, 1e21]

const ofLength = (length: number): Arbitrary<string> =>
  fc.constantFrom('a', '0', '😀').map((unit) => unit.repeat(Math.max(0, length)))

const fitting = ({ pattern, format, minLength = 0, maxLength = 60 }: StringSchema): Arbitrary<string> => {
  if (format === 'date') return fc.constantFrom('2026-12-20', '2028-02-29')
  if (format === 'date-time') return fc.constantFrom('2026-12-20T10:00:00Z')
  if (pattern !== undefined)
    return fc.stringMatching(new RegExp(pattern), { size: '-1' }).filter((one) => [...one].length <= maxLength)
  return fc.string({ minLength, maxLength: Math.min(maxLength, minLength + 20) })
}

const textAtEdge = (schema: StringSchema): Arbitrary<unknown> => {
  const { enum: words, format, minLength = 0, maxLength = 200 } = schema
  if (words !== undefined) return fc.constantFrom(...words, `${words[0]} `, `${words[0]}`.toUpperCase(), '')
  const days = ['2026-02-29', '2026-1-1', '2026-13-01', '0000-01-01', '2026-12-20T10:00:00Z', '2026-12-20 ']
  return fc.oneof(
    fc.constantFrom(...STRANGE),
    ...(format === 'date' ? [fc.constantFrom(...days)] : []),
    ofLength(maxLength),
    ofLength(maxLength + 1),
    ofLength(minLength - 1),
    fitting(schema).map((one) => `${one}\n`),
  )
}

const integersAtEdge = ({ minimum = -5, maximum = 5 }: { minimum?: number; maximum?: number }) =>
  fc.constantFrom<unknown>(minimum - 1, minimum, maximum, maximum + 1, minimum + 0.5, 0, -0)

/** Weights are whole numbers. */
const parts = (share: number): number => Math.round(share * 24)

/** @param odd how often, of a hundred, a part is at its edge or something else; null is never given (see the test) */
export const edgesOf = (schema: Schema, odd: number): Arbitrary<unknown> => {
  const else_ = { weight: parts(odd / 3), arbitrary: fc.constantFrom(...OTHER) }
  const edge = (arbitrary: Arbitrary<unknown>) => ({ weight: parts(odd), arbitrary })
  const good = (arbitrary: Arbitrary<unknown>) => ({ weight: parts(100), arbitrary })
  switch (schema.type) {
    case 'string': {
      const words = schema.enum
      return fc.oneof(
        good(words === undefined ? fitting(schema) : fc.constantFrom(...words)),
        edge(textAtEdge(schema)),
        else_,
      )
    }
    case 'integer': {
      const { minimum: min = 0, maximum: max = 1000 } = schema
      return fc.oneof(good(fc.integer({ min, max })), edge(integersAtEdge(schema)), else_)
    }
    case 'boolean':
      return fc.oneof(good(fc.boolean()), else_)
    case 'array': {
      const { minItems = 0, maxItems = FEW_MAX } = schema
      const some = fc.array(edgesOf(schema.items, odd), {
        minLength: minItems,
        maxLength: Math.min(maxItems, minItems + FEW_MAX),
      })
      const many = fc
        .tuple(edgesOf(schema.items, 0), fc.constantFrom(maxItems, maxItems + 1))
        .map(([one, count]) => Array(count).fill(one))
      return fc.oneof(good(some), ...(maxItems <= 50 ? [edge(many)] : []), else_)
    }
    case 'map':
      return fc.oneof(
        good(fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), edgesOf(schema.values, odd), { maxKeys: FEW_MAX })),
        else_,
      )
    case 'object': {
      if (!isObject(schema)) {
        const scalars = fc.oneof(fc.string({ maxLength: 8 }), fc.integer(), fc.boolean())
        return fc.oneof(good(fc.dictionary(fc.stringMatching(/^[a-z_]{1,8}$/), scalars, { maxKeys: FEW_MAX })), else_)
      }
      const fields = Object.fromEntries(
        Object.entries(schema.properties).map(([name, child]) => [name, edgesOf(child, odd)]),
      )
      const required = fc.record(fields, { requiredKeys: [...(schema.required ?? [])] })
      const lacking = fc.record(fields, { requiredKeys: [] })
      const strange = required.map((one) => ({ ...one, unheardOf: 1 }))
      return fc.oneof(
        good(required),
        { weight: parts(odd / 4), arbitrary: lacking },
        { weight: parts(odd / 8), arbitrary: strange },
        { weight: parts(odd / 6), arbitrary: fc.constantFrom(...OTHER) },
      )
    }
    default: {
      const never: never = schema
      throw new Error(String(never))
    }
  }
}
