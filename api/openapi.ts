/** Route declarations → an OpenAPI 3.1 document. Every operation lists its codes (CONTRACT section 10). */
import assert from 'node:assert/strict'
import { PROBLEMS, type ProblemCode } from '../crds/problem.ts'
import type { JsonSchema } from '../crds/rest.ts'
import { isKeyed, KEY_PATTERN } from './idempotency.ts'
import type { AnswerDeclaration, RouteDeclaration, RouteScope } from './route.ts'

const PROBLEM_REF = '#/components/schemas/Problem'
const JSON_TYPE = 'application/json'
const PROBLEM_TYPE = 'application/problem+json'

const SECURITY_SCHEMES: JsonSchema = {
  token: { type: 'http', scheme: 'bearer', description: 'A personal access token, btg_….' },
  session: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'A session, also taken as a cookie.' },
  report: { type: 'http', scheme: 'bearer', description: 'The report token of one dev instance, dbr_….' },
}

/** What every route may answer, and what every route behind a token may answer beside that. */
const ANYWHERE: readonly ProblemCode[] = ['INTERNAL', 'TOO_MANY_REQUESTS', 'UNAVAILABLE']
const BEHIND_TOKEN: readonly ProblemCode[] = ['UNAUTHENTICATED']
const WITH_BODY: readonly ProblemCode[] = [
  'BODY_TOO_LARGE',
  'INVALID_FIELD',
  'MALFORMED_JSON',
  'REQUEST_TIMEOUT',
  'UNKNOWN_FIELD',
  'UNSUPPORTED_MEDIA_TYPE',
]

const KEYED: readonly ProblemCode[] = ['BAD_IDEMPOTENCY_KEY', 'IDEMPOTENCY_IN_FLIGHT', 'IDEMPOTENCY_MISMATCH']

/** The body of every refusal (RFC 9457), once. */
const PROBLEM: JsonSchema = {
  type: 'object',
  description: 'A refusal: what is wrong, where, and what to do next.',
  required: ['type', 'title', 'status', 'detail', 'code', 'request_id'],
  properties: {
    type: { type: 'string', description: 'Address of the page about this code.' },
    title: { type: 'string', description: 'What the code means.' },
    status: { type: 'integer', description: 'The HTTP status.' },
    detail: { type: 'string', description: 'What happened this time, with the figures.' },
    code: { type: 'string', description: 'The code, for machines. More may be added.' },
    request_id: { type: 'string', description: 'Names this request in the logs.' },
    next: { type: 'string', description: 'What to do next.' },
    errors: {
      type: 'array',
      description: 'Each place that is wrong.',
      items: {
        type: 'object',
        description: 'One finding.',
        required: ['code', 'pointer', 'detail'],
        properties: {
          code: { type: 'string', description: 'The code of this finding.' },
          pointer: { type: 'string', description: 'JSON pointer into the request.' },
          detail: { type: 'string', description: 'The rule and the figures.' },
        },
      },
    },
  },
}

export type OpenapiInfo = { title: string; version: string; description: string }

/** The document of a list of routes; `schemas` are named components that the routes may refer to. */
export const openapiOf = (
  routes: readonly RouteDeclaration[],
  info: OpenapiInfo,
  schemas: Record<string, JsonSchema> = {},
): JsonSchema => {
  const paths: Record<string, Record<string, JsonSchema>> = {}
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}')
    const method = route.method.toLowerCase()
    const operations = paths[path] ?? {}
    assert(!(method in operations), `${route.method} ${route.path} is declared once`)
    paths[path] = { ...operations, [method]: operationOf(route) }
  }
  return {
    openapi: '3.1.0',
    info,
    security: [{ token: [] }, { session: [] }],
    paths,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      schemas: { ...schemas, Problem: PROBLEM },
    },
  }
}

const operationOf = (route: RouteDeclaration): JsonSchema => {
  const codes = codesOf(route)
  const parameters = [...pathParameters(route), ...queryParameters(route), ...headerParameters(route)]
  return {
    operationId: route.id ?? camelOf(route.summary),
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    ...(route.tag === undefined ? {} : { tags: [route.tag] }),
    ...securityOf(route),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...requestBodyOf(route),
    responses: { ...answersOf(route), ...refusalsOf(codes) },
    'x-codes': codes,
  }
}

/** Bodies that are taken as bytes are described by their types alone: OpenAPI 3.1 knows them by an empty schema. */
const requestBodyOf = ({ body, bytesTypes = [] }: RouteDeclaration): JsonSchema => {
  const content = {
    ...(body && { [JSON_TYPE]: { schema: body } }),
    ...Object.fromEntries(bytesTypes.map((type) => [type, {}])),
  }
  return Object.keys(content).length === 0 ? {} : { requestBody: { content } }
}

