import { createRequire } from 'node:module'
import { compileFunction } from 'node:vm'
import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js'
import { withSample } from '../../../api/http/reading/base64.ts'
import { makeCompiler } from '../../../api/http/reading/checks/compiler.ts'
import { formats } from '../../../api/http/reading/checks/formats.ts'
import { writeChecks } from '../../../api/http/reading/checks/write.ts'
import { type CheckEngine, digestOf, type WrittenEngines, written } from '../../../api/http/reading/checks/written.ts'
import { makeShape } from '../../../api/http/shape.ts'
import { askedSchemas } from '../../../api/http/validate.ts'
import { allRoutes } from '../../../api/wiring/routes.ts'
import { buildBundle } from '../../../hack/container/bundle.ts'
import { assert, spec } from '../../support/runner/spec.ts'

/** Checks whose code was written beforehand judge as those that are compiled when they are asked for. */

const ENGINES: readonly CheckEngine[] = ['stopping', 'thorough']
const DEPTH_MAX = 12

type Schema = {
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  maxLength?: number
}

const TEXTS = [
  '',
  'a',
  '2026-12-20',
  '2026-12-20T10:00:00Z',
  '99',
  'https://example.com/a',
  'a'.repeat(300),
  'é😀',
  'data:image/png;base64,AAAA',
]

type Draw = () => number
const oneOf = <T>(of: readonly T[], draw: Draw): T | undefined => of[draw() % of.length]

/** Most fields, and one more now and then. */
const fieldsOf = ({ properties = {} }: Schema, draw: Draw, depth: number): object => {
  const fields = Object.entries(properties).filter(() => draw() % 4 !== 0)
  const known = fields.map(([name, one]) => [name, drawnOf(one, draw, depth + 1)])
  return Object.fromEntries(draw() % 8 === 0 ? [...known, ['strange', 1]] : known)
}

const ofType: Readonly<Record<string, (schema: Schema, draw: Draw, depth: number) => unknown>> = {
  object: fieldsOf,
  array: ({ items = {} }, draw, depth) => Array.from({ length: draw() % 3 }, () => drawnOf(items, draw, depth + 1)),
  integer: (_schema, draw) => oneOf([0, 1, 12, 2_026, -3, 1.5], draw),
  number: (_schema, draw) => oneOf([0, 0.5, 12, -3, 1e12], draw),
  boolean: (_schema, draw) => draw() % 2 === 0,
  null: () => null,
}

/** Values of a schema, each drawn otherwise: some fit, most have something wrong somewhere. */
const drawnOf = (schema: Schema, draw: Draw, depth = 0): unknown => {
  if (draw() % 12 === 0 || depth > DEPTH_MAX) return oneOf([null, 7, -1.5, 'strange', [], {}, true], draw)
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return oneOf(schema.enum, draw)
  const ways = schema.anyOf ?? schema.oneOf
  if (ways) return drawnOf(oneOf(ways, draw) ?? {}, draw, depth + 1)
  const type = Array.isArray(schema.type) ? oneOf(schema.type, draw) : schema.type
  return ofType[type ?? '']?.(schema, draw, depth) ?? oneOf(TEXTS, draw)
}

/** The same in each run (Park and Miller's generator). */
const drawing = (seed: number) => {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state >> 4
  }
}

/** What callers are told of a finding; its parent schema by what is read from it. */
const told = ({ instancePath, keyword, params, message, parentSchema }: ErrorObject) => {
  return { instancePath, keyword, params, message, parent: { ...parentSchema, $id: undefined } }
}
const findingsOf = (check: ValidateFunction, value: unknown) => (check(value) ? [] : (check.errors ?? []).map(told))

spec('checks that are written beforehand', (t) => {
  makeShape(allRoutes)
  const schemas = askedSchemas()
  const made = (text: string): WrittenEngines =>
    compileFunction(`return ${text}`, ['require', 'formats', 'withSample'])(
      createRequire(import.meta.url),
      formats,
      withSample,
    )

  t('are none of the sources', () => assert.is(written, null))

  t('are those of all bodies and queries of the routes, and of what judges a body by itself', () => {
    const digests = new Set(schemas.map(digestOf))
    for (const { body } of allRoutes) if (body) assert.ok(digests.has(digestOf(body)))
    assert.ok(digests.size > 100, String(digests.size))
    const { stopping, thorough } = made(writeChecks(schemas))
    for (const { checks } of [stopping, thorough]) assert.equal(new Set(Object.keys(checks)), digests)
  })

  t('find the same in the same order, in values that fit and in those that do not', () => {
    const all = made(writeChecks(schemas))
    const outcomes = { fit: 0, not: 0 }
    for (const engine of ENGINES) {
      const ajv = makeCompiler(engine, undefined)
      for (const schema of schemas) {
        const [compiled, ready] = [ajv.compile(schema), all[engine].checks[digestOf(schema)]]
        assert.ok(ready)
        const draw = drawing(schemas.indexOf(schema) + 1)
        const values = [{}, [], null, 'text', ...Array.from({ length: 12 }, () => drawnOf(schema, draw))]
        for (const value of values) {
          const found = findingsOf(compiled, value)
          assert.equal(findingsOf(ready, value), found, JSON.stringify(value).slice(0, 500))
          outcomes[found.length === 0 ? 'fit' : 'not'] += 1
        }
      }
    }
    assert.ok(outcomes.fit > 300 && outcomes.not > 1_000, JSON.stringify(outcomes))
  })

  t('are taken in place of those that are compiled, judge once for the engine, and keep nothing', () => {
    const body = { type: 'object', properties: { name: { type: 'string', maxLength: 3 } }, required: ['name'] }
    const { stopping } = made(writeChecks([body]))
    const compiler = makeCompiler('stopping', stopping)
    assert.ok(compiler.isWritten({ ...body }))
    assert.not.ok(compiler.isWritten({ ...body, required: [] }))
    const check = compiler.compile(body)
    assert.is(check, stopping.checks[digestOf(body)])
    assert.is(compiler.usesOfParts().length, stopping.functions.length)
    for (const use of compiler.usesOfParts()) use()
    assert.is(check.errors?.length, 1)
    compiler.forget()
    assert.is(check.errors, null)
    assert.equal(
      [{ name: 'abc' }, { name: 'abcd' }].map((value) => compiler.compile({ ...body, required: [] })(value)),
      [true, false],
      'what was not written is compiled',
    )
  })

  t('stand in the bundle', async () => {
    const texts = (await buildBundle()).map(({ text }) => text)
    const api = texts.filter((text) => schemas.every((schema) => text.includes(digestOf(schema))))
    assert.is(api.length, 1)
  })
})
