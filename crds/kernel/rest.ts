/**
 * The REST side of a kind's schema: snake_case names, closed objects, decimals as JSON numbers.
 * Keys of open maps (`metadata`) belong to the caller and are never renamed.
 */
import assert from 'node:assert/strict'
import { isDeepStrictEqual } from '../values/compare.ts'
import { DECIMAL_MAX, DECIMALS_MAX, decimalOf, numberOf } from '../values/decimal.ts'
import type { Kind } from './kind.ts'
import { named } from './named.ts'
import type { Fault, ProblemCode } from './problem.ts'
import { isObject, type ObjectSchema, type Schema, textPattern, withDefaults } from './schema.ts'

/** A JSON Schema (2020-12, and so OpenAPI 3.1). */
export type JsonSchema = { [word: string]: unknown }

export const toSnake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
export const toCamel = (name: string): string => name.replace(/_([a-z0-9])/g, (_, letter) => letter.toUpperCase())

type Options = {
  /** For PATCH: nothing is required, and null takes a field away that may be absent. */ partial?: boolean
  /** How the surface writes its names; snake_case when left out. The spec's own are camelCase. */ names?:
    | 'snake'
    | 'camel'
}

/**
 * The closed JSON schema of a request body. `type` may be a list (`allowUnionTypes` in ajv), `format: date` stands where
 * a calendar date is meant. Patterns need the u flag.
 */
export const restSchema = (schema: ObjectSchema, options: Options = {}): JsonSchema => objectRest(schema, options)

const objectRest = (schema: ObjectSchema, { partial = false, names = 'snake' }: Options): JsonSchema => {
  const written = names === 'snake' ? toSnake : (name: string) => name
  const shown = Object.entries(schema.properties).filter(([, child]) => child['x-rest'] !== 'hidden')
  const required = (schema.required ?? []).filter((key) => shown.some(([name]) => name === key))
  const properties = shown.map(([name, child]) => {
    const rest = nodeRest(child, names)
    return [written(name), partial && !required.includes(name) ? { ...rest, ...nullable(rest) } : rest]
  })
  const rest: JsonSchema = {
    type: 'object',
    description: schema.description,
    additionalProperties: false,
    ...(required.length > 0 && !partial ? { required: required.map(written) } : {}),
    properties: Object.fromEntries(properties),
  }
  return schema.title === undefined || partial ? rest : named(schema.title, rest)
}

const nullable = (rest: JsonSchema): JsonSchema => ({
  type: [rest.type, 'null'],
  ...(Array.isArray(rest.enum) ? { enum: [...rest.enum, null] } : {}),
})

/** Words that mean the same in both worlds. `x-code` tells the API with which code to refuse. */
const SHARED =
  'enum pattern format minLength maxLength minimum maximum minItems maxItems maxProperties default x-code'.split(' ')