/** Scopes stand in the requirement (OpenAPI 3.1) and, with what else is demanded, beside it for other readers. */
const securityOf = ({ scope, capability, role }: RouteDeclaration): JsonSchema => ({
  security: requirementsOf(scope),
  ...(scope.kind === 'public' ? {} : { 'x-scope-kind': scope.kind }),
  ...(scope.kind === 'scope' ? { 'x-scope': scope.scope } : {}),
  ...(capability === undefined ? {} : { 'x-capability': capability }),
  ...(role === undefined ? {} : { 'x-role': role }),
})

const requirementsOf = (scope: RouteScope): JsonSchema[] => {
  switch (scope.kind) {
    case 'public':
      return []
    case 'scope':
      return [{ token: [scope.scope] }, { session: [] }]
    case 'token':
    case 'full':
      return [{ token: [] }, { session: [] }]
    case 'session':
      return [{ session: [] }]
    case 'report':
      return [{ report: [] }]
  }
}

const codesOf = (route: RouteDeclaration): ProblemCode[] =>
  [
    ...new Set([
      ...route.codes,
      ...ANYWHERE,
      ...(route.scope.kind === 'public' ? [] : BEHIND_TOKEN),
      ...(['public', 'token'].includes(route.scope.kind) ? [] : (['FORBIDDEN'] as const)),
      ...(route.role ? (['ROLE_REQUIRED'] as const) : []),
      ...(route.capability ? (['CAPABILITY_REQUIRED'] as const) : []),
      ...(isKeyed(route) ? KEYED : []),
      ...(route.body ? WITH_BODY : []),
      ...(route.path.includes(':') ? (['NOT_FOUND'] as const) : []),
      ...(route.query ? (['INVALID_FIELD', 'UNKNOWN_PARAMETER'] as const) : []),
    ]),
  ].sort()

const pathParameters = (route: RouteDeclaration): JsonSchema[] =>
  [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))

const queryParameters = (route: RouteDeclaration): JsonSchema[] =>
  Object.entries(route.query ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    ...('description' in schema ? { description: schema.description } : {}),
    schema,
  }))

const headerParameters = (route: RouteDeclaration): JsonSchema[] =>
  isKeyed(route)
    ? [
        {
          name: 'Idempotency-Key',
          in: 'header',
          required: false,
          description:
            'Makes a retry safe: for 24 hours the same request under the same key gets the first answer again, with Idempotency-Replayed: true.',
          schema: { type: 'string', pattern: KEY_PATTERN },
        },
      ]
    : []

const answersOf = (route: RouteDeclaration): JsonSchema =>
  Object.fromEntries(Object.entries(route.answers).map(([status, answer]) => [status, answerOf(answer)]))

/** Bytes are described by their type alone. */
const contentOf = ({ schema, contentType, orAs = [] }: AnswerDeclaration): JsonSchema => ({
  ...(schema && { [contentType ?? JSON_TYPE]: { schema } }),
  ...(!schema && contentType !== undefined && { [contentType]: {} }),
  ...Object.fromEntries(orAs.map((type) => [type, {}])),
})

const answerOf = (answer: AnswerDeclaration): JsonSchema => ({
  description: answer.description,
  ...(Object.keys(contentOf(answer)).length > 0 && { content: contentOf(answer) }),
  ...(answer.headers
    ? {
        headers: Object.fromEntries(
          Object.entries(answer.headers).map(([name, text]) => [
            name,
            { description: text, schema: { type: 'string' } },
          ]),
        ),
      }
    : {}),
})

/** One response per status, naming the codes that lead to it. */
const refusalsOf = (codes: readonly ProblemCode[]): JsonSchema => {
  const statuses = [...new Set(codes.map((code) => PROBLEMS[code].status))].sort()
  return Object.fromEntries(
    statuses.map((status) => {
      const own = codes.filter((code) => PROBLEMS[code].status === status)
      const description = own.map((code) => `${code}: ${PROBLEMS[code].title}.`).join('\n')
      return [status, { description, content: { [PROBLEM_TYPE]: { schema: { $ref: PROBLEM_REF } } } }]
    }),
  )
}

const camelOf = (summary: string): string =>
  summary
    .toLowerCase()
    .replace(/[^a-z0-9]+([a-z0-9])/g, (_, letter) => letter.toUpperCase())
    .replace(/[^a-zA-Z0-9]/g, '')
