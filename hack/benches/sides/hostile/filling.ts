/** What a schema asks for, with one text in all places where a text may stand. */
import { compileCheck } from '../../../../api/http/validate.ts'

export type DocumentSchema = {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  examples?: unknown[]
  pattern?: string
  format?: string
  maxLength?: number
  maxItems?: number
  required?: string[]
  properties?: Record<string, DocumentSchema>
  items?: DocumentSchema
  anyOf?: DocumentSchema[]
  oneOf?: DocumentSchema[]
  allOf?: DocumentSchema[]
  additionalProperties?: DocumentSchema | boolean
}

export type Filling = {
  schemas: Readonly<Record<string, DocumentSchema>>
  text: string
  /** Which branch is taken where there are several. */
  variant: number
  /** Items of each list, where it may have so many. */
  items: number
  /** Only what the schema lets through, so that what stands behind it gets it. */
  isFitting: boolean
}

const DEPTH = 6

const named = ({ schemas }: Filling, { $ref = '' }: DocumentSchema): DocumentSchema =>
  schemas[$ref.replace('#/components/schemas/', '')] ?? {}

export const branchesOf = ({ anyOf, oneOf }: DocumentSchema): readonly DocumentSchema[] => anyOf ?? oneOf ?? []

const pick = <T>(from: readonly T[], variant: number): T | undefined => from[variant % from.length]

const cut = (text: string, { maxLength = text.length }: DocumentSchema): string => text.slice(0, maxLength)

const checks = new Map<DocumentSchema, ReturnType<typeof compileCheck>>()
/** By the judge of the api. */
const fits = (schema: DocumentSchema, text: string): boolean => {
  const check = checks.get(schema) ?? compileCheck(schema)
  checks.set(schema, check)
  return check(text).length === 0
}

/** A text of a shape that this one has not is left out, or is an example. */
const isShaped = ({ text }: Filling, schema: DocumentSchema): boolean =>
  schema.format !== undefined || (schema.pattern !== undefined && !fits(schema, cut(text, schema).slice(0, 200)))

const fillObject = (filling: Filling, schema: DocumentSchema, depth: number): unknown => {
  const { properties, additionalProperties, required = [] } = schema
  if (properties) {
    const taken = Object.entries(properties).filter(
      ([name, one]) =>
        !filling.isFitting || required.includes(name) || !isShaped(filling, one) || one.examples !== undefined,
    )
    return Object.fromEntries(taken.map(([name, one]) => [name, fill(filling, one, depth)]))
  }
  if (typeof additionalProperties !== 'object') return {}
  return { [filling.text.slice(0, 200)]: fill(filling, additionalProperties, depth) }
}

const fillText = (filling: Filling, schema: DocumentSchema): unknown => {
  const { text, isFitting, variant } = filling
  if (!isFitting) return text
  if (schema.enum) return pick(schema.enum, variant)
  return isShaped(filling, schema) ? (schema.examples?.[0] ?? text) : cut(text, schema)
}

const fillValue = (filling: Filling, schema: DocumentSchema, depth: number): unknown => {
  const type = Array.isArray(schema.type) ? pick(schema.type, filling.variant) : schema.type
  if (schema.properties || type === 'object') return fillObject(filling, schema, depth + 1)
  if (type === 'array') {
    const one = fill(filling, schema.items ?? {}, depth + 1)
    return Array.from({ length: Math.min(filling.items, schema.maxItems ?? filling.items) }, () => one)
  }
  if (type === 'integer' || type === 'number') return 1
  if (type === 'null') return null
  return type === 'boolean' ? true : fillText(filling, schema)
}

/** Text where text may stand, and all fields at once. */
export const fill = (filling: Filling, schema: DocumentSchema, depth = 0): unknown => {
  if (depth > DEPTH) return null
  if (schema.$ref) return fill(filling, named(filling, schema), depth)
  if (filling.isFitting && schema.const !== undefined) return schema.const
  const branch = pick(branchesOf(schema), filling.variant)
  if (branch) return fill(filling, branch, depth)
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map((one) => fill(filling, one, depth)))
  return fillValue(filling, schema, depth)
}

/** How many variants there are until each branch of each choice was taken once. */
export const variantsOf = (schemas: Filling['schemas'], schema: DocumentSchema, depth = 0): number => {
  if (depth > DEPTH) return 1
  if (schema.$ref)
    return variantsOf(schemas, schemas[schema.$ref.replace('#/components/schemas/', '')] ?? {}, depth + 1)
  const within = [
    ...branchesOf(schema),
    ...(schema.allOf ?? []),
    ...Object.values(schema.properties ?? {}),
    ...(schema.items ? [schema.items] : []),
    ...(typeof schema.additionalProperties === 'object' ? [schema.additionalProperties] : []),
  ]
  const types = Array.isArray(schema.type) ? schema.type.length : 1
  return Math.max(branchesOf(schema).length, types, ...within.map((one) => variantsOf(schemas, one, depth + 1)))
}
