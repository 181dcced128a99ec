import { openapiOf } from '../../api/openapi.ts'
import type { RouteDeclaration } from '../../api/route.ts'
import { PROBLEMS } from '../../crds/problem.ts'
import type { JsonSchema } from '../../crds/rest.ts'
import { assert, spec } from '../support/spec.ts'

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
  return at(openapiOf([declared], info), 'paths', path, declared.method.toLowerCase()) as JsonSchema
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
    assert.equal(schema, { $ref: '#/components/schemas/Problem' })
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
