import type { Schema } from '../../../crds/kernel/schema.ts'
import { KINDS } from '../../../crds/kinds.ts'
import { assert, spec } from '../../support/runner/spec.ts'

/** Specs are kept as they are (hack/decisions/037): what is secret must never get into one. */

const TELLING = /pass|secret|token|private|credential|seal|key/i
/** A public key, and numbers of what is stored elsewhere. */
const HARMLESS = new Set([
  'Host.hostKey',
  'Host.credentialVersion',
  'App.passwordVersion',
  'Invoice.linkVersions.password',
])

const pathsIn = (schema: Schema, path: string): string[] => {
  const { properties, items, additionalProperties } = schema as {
    properties?: Record<string, Schema>
    items?: Schema
    additionalProperties?: Schema | boolean
  }
  return [
    path,
    ...Object.entries(properties ?? {}).flatMap(([name, inner]) => pathsIn(inner, `${path}.${name}`)),
    ...(items ? pathsIn(items, `${path}[]`) : []),
    ...(typeof additionalProperties === 'object' ? pathsIn(additionalProperties, `${path}.*`) : []),
  ]
}

spec('a spec', (t) => {
  t('has no field for a secret', () => {
    const found = KINDS.flatMap(({ kind, spec: schema }) => pathsIn(schema, kind)).filter((path) =>
      TELLING.test(path.split('.').at(-1) ?? ''),
    )
    assert.equal(
      found.filter((path) => !HARMLESS.has(path)),
      [],
    )
  })
})
