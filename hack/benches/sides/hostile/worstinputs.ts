import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { NAMES_MAX, VALUES_MAX } from '../../../../api/http/reading/json.ts'
import { BODY_MAX_BYTES } from '../../../../api/http/reading/take.ts'
import type { RouteHead } from '../../../../api/http/route.ts'
import { allRoutes } from '../../../../api/wiring/routes.ts'
import { root } from '../../../lib/state.ts'
import { type Belongings, pathAmong } from './belongings.ts'
import { type DocumentSchema, fill, variantsOf } from './filling.ts'
import { bytesOf, composesOf, packedOf, picturesOf, type Special } from './special.ts'

/**
 * The worst that a caller can put into the bodies of the REST API, derived from what the OpenAPI documents say of them: each
 * text of each body filled with what patterns, parsers and escapers are slowest at, once as it comes and once so that the
 * schema lets it through; bodies that are wide, deep and full of names that nobody knows; and what only some routes read.
 */

/** `body` is made when it is sent: all of them at once would be gigabytes. */
export type WorstInput = {
  what: string
  method: string
  path: string
  headers: Record<string, string>
  bytes: number
  body(): string | Buffer
}

type Operation = { requestBody?: { content?: Record<string, { schema?: DocumentSchema }> } }
type Document = {
  paths: Record<string, Record<string, Operation>>
  components: { schemas?: Record<string, DocumentSchema> }
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
  ['quotes', '"', 'x'],
  ['backslashes', '\\', 'x'],
  ['joined signs', 'e\u0301\u200d', 'x'],
  ['Arabic', '\u0644\u0627 ', 'x'],
]

/** As much as is taken; and names beyond it, which are refused before they are made. */
const WIDE_ITEMS = VALUES_MAX - 2_000
const UNKNOWN_NAMES = NAMES_MAX - 10
const TOO_MANY_NAMES = 45_000

const documents = (): Document[] =>
  globSync('api/openapi/*.json', { cwd: root }).map((path) => JSON.parse(readFileSync(join(root, path), 'utf8')))

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

const MARK = 'x-worst-x'
const ITEMS = 20

type Texted = {
  schema: DocumentSchema
  schemas: Record<string, DocumentSchema>
  bytes: number
  isFitting: boolean
  variant: number
}

/** The text is as long as makes the whole body so large. */
const filled = ({ schema, bytes, ...how }: Texted, [, each, last]: (typeof TEXTS)[number]): string => {
  const of = (text: string) => JSON.stringify(fill({ ...how, text, items: how.variant % 2 === 0 ? 1 : ITEMS }, schema))
  const places = Math.max(1, of(MARK).split(MARK).length - 1)
  const one = JSON.stringify(each).length - 2
  return of(each.repeat(Math.max(1, Math.floor((bytes - 2_000) / places / one))) + last)
}

const JSON_HEADERS = { 'content-type': 'application/json' }
const kilobytes = (bytes: number): string => `${Math.round(bytes / 1000)} kB`

type At = { method: string; path: string }
type Described = At & { schema: DocumentSchema; schemas: Record<string, DocumentSchema> }

/** Every text in each size; the branches of the body go round with them until each has been taken. */
const textsOf = ({ method, path, ...of }: Described, sizes: readonly number[]): WorstInput[] =>
  sizes.flatMap((bytes, size) => {
    const count = Math.max(TEXTS.length, variantsOf(of.schemas, of.schema))
    return Array.from({ length: count }, (_, variant): WorstInput => {
      const text = TEXTS[variant % TEXTS.length] ?? TEXTS[0]
      const isFitting = (variant + size) % 2 === 1
      const what = `${kilobytes(bytes)} of ${text?.[0]}${isFitting ? ' that fits' : ''}, branch ${variant}`
      const body = () => (text ? filled({ ...of, bytes, isFitting, variant }, text) : '')
      return { method, path, headers: JSON_HEADERS, what, bytes, body }
    })
  })

const inputOf = ({ method, path }: At, bytes: number, special: Special): WorstInput => {
  const { what, contentType, encoding, body } = special
  const headers = { 'content-type': contentType, ...(encoding !== undefined && { 'content-encoding': encoding }) }
  return { method, path, headers, what, bytes, body }
}

const FORM = 'application/x-www-form-urlencoded'
/** Of what is described as bytes so much is sent; more of it costs the sender and tells nothing new. */
const BYTES_MOST = 15_000_000

const capOf = ({ bodyMaxBytes = BODY_MAX_BYTES }: RouteHead): number => bodyMaxBytes
const typesOf = (route: RouteHead): readonly string[] => {
  if (!route.hidden) return route.bytesTypes ?? []
  return route.method === 'GET' || route.body ? [] : [FORM]
}

/** What a route that is described reads beside texts. */
const specialsOf = (at: At, { schema }: Described, cap: number): WorstInput[] => {
  const { properties = {} } = schema
  const specials = [
    ...(properties.compose ? composesOf(BODY_MAX_BYTES) : []),
    ...(properties.content && properties.assets ? picturesOf(cap) : []),
    ...packedOf(Math.min(cap, BYTES_MOST)),
  ]
  return specials.map((one) => inputOf(at, cap, one))
}

const describedOf = (documents: readonly Document[], route: RouteHead): Described | undefined => {
  const place = route.path.replace(/:(\w+)/g, '{$1}')
  for (const { paths, components } of documents) {
    const [method, path] = [route.method, route.path]
    const schema = paths[place]?.[method.toLowerCase()]?.requestBody?.content?.['application/json']?.schema
    const schemas = components.schemas ?? {}
    const name = schema?.$ref?.replace('#/components/schemas/', '')
    const whole = name === undefined ? schema : schemas[name]
    if (whole) return { method, path, schema: whole, schemas }
  }
  return undefined
}

/** Of large bodies never two one behind the other: who sends those is refused for their sum before any of them is read. */
const spread = (inputs: readonly WorstInput[]): WorstInput[] => {
  const large = inputs.filter(({ bytes }) => bytes > BODY_MAX_BYTES)
  const small = inputs.filter(({ bytes }) => bytes <= BODY_MAX_BYTES)
  const each = Math.max(1, Math.floor(small.length / Math.max(1, large.length)))
  return small
    .flatMap((one, n) => (n % each === 0 ? [one, ...large.slice(n / each, n / each + 1)] : [one]))
    .concat(large.slice(Math.ceil(small.length / each)))
}

const SMALL_BYTES = 60_000

/** @param belongings of whoever sends them */
export const worstInputs = (belongings: Belongings): WorstInput[] => {
  const all = documents()
  const inputs = allRoutes.flatMap((route) => {
    const cap = capOf(route)
    const at = { method: route.method, path: pathAmong(belongings, route.path) }
    const described = describedOf(all, route)
    const sizes = [...new Set([SMALL_BYTES, Math.min(cap, BODY_MAX_BYTES) - 5_000, Math.min(cap, BYTES_MOST) - 5_000])]
    const bytes = Math.min(cap, BYTES_MOST)
    return [
      ...(described ? textsOf({ ...described, ...at }, sizes) : []),
      ...(described ? specialsOf(at, described, cap) : []),
      ...(described
        ? shapes.map(([what, body]) => ({ ...at, headers: JSON_HEADERS, what, bytes: SMALL_BYTES, body }))
        : []),
      ...bytesOf(typesOf(route), bytes).map((one) => inputOf(at, bytes, one)),
    ]
  })
  return spread(inputs)
}
