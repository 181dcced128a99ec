/**
 * Kind → CustomResourceDefinition: structural, every node described, bounded so that the API server can price the CEL rules.
 * Objects stay open there (the API server prunes and, with strict validation, refuses what is unknown by itself).
 */

import type { Kind } from './kind.ts'
import { CATEGORY, GROUP, VERSION } from './object.ts'
import {
  type CelRule,
  isObject,
  type MapSchema,
  type ObjectSchema,
  type OpenSchema,
  type Schema,
  textPatternRe2,
} from './schema.ts'

export type Manifest = {
  apiVersion: string
  kind: string
  metadata: { name: string; namespace?: string; labels?: Record<string, string> }
  [field: string]: unknown
}

type Node = Record<string, unknown>

/** The CustomResourceDefinition of a kind. */
export const manifestOf = (kind: Kind): Manifest => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${kind.plural}.${GROUP}`, labels: { 'app.kubernetes.io/part-of': CATEGORY } },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: {
      kind: kind.kind,
      listKind: kind.listKind,
      plural: kind.plural,
      singular: kind.singular,
      shortNames: [...kind.shortNames],
      categories: [CATEGORY],
    },
    conversion: { strategy: 'None' },
    versions: [
      {
        name: VERSION,
        served: true,
        storage: true,
        subresources: { status: {}, ...scaleOf(kind) },
        selectableFields: kind.selectable.map((jsonPath) => ({ jsonPath })),
        additionalPrinterColumns: kind.columns.map(({ name, type, path, description, wide }) => ({
          name,
          type,
          jsonPath: path,
          description,
          priority: wide ? 1 : 0,
        })),
        schema: { openAPIV3Schema: rootOf(kind) },
      },
    ],
  },
})

const scaleOf = ({ scale }: Kind): Node =>
  scale === undefined ? {} : { scale: { specReplicasPath: scale.spec, statusReplicasPath: scale.status } }

const rootOf = (kind: Kind): Node => ({
  type: 'object',
  description: kind.description,
  required: ['spec'],
  properties: {
    apiVersion: { type: 'string', description: 'Group and version of this schema.' },
    kind: { type: 'string', description: 'The kind of resource.' },
    metadata: { type: 'object' }, // the API server allows no word more
    spec: nodeOf(kind.spec),
    status: nodeOf(kind.status),
  },
  ...validationsOf(kind.rules),
})

/** Words that mean the same in a CustomResourceDefinition. */
const SHARED =
  'type description enum pattern format minLength maxLength minimum maximum minItems maxItems maxProperties default'.split(
    ' ',
  )

/** The API server takes a list of anything where a text has a format (go-openapi), and the year 0000, which no calendar of ours has: a
 * rule that reads it refuses both. */
const isDateText: CelRule = {
  rule: 'self.getFullYear() >= 1',
  message: 'INVALID_FIELD: a date is a text of the year 0001 or later, as 2026-12-20',
}

const nodeOf = (schema: Schema): Node => {
  const words = Object.fromEntries(
    SHARED.filter((word) => word in schema).map((word) => [word, Reflect.get(schema, word)]),
  )
  const rules = validationsOf([
    ...(schema['x-cel'] ?? []),
    ...(isObject(schema) ? fixedRules(schema) : []),
    ...(schema.type === 'string' && schema.format === 'date' ? [isDateText] : []),
  ])
  return { ...words, ...shapeOf(schema), ...rules }
}

const shapeOf = (schema: Schema): Node => {
  switch (schema.type) {
    case 'string':
      return schema['x-text'] ? { pattern: textPatternRe2(schema['x-text']) } : {}
    case 'integer':
      return { format: 'int64' }
    case 'boolean':
      return {}
    case 'array':
      return { items: nodeOf(schema.items), ...listOf(schema['x-list']) }
    case 'map':
    case 'object':
      return objectOf(schema)
    default: {
      const never: never = schema
      throw new Error(String(never))
    }
  }
}

const objectOf = (schema: ObjectSchema | MapSchema | OpenSchema): Node => {
  if (schema.type === 'map') return { type: 'object', additionalProperties: nodeOf(schema.values) }
  if (!isObject(schema)) {
    const value = { description: 'A string, a number or a boolean.', 'x-kubernetes-preserve-unknown-fields': true }
    return { additionalProperties: value }
  }
  const properties = Object.entries(schema.properties).map(([name, child]) => [name, nodeOf(child)])
  return {
    ...(schema.required ? { required: [...schema.required] } : {}),
    properties: Object.fromEntries(properties),
  }
}

const listOf = (list: 'atomic' | 'set' | { readonly map: string } | undefined): Node => {
  if (list === undefined) return {}
  if (typeof list === 'string') return { 'x-kubernetes-list-type': list }
  return { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [list.map] }
}

/**
 * Rules on the parent, not on the field: a rule on a field is not asked when the field is added or taken away (the first
 * would need optionalOldSelf, the second cannot be said there at all).
 */
const fixedRules = (schema: ObjectSchema): CelRule[] =>
  Object.entries(schema.properties).flatMap(([name, child]) => {
    const code = child['x-immutable']
    if (!code) return []
    const always = schema.required?.includes(name) || 'default' in child
    const rule = always
      ? `self.${name} == oldSelf.${name}`
      : `has(self.${name}) ? has(oldSelf.${name}) && self.${name} == oldSelf.${name} : !has(oldSelf.${name})`
    return [{ rule, message: `${code}: ${name} is fixed at creation`, fieldPath: `.${name}` }]
  })

const validationsOf = (rules: readonly CelRule[]): Node =>
  rules.length === 0
    ? {}
    : { 'x-kubernetes-validations': rules.map((rule) => ({ reason: 'FieldValueInvalid', ...rule })) }
