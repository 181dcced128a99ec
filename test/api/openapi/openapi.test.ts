import { described, type RouteDeclaration } from '../../../api/http/route.ts'
import { openapiOf } from '../../../api/openapi/openapi.ts'
import { pageQuery } from '../../../api/openapi/paging.ts'
import { repeatsOf } from '../../../api/openapi/repeats.ts'
import { list, object, text } from '../../../api/openapi/schemas.ts'
import { allRoutes, descriptions } from '../../../api/wiring/routes.ts'
import { named } from '../../../crds/kernel/named.ts'
import { PROBLEMS } from '../../../crds/kernel/problem.ts'
import type { JsonSchema } from '../../../crds/kernel/rest.ts'
import { describedText } from '../../../hack/commands/generate.ts'
import { dereferenced } from '../../support/judges/dereferenced.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const info = { title: 'T', version: '1', description: 'D' }
const route = (changes: Partial<RouteDeclaration> = {}): RouteDeclaration => ({
  method: 'GET',
  path: '/api/things/:id',
  summary: 'Read a thing',
  scope: { kind: 'scope', scope: 'invoices:read' },
  answers: { 200: { description: 'The thing.', schema: { type: 'object' } } },
  codes: ['LOCKED_PAID'],
  ...changes,
})

/** What is found at a path of keys. */
const at = (value: unknown, ...keys: string[]): unknown =>
  keys.reduce<unknown>(
    (node, key) => (typeof node === 'object' && node !== null ? Reflect.get(node, key) : undefined),
    value,
  )
const operation = (declared: RouteDeclaration): JsonSchema => {
  const path = declared.path.replace(/:(\w+)/g, '{$1}')
  return at(dereferenced(openapiOf([declared], info)), 'paths', path, declared.method.toLowerCase()) as JsonSchema
}

