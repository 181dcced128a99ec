import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../lib/state.ts'

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
const WIDE_ITEMS = 95_000
const UNKNOWN_NAMES = 45_000

const documents = (): Document[] =>
  globSync('api/openapi/*.json', { cwd: root }).map((path) => JSON.parse(readFileSync(join(root, path), 'utf8')))

/** Text where text may stand, many items where a list may, and all fields at once. */
const fill = (document: Document, schema: Schema, text: string, depth = 0): unknown => {
  if (depth > DEPTH) return null
  const { $ref, allOf, anyOf, oneOf } = schema
  if ($ref) {
    const named = document.components.schemas?.[$ref.replace('#/components/schemas/', '')]
    return named ? fill(document, named, text, depth) : null
  }
  const branch = (anyOf ?? oneOf)?.[0]
  if (branch) return fill(document, branch, text, depth)
  if (allOf) return Object.assign({}, ...allOf.map((one) => fill(document, one, text, depth)))
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  if (schema.properties)
    return Object.fromEntries(
      Object.entries(schema.properties).map(([name, one]) => [name, fill(document, one, text, depth + 1)]),
    )
  if (type === 'array') return [fill(document, schema.items ?? {}, text, depth + 1)]
  if (type === 'object')
    return typeof schema.additionalProperties === 'object'
      ? { [text.slice(0, 200)]: fill(document, schema.additionalProperties, text, depth + 1) }
      : {}
  if (type === 'integer' || type === 'number') return 1
  if (type === 'boolean') return true
  return text
}

const MARK = 'x-worst-x'
const filled = (document: Document, schema: Schema, bytes: number, [, each, last]: (typeof TEXTS)[number]): string => {
  const places = Math.max(1, JSON.stringify(fill(document, schema, MARK)).split(MARK).length - 1)
  const one = JSON.stringify(each).length - 2
  return JSON.stringify(fill(document, schema, each.repeat(Math.floor(bytes / places / one)) + last))
}

const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`

/** Bodies that are wrong as a whole. */
const shapes: readonly [what: string, body: () => string][] = [
  ['a wide list', () => `{"items":[${'1,'.repeat(WIDE_ITEMS)}1]}`],
  ['wide objects', () => `{"items":[${'{},'.repeat(WIDE_ITEMS / 2)}{}]}`],
  ['unknown names', () => `{${Array.from({ length: UNKNOWN_NAMES }, (_, n) => `"k${n}":1`).join(',')}}`],
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
