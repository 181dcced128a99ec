/**
 * The few schema words that a kind is described with, and the TypeScript type that follows from them.
 * Limited to what ajv, a CustomResourceDefinition and OpenAPI all understand, so that one literal feeds all of them.
 *
 * - `object` has fixed `properties`; with `x-open` it is a map of scalars that is kept verbatim (`metadata`).
 * - `map` has free keys and `values` of one shape.
 * - `x-text`: `line` refuses control characters and bidi overrides; `block` is the same with line feeds and tabs allowed.
 * - `x-rest`: `hidden` never crosses REST; `decimal` is a decimal string in the resource and a JSON number over REST.
 * - `x-immutable`: fixed at creation, adding and removing included; the code is what REST answers.
 * - `x-code`: a value outside its rules is refused with this code instead of INVALID_FIELD.
 * - `title`: the name, in PascalCase, that OpenAPI documents know an object, or a long list of words, by.
 * - `x-list`: how server-side apply merges a list.
 */
import type { ProblemCode } from './problem.ts'

/** A rule in CEL, with a message that starts with the REST code. `fieldPath` is relative to the node (`.issuerId`). */
export type CelRule = {
  rule: string
  message: string
  reason?: 'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired'
  fieldPath?: string
}

type Common = {
  description: string
  'x-immutable'?: ProblemCode
  'x-code'?: ProblemCode
  'x-rest'?: 'hidden' | 'decimal'
  'x-cel'?: readonly CelRule[]
}

export type StringSchema = Common & {
  type: 'string'
  title?: string
  enum?: readonly string[]
  /** Written so that JavaScript (with the u flag) and RE2 read the same. */
  pattern?: string
  format?: 'date' | 'date-time'
  minLength?: number
  maxLength?: number
  default?: string
  'x-text'?: 'line' | 'block'
}
export type IntegerSchema = Common & { type: 'integer'; minimum?: number; maximum?: number; default?: number }
export type BooleanSchema = Common & { type: 'boolean'; default?: boolean }
export type ArraySchema = Common & {
  type: 'array'
  items: Schema
  minItems?: number
  maxItems?: number
  default?: readonly unknown[]
  'x-list'?: 'atomic' | 'set' | { readonly map: string }
}
export type MapSchema = Common & { type: 'map'; values: Schema; maxProperties?: number }
export type OpenSchema = Common & { type: 'object'; 'x-open': true; maxProperties?: number }
export type ObjectSchema = Common & {
  type: 'object'
  title?: string
  properties: Readonly<Record<string, Schema>>
  required?: readonly string[]
}
export type Schema = StringSchema | IntegerSchema | BooleanSchema | ArraySchema | MapSchema | OpenSchema | ObjectSchema

type Flat<T> = { [K in keyof T]: T[K] }
type RequiredKeys<S> = S extends { required: readonly (infer K)[] } ? K : never
/** A property with a default is always there once the API server has read the object. */
type PresentKeys<S, P> = {
  [K in keyof P]: K extends RequiredKeys<S> ? K : P[K] extends { default: unknown } ? K : never
}[keyof P]

/** The type of a value that the API server has accepted and filled with its defaults. */
export type Infer<S> = S extends { type: 'object'; properties: infer P }
  ? Flat<{ [K in PresentKeys<S, P>]: Infer<P[K]> } & { [K in Exclude<keyof P, PresentKeys<S, P>>]?: Infer<P[K]> }>
  : S extends { type: 'object'; 'x-open': true }
    ? Record<string, unknown>
    : S extends { type: 'map'; values: infer V }
      ? Record<string, Infer<V>>
      : S extends { type: 'array'; items: infer I }
        ? Infer<I>[]
        : S extends { type: 'string'; enum: readonly (infer E)[] }
          ? E
          : S extends { type: 'string' }
            ? string
            : S extends { type: 'integer' }
              ? number
              : S extends { type: 'boolean' }
                ? boolean
                : never

export const EMAIL_MAX = 254
/** One mail address, and nothing that a mail header could read as two. */
export const EMAIL_PATTERN =
  "^[A-Za-z0-9.!#$%&'*+/=?^_{|}~-]{1,64}@([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.)+[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$"

export const isObject = (schema: Schema): schema is ObjectSchema => schema.type === 'object' && 'properties' in schema

/** Characters that no text may hold: C0 and C1 controls and the marks that override the direction of writing. */
const FORBIDDEN = {
  line: [
    [0x00, 0x1f],
    [0x7f, 0x9f],
    [0x2028, 0x202e],
    [0x2066, 0x2069],
  ],
  block: [
    [0x00, 0x08],
    [0x0b, 0x1f],
    [0x7f, 0x9f],
    [0x202a, 0x202e],
    [0x2066, 0x2069],
  ],
} as const

const hex = (codePoint: number): string => codePoint.toString(16).toUpperCase()

/** The pattern of a text for JavaScript's u flag. A lone surrogate has no UTF-8 form, so it is refused too. */
export const textPattern = (text: 'line' | 'block'): string => {
  const unit = (codePoint: number) => `\\u${hex(codePoint).padStart(4, '0')}`
  return `^[^${FORBIDDEN[text].map(([from, to]) => `${unit(from)}-${unit(to)}`).join('')}\\uD800-\\uDFFF]*$`
}

/** The same pattern for RE2, which the API server uses. */
export const textPatternRe2 = (text: 'line' | 'block'): string => {
  const unit = (codePoint: number) => `\\x{${hex(codePoint)}}`
  return `^[^${FORBIDDEN[text].map(([from, to]) => `${unit(from)}-${unit(to)}`).join('')}]*$`
}

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Fills in defaults exactly as the API server does; the input is left as it is. */
export const withDefaults = <T = unknown>(schema: Schema, value: unknown): T => fill(schema, value) as T

const fill = (schema: Schema, value: unknown): unknown => {
  if (schema.type === 'array' && Array.isArray(value)) return value.map((item) => fill(schema.items, item))
  if (!isObject(schema) || !isPlainObject(value)) return value
  const filled = new Map(Object.entries(value).map(([key, child]) => [key, fillChild(schema, key, child)]))
  for (const [key, child] of Object.entries(schema.properties)) {
    if (!filled.has(key) && 'default' in child) filled.set(key, structuredClone(child.default))
  }
  return Object.fromEntries(filled)
}

const fillChild = (schema: ObjectSchema, key: string, value: unknown): unknown => {
  const child = Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined
  return child ? fill(child, value) : value
}