const nodeRest = (schema: Schema, names: 'snake' | 'camel'): JsonSchema => {
  const description = schema.description
  if (schema['x-rest'] === 'decimal') {
    const limits = { minimum: 0, maximum: numberOf(DECIMAL_MAX) }
    return { type: 'number', description: `${description} At most ${DECIMALS_MAX} decimals.`, ...limits }
  }
  if (isObject(schema)) return objectRest(schema, { names })
  const words = Object.fromEntries(
    SHARED.filter((word) => word in schema).map((word) => [word, Reflect.get(schema, word)]),
  )
  if (schema.type === 'map')
    return { type: 'object', description, ...words, additionalProperties: nodeRest(schema.values, names) }
  if (schema.type === 'object') {
    const code = schema['x-code'] ? { 'x-code': schema['x-code'] } : {}
    return {
      type: 'object',
      description,
      ...words,
      additionalProperties: { type: ['string', 'number', 'boolean'], ...code },
    }
  }
  if (schema.type === 'array') {
    // The API server takes nothing twice in a set.
    const unique = schema['x-list'] === 'set' && { uniqueItems: true }
    return { type: 'array', description, ...words, ...unique, items: nodeRest(schema.items, names) }
  }
  if (schema.type === 'string' && schema['x-text']) {
    return { type: 'string', description, pattern: textPattern(schema['x-text']), ...words }
  }
  const rest = { type: schema.type, description, ...words }
  return schema.type === 'string' && schema.title !== undefined ? named(schema.title, rest) : rest
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * The spec that a request body asks for, with its defaults and the hidden fields that the caller cannot set. The body has
 * passed `restSchema`; a number that is no decimal becomes its text, for `faultsOf` to refuse.
 */
export const toSpec = <Spec>(kind: Kind<Spec>, body: unknown, hidden: Partial<Spec> = {}): Spec =>
  withDefaults(kind.spec, { ...toPatch(kind, body), ...hidden })

/** A partial body in the names of the spec, as a JSON merge patch; nulls stay, nothing is filled in. */
export const toPatch = (kind: Pick<Kind, 'spec'>, body: unknown): Record<string, unknown> => {
  const renamed = rename(kind.spec, body, toCamel, (value) =>
    typeof value === 'number' ? (decimalOf(value) ?? String(value)) : value,
  )
  return isRecord(renamed) ? renamed : {}
}

/** A spec, or a part of it, in REST names; hidden fields are left out. */
export const toRest = (schema: ObjectSchema, spec: unknown): Record<string, unknown> => {
  const renamed = rename(schema, spec, toSnake, (value) => (typeof value === 'string' ? numberOf(value) : value))
  return isRecord(renamed) ? renamed : {}
}

const rename = (
  schema: Schema,
  value: unknown,
  name: (key: string) => string,
  decimal: (value: unknown) => unknown,
): unknown => {
  if (schema['x-rest'] === 'decimal') return decimal(value)
  if (schema.type === 'array' && Array.isArray(value))
    return value.map((item) => rename(schema.items, item, name, decimal))
  if (!isObject(schema) || !isRecord(value)) return value
  const toKey = name === toSnake ? (key: string) => key : toCamel
  const pairs = Object.entries(value).flatMap(([key, child]) => {
    const known = Object.hasOwn(schema.properties, toKey(key)) ? schema.properties[toKey(key)] : undefined
    if (known?.['x-rest'] === 'hidden') return []
    return [[name(key), known ? rename(known, child, name, decimal) : child]]
  })
  return Object.fromEntries(pairs)
}

/** `/items/0/unitCents` → `/items/0/unit_cents`. What follows `/metadata` belongs to the caller and stays. */
export const restPointer = (pointer: string): string => {
  const [head, ...tail] = pointer.split('/metadata/')
  return [toSnake(head ?? ''), ...tail].join('/metadata/')
}

/**
 * The code with which a fault at a pointer (spec or REST names) is refused: the nearest `x-code` on the way down,
 * else INVALID_FIELD.
 */
export const codeAt = (schema: ObjectSchema, pointer: string): ProblemCode => {
  let code: ProblemCode = 'INVALID_FIELD'
  let node: Schema | undefined = schema
  for (const segment of pointer.split('/').slice(1)) {
    node = childOf(node, toCamel(segment))
    if (!node) break
    code = node['x-code'] ?? code
  }
  return code
}

const childOf = (schema: Schema, name: string): Schema | undefined => {
  if (schema.type === 'array') return schema.items
  if (schema.type === 'map') return schema.values
  return isObject(schema) && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
}

/** The top-level fields that are fixed at creation and differ; both specs carry their defaults. */
export const fixedFaults = (schema: ObjectSchema, before: object, after: object): Fault[] =>
  Object.entries(schema.properties).flatMap(([name, child]) => {
    const code = child['x-immutable']
    if (!code || isDeepStrictEqual(Reflect.get(before, name), Reflect.get(after, name))) return []
    assert(!name.includes('/'), 'field names hold no slash')
    return [{ code, pointer: `/${name}`, detail: `${name} is fixed at creation` }]
  })
