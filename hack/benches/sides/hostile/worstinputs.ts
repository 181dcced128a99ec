import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { NAMES_MAX, VALUES_MAX } from '../../../../api/http/reading/json.ts'
import { root } from '../../../lib/state.ts'

/**
 * The worst that a caller can put into the bodies of the REST API, derived from what the OpenAPI documents say of them: each
 * text of each body filled with what patterns, parsers and escapers are slowest at, and bodies that are wide, deep and
 * full of names that nobody knows.
 */

export type WorstInput = { what: string; method: string; path: string; body: string }

type Schema = {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  additionalProperties?: Schema | boolean
}
type Operation = { requestBody?: { content?: Record<string, { schema?: Schema }> } }
type Document = {
  paths: Record<string, Record<string, Operation>>
  components: { schemas?: Record<string, Schema> }
}

/** What is repeated, and what stands at the end so that a match fails late. */
const TEXTS: readonly [what: string, each: string, last: string][] = [
  ['blanks', ' ', '!'],
  ['digits and underscores', '1_', '!'],
  ['token heads', 'eyJ', '.'],
  ['one letter', 'a', '\u0000'],
  ['at signs', 'a@', ''],
  ['dots', 'a.', '-'],
  ['slashes', '../', '%'],
  ['schemes', 'http://', ' '],
  ['brackets', '[', ']'],
  ['tags', '<a ', '>'],
  ['line ends', '\r\n', 'x'],
  ['joined signs', 'e\u0301\u200d', 'x'],
  ['Arabic', '\u0644\u0627 ', 'x'],
]

const DEPTH = 6
/** As much as is taken; and names beyond it, which are refused before they are made. */
const WIDE_ITEMS = VALUES_MAX - 2_000
const UNKNOWN_NAMES = NAMES_MAX - 10
const TOO_MANY_NAMES = 45_000

const documents = (): Document[] =>
  globSync('api/openapi/*.json', { cwd: root }).map((path) => JSON.parse(readFileSync(join(root, path), 'utf8')))

type Filling = { document: Document; text: string }

const named = ({ document }: Filling, { $ref = '' }: Schema): Schema =>
  document.components.schemas?.[$ref.replace('#/components/schemas/', '')] ?? {}

const fillObject = (filling: Filling, { properties, additionalProperties }: Schema, depth: number): unknown => {
  if (properties)
    return Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, fill(filling, one, depth)]))
  if (typeof additionalProperties !== 'object') return {}
  return { [filling.text.slice(0, 200)]: fill(filling, additionalProperties, depth) }
}

/** Text where text may stand, one item where a list may, and all fields at once. */
const fill = (filling: Filling, schema: Schema, depth = 0): unknown => {
  if (depth > DEPTH) return null
  if (schema.$ref) return fill(filling, named(filling, schema), depth)
  const [branch] = schema.anyOf ?? schema.oneOf ?? []
  if (branch) return fill(filling, branch, depth)
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map((one) => fill(filling, one, depth)))
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  if (schema.properties || type === 'object') return fillObject(filling, schema, depth + 1)
  if (type === 'array') return [fill(filling, schema.items ?? {}, depth + 1)]
  if (type === 'integer' || type === 'number') return 1
  return type === 'boolean' ? true : filling.text
}

const MARK = 'x-worst-x'
const filled = (document: Document, schema: Schema, bytes: number, [, each, last]: (typeof TEXTS)[number]): string => {
  const places = Math.max(1, JSON.stringify(fill({ document, text: MARK }, schema)).split(MARK).length - 1)
  const one = JSON.stringify(each).length - 2
  const text = each.repeat(Math.floor(bytes / places / one)) + last
  return JSON.stringify(fill({ document, text }, schema))
}

const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`

const unknownNames = (count: number): string => `{${Array.from({ length: count }, (_, n) => `"k${n}":1`).join(',')}}`

/** Bodies that are wrong as a whole. */
const shapes: readonly [what: string, body: () => string][] = [
  ['a wide list', () => `{"items":[${'1,'.repeat(WIDE_ITEMS)}1]}`],
  ['wide objects', () => `{"items":[${'{},'.repeat(WIDE_ITEMS / 2)}{}]}`],
  ['unknown names', () => unknownNames(UNKNOWN_NAMES)],
  ['far more unknown names', () => unknownNames(TOO_MANY_NAMES)],
  ['a list of short texts', () => `[${Array.from({ length: WIDE_ITEMS }, (_, n) => `"s${n}"`).join(',')}]`],
  ['levels', () => nested(30)],
]

/** @param bytes sizes of the bodies of text, each about so many bytes */
export const worstInputs = (bytes: readonly number[]): WorstInput[] =>
  documents().flatMap((document) =>
    Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.entries(operations).flatMap(([method, operation]) => {
        const schema = operation.requestBody?.content?.['application/json']?.schema
        if (!schema) return []
        const at = { method: method.toUpperCase(), path: path.replace(/\{\w+\}/g, `inv_${'0'.repeat(28)}`) }
        return [
          ...bytes.flatMap((size) =>
            TEXTS.map((text) => ({
              ...at,
              what: `${size / 1000} kB of ${text[0]}`,
              body: filled(document, schema, size, text),
            })),
          ),
          ...shapes.map(([what, body]) => ({ ...at, what, body: body() })),
        ]
      }),
    ),
  )
