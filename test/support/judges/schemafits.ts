/** A definition's schema as ajv judges it, to be held against REST and against the API server. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Kind } from '../../../crds/kernel/kind.ts'
import { manifestOf } from '../../../crds/kernel/manifest.ts'
import { isDay } from '../../../crds/values/calendar.ts'

type Node = { [word: string]: unknown }

export const testAjv = () => {
  const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true, ownProperties: true })
  ajv.addKeyword('x-code')
  ajv.addFormat('date', isDay)
  ajv.addFormat('date-time', true)
  return ajv
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value)

/** RE2's code points rewritten, and objects closed as strict field validation closes them. */
const asJsonSchema = (node: unknown): unknown => {
  if (Array.isArray(node)) return node.map(asJsonSchema)
  if (!isNode(node)) return node
  const words = Object.entries(node)
    .filter(([word, value]) => !word.startsWith('x-kubernetes') && !(word === 'format' && value === 'int64'))
    .map(([word, value]): [string, unknown] => {
      if (word === 'pattern') return [word, String(value).replace(/\\x\{([0-9A-F]+)\}/g, '\\u{$1}')]
      return [word, asJsonSchema(value)]
    })
  const closes = isNode(node.properties) && typeof node.description === 'string'
  return Object.fromEntries(closes ? [...words, ['additionalProperties', false]] : words)
}

/** Judges a spec by the definition's schema; CEL rules are not asked. */
export const schemaFits = (kind: Kind) => {
  const definition = manifestOf(kind).spec as { versions: { schema: { openAPIV3Schema: { properties: Node } } }[] }
  const spec = definition.versions[0]?.schema.openAPIV3Schema.properties.spec
  return testAjv().compile(asJsonSchema(spec) as Node)
}