spec('the OpenAPI document', (t) => {
  t('is 3.1 and describes a refusal once', () => {
    const document = openapiOf([], info)
    assert.equal([document.openapi, document.info, document.paths], ['3.1.0', info, {}])
    assert.equal(at(document, 'components', 'schemas', 'Problem', 'type'), 'object')
  })

  t('writes paths and their parameters in its own form', () => {
    const made = operation(route({ query: { limit: { type: 'integer', description: 'How many.' } } }))
    assert.equal(made.operationId, 'readAThing')
    assert.equal(made.parameters, [
      { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
      { name: 'limit', in: 'query', description: 'How many.', schema: { type: 'integer', description: 'How many.' } },
    ])
  })

  t('lists the codes of each operation, the common ones too', () => {
    assert.equal(operation(route())['x-codes'], [
      'FORBIDDEN',
      'INTERNAL',
      'LOCKED_PAID',
      'NOT_FOUND',
      'TOO_MANY_REQUESTS',
      'UNAUTHENTICATED',
      'UNAVAILABLE',
    ])
    const open = operation(route({ path: '/healthz', scope: { kind: 'public' }, codes: [] }))
    assert.equal(open['x-codes'], ['INTERNAL', 'TOO_MANY_REQUESTS', 'UNAVAILABLE'])
    assert.equal(open.security, [])
    const sending = operation(route({ method: 'POST', body: { type: 'object' } }))
    for (const code of ['MALFORMED_JSON', 'UNKNOWN_FIELD', 'BODY_TOO_LARGE'] as const) {
      assert.ok((sending['x-codes'] as string[]).includes(code))
      assert.match(String(at(sending, 'responses', String(PROBLEMS[code].status), 'description')), code)
    }
  })

  t('names the scope and gives each refusal the shape of a problem', () => {
    const made = operation(route())
    assert.is(made['x-scope'], 'invoices:read')
    const schema = at(made, 'responses', '409', 'content', 'application/problem+json', 'schema')
    assert.equal(schema, at(openapiOf([], info), 'components', 'schemas', 'Problem'))
  })

  t('carries other content types than JSON', () => {
    const pdf = operation(
      route({
        answers: { 200: { description: 'A PDF.', contentType: 'application/pdf', schema: { type: 'string' } } },
      }),
    )
    assert.ok(at(pdf, 'responses', '200', 'content', 'application/pdf'))
  })

  t('says of a body of bytes what type they are', () => {
    const made = operation(route({ method: 'POST', bytesTypes: ['image/*'] }))
    assert.equal(made.requestBody, { content: { 'image/*': {} } })
    assert.is(operation(route({ method: 'POST' })).requestBody, undefined)
  })

  t('refuses two routes with one method and path', () => {
    assert.throws(() => openapiOf([route(), route()], info), /declared once/)
  })
})

/** Over the size that may be repeated. */
const wide = (description: string): JsonSchema =>
  object(description, Object.fromEntries(Array.from('abcdef', (letter) => [letter, text('A letter.')])))
const answering = (schema: JsonSchema, path = '/api/things'): RouteDeclaration =>
  route({ path, answers: { 200: { description: 'It.', schema } } })
const componentsOf = (...routes: RouteDeclaration[]) =>
  openapiOf(routes, info).components as Record<string, Record<string, JsonSchema>>

spec('a component of the OpenAPI document', (t) => {
  const thing = named('Thing', wide('A thing.'))

  t('is what a declaration names, and is referred to', () => {
    const document = openapiOf([answering(object('One.', { thing, all: list('All.', thing) }))], info)
    const content = at(document, 'paths', '/api/things', 'get', 'responses', '200', 'content')
    assert.equal(at(content, 'application/json', 'schema', 'properties'), {
      thing: { $ref: '#/components/schemas/Thing' },
      all: { type: 'array', description: 'All.', items: { $ref: '#/components/schemas/Thing' } },
    })
    assert.equal(at(document, 'components', 'schemas', 'Thing'), { ...thing })
  })

  t('is a body under the name of its operation, unless it has its own', () => {
    const post = (body: JsonSchema) =>
      Object.keys(componentsOf(route({ method: 'POST', summary: 'Make a thing', body })).schemas ?? {})
    assert.equal(post({ type: 'object' }), ['MakeAThingBody', 'Problem'])
    assert.equal(post(thing), ['Problem', 'Thing'])
  })

  t('is a parameter, a header or a refusal that routes share', () => {
    const { parameters, responses } = componentsOf(
      route({ method: 'POST', query: { ...pageQuery, own: text('Own.') } }),
    )
    assert.equal(Object.keys(parameters ?? {}), ['Id', 'IdempotencyKey', 'Limit', 'Offset'])
    const shared = ['NotFound', 'Unauthenticated', 'Unwritable']
    assert.equal(
      shared.filter((name) => !(responses && name in responses)),
      [],
    )
  })

  t('leaves the schema as validators take it', () => {
    assert.equal(Reflect.ownKeys({ ...thing }), Object.keys(wide('A thing.')))
    assert.equal(Object.keys(thing), Object.keys(wide('A thing.')))
  })

  t('is refused when its name is of another one already', () => {
    const other = named('Thing', wide('Another thing.'))
    assert.throws(
      () => openapiOf([answering(thing), answering(other, '/api/others')], info),
      /Thing names two different/,
    )
    assert.throws(() => openapiOf([answering(named('a thing', wide('A thing.')))], info), /PascalCase/)
  })

  t('is demanded of a large schema that stands twice, whatever its description', () => {
    const routes = [answering(wide('One.')), answering(wide('Another.'), '/api/others')]
    assert.is(repeatsOf(openapiOf(routes, info)).length, 1)
    assert.throws(() => describedText(openapiOf(routes, info)), /is repeated; name it/)
    assert.equal(repeatsOf(openapiOf([answering(thing), answering(thing, '/api/others')], info)), [])
  })

  t('is the same whatever other routes there are', () => {
    const all = described(allRoutes)
    const whole = componentsOf(...all)
    for (const one of all) {
      for (const [section, components] of Object.entries(componentsOf(one))) {
        for (const [name, component] of Object.entries(components))
          assert.equal(whole[section]?.[name], component, name)
      }
    }
  })

  t('stands behind each reference that is served', () => {
    for (const document of descriptions().values()) {
      const made = dereferenced(document)
      assert.not.match(JSON.stringify(made), /\$ref/)
      assert.equal(repeatsOf(document), [])
    }
  })
})
