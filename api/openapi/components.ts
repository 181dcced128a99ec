/** The components of an OpenAPI document: what a declaration names stands there once, and is referred to elsewhere. */
import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { nameOf } from '../../crds/kernel/named.ts'
import type { JsonSchema } from '../../crds/kernel/rest.ts'

type Section = 'schemas' | 'parameters' | 'headers' | 'responses'

const isNode = (value: unknown): value is object => typeof value === 'object' && value !== null

/** `Idempotency-Key`, `CLUSTER_UNKNOWN` and `operationId` → `IdempotencyKey`, `ClusterUnknown` and `OperationId`. */
export const pascalOf = (name: string): string =>
  name
    .split(/[^A-Za-z0-9]+/)
    .map((word) => (word === word.toUpperCase() ? word.toLowerCase() : word))
    .map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`)
    .join('')

/**
 * Gathers the components of one document.
 * @returns `refer`, which keeps a component and gives the reference to it, and throws when the name is another's;
 *   `schema`, which puts references in place of named schemas; and `all`, each section in the order of the alphabet
 */
export const makeComponents = () => {
  const kept: Record<Section, Map<string, JsonSchema>> = {
    headers: new Map(),
    parameters: new Map(),
    responses: new Map(),
    schemas: new Map(),
  }

  const refer = (section: Section, name: string, component: JsonSchema): JsonSchema => {
    assert(/^[A-Z][A-Za-z0-9]{0,80}$/.test(name), `${name} is a name in PascalCase`)
    const before = kept[section].get(name)
    assert(before === undefined || isDeepStrictEqual(before, component), `${name} names two different ${section}`)
    kept[section].set(name, component)
    return { $ref: `#/components/${section}/${name}` }
  }

  const partsOf = (node: object): unknown =>
    Array.isArray(node)
      ? node.map(shown)
      : Object.fromEntries(Object.entries(node).map(([word, value]) => [word, shown(value)]))

  const shown = (value: unknown): unknown => {
    if (!isNode(value)) return value
    const name = nameOf(value)
    return name === undefined ? partsOf(value) : refer('schemas', name, partsOf(value) as JsonSchema)
  }
  const schema = (declared: object): JsonSchema => shown(declared) as JsonSchema

  const all = (): Record<string, Record<string, JsonSchema>> =>
    Object.fromEntries(
      Object.entries(kept)
        .filter(([, components]) => components.size > 0)
        .map(([section, components]) => [section, Object.fromEntries([...components].sort(byName))]),
    )

  return { refer, schema, all }
}
export type Components = ReturnType<typeof makeComponents>

const byName = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1)
