/** Route declarations → an OpenAPI 3.1 document. Every operation lists its codes (rules/platform.md#routes-as-data). */
import assert from 'node:assert/strict'
import { named, nameOf } from '../../crds/kernel/named.ts'
import { PROBLEMS, type ProblemCode } from '../../crds/kernel/problem.ts'
import type { JsonSchema } from '../../crds/kernel/rest.ts'
import type { AnswerDeclaration, RouteDeclaration, RouteScope } from '../http/route.ts'
import { isKeyed, KEY_PATTERN } from '../http/stages/idempotency.ts'
import { type Components, makeComponents, pascalOf } from './components.ts'
import { PROBLEM } from './problem.ts'
import { POLL_HEADERS } from './schemas.ts'

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
/** Where a body may come, also one that nobody asked for: it is read before the handler is called. */
const ARRIVING: readonly ProblemCode[] = ['BODY_TOO_LARGE', 'MALFORMED_JSON', 'REQUEST_TIMEOUT']
const WITH_BODY: readonly ProblemCode[] = ['INVALID_FIELD', 'UNKNOWN_FIELD', 'UNSUPPORTED_MEDIA_TYPE']

const KEYED: readonly ProblemCode[] = ['BAD_IDEMPOTENCY_KEY', 'IDEMPOTENCY_IN_FLIGHT', 'IDEMPOTENCY_MISMATCH']

/** What keeps everybody from writing (api/http/stages/cluster.ts). */
const DISAGREEMENTS: readonly ProblemCode[] = ['CLUSTER_BEHIND', 'CLUSTER_UNKNOWN', 'KEY_UNKNOWN', 'LEDGER_BEHIND']

export type OpenapiInfo = { title: string; version: string; description: string }

/** The document of a list of routes. What a declaration names is a component of it. */
export const openapiOf = (routes: readonly RouteDeclaration[], info: OpenapiInfo): JsonSchema => {
  const components = makeComponents()
  const paths: Record<string, Record<string, JsonSchema>> = {}
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}')
    const method = route.method.toLowerCase()
    const operations = paths[path] ?? {}
    assert(!(method in operations), `${route.method} ${route.path} is declared once`)
    paths[path] = { ...operations, [method]: operationOf(route, components) }
  }
  components.schema(PROBLEM)
  return {
    openapi: '3.1.0',
    info,
    security: [{ token: [] }, { session: [] }],
    paths,
    components: { securitySchemes: SECURITY_SCHEMES, ...components.all() },
  }
}

const operationOf = (route: RouteDeclaration, components: Components): JsonSchema => {
  const codes = codesOf(route)
  const parameters = parametersOf(route, components)
  return {
    operationId: idOf(route),
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    ...(route.tag === undefined ? {} : { tags: [route.tag] }),
    ...securityOf(route),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...requestBodyOf(route, components),
    responses: { ...answersOf(route, components), ...refusalsOf(codes, components) },
    'x-codes': codes,
  }
}

/**
 * Bodies that are taken as bytes are described by their types alone: OpenAPI 3.1 knows them by an empty schema. A body
 * without a name of its own is named by its operation.
 */
const requestBodyOf = (route: RouteDeclaration, { schema }: Components): JsonSchema => {
  const { body, bytesTypes = [] } = route
  const content = {
    ...(body && {
      [JSON_TYPE]: { schema: schema(nameOf(body) ? body : named(`${pascalOf(idOf(route))}Body`, body)) },
    }),
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
      ...(route.method === 'GET' ? [] : [...DISAGREEMENTS, ...ARRIVING]),
      ...(route.body ? WITH_BODY : []),
      ...(route.path.includes(':') ? (['NOT_FOUND'] as const) : []),
      ...(route.query ? (['INVALID_FIELD', 'UNKNOWN_PARAMETER'] as const) : []),
    ]),
  ].sort()

const IDEMPOTENCY_KEY: JsonSchema = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Makes a retry safe: for 24 hours the same request under the same key gets the first answer again, with Idempotency-Replayed: true.',
  schema: { type: 'string', pattern: KEY_PATTERN },
}

/** Places in paths and the key are components, and so is what a query takes by a named schema. */
const parametersOf = (route: RouteDeclaration, { refer, schema }: Components): JsonSchema[] => [
  ...[...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) =>
    refer('parameters', pascalOf(name), { name, in: 'path', required: true, schema: { type: 'string' } }),
  ),
  ...Object.entries(route.query ?? {}).map(([name, declared]) => {
    const component = nameOf(declared)
    const parameter = {
      name,
      in: 'query',
      ...('description' in declared ? { description: declared.description } : {}),
      schema: schema({ ...declared }),
    }
    return component === undefined ? parameter : refer('parameters', component, parameter)
  }),
  ...(isKeyed(route) ? [refer('parameters', pascalOf('Idempotency-Key'), IDEMPOTENCY_KEY)] : []),
]

const answersOf = (route: RouteDeclaration, components: Components): JsonSchema =>
  Object.fromEntries(Object.entries(route.answers).map(([status, answer]) => [status, answerOf(answer, components)]))

/** Bytes are described by their type alone. */
const contentOf = ({ schema, contentType, orAs = [] }: AnswerDeclaration, components: Components): JsonSchema => ({
  ...(schema && { [contentType ?? JSON_TYPE]: { schema: components.schema(schema) } }),
  ...(!schema && contentType !== undefined && { [contentType]: {} }),
  ...Object.fromEntries(orAs.map((type) => [type, {}])),
})

const answerOf = (answer: AnswerDeclaration, components: Components): JsonSchema => {
  const content = contentOf(answer, components)
  const response = {
    description: answer.description,
    ...(Object.keys(content).length > 0 && { content }),
    ...(answer.headers && { headers: headersOf(answer.headers, components) }),
  }
  const name = nameOf(answer)
  return name === undefined ? response : components.refer('responses', name, response)
}

const headersOf = (headers: Record<string, string>, { refer }: Components): JsonSchema =>
  Object.fromEntries(
    Object.entries(headers).map(([name, description]) => {
      const header = { description, schema: { type: 'string' } }
      const isShared = Reflect.get(POLL_HEADERS, name) === description
      return [name, isShared ? refer('headers', pascalOf(name), header) : header]
    }),
  )

/** One response per status, naming the codes that lead to it. */
const refusalsOf = (codes: readonly ProblemCode[], { refer, schema }: Components): JsonSchema => {
  const statuses = [...new Set(codes.map((code) => PROBLEMS[code].status))].sort()
  return Object.fromEntries(
    statuses.map((status) => {
      const own = codes.filter((code) => PROBLEMS[code].status === status)
      const description = own.map((code) => `${code}: ${PROBLEMS[code].title}.`).join('\n')
      const response = { description, content: { [PROBLEM_TYPE]: { schema: schema(PROBLEM) } } }
      const name = refusalNameOf(own)
      return [status, name === undefined ? response : refer('responses', name, response)]
    }),
  )
}

/** Codes with which routes are refused before their handlers, whatever they are about. */
const COMMON: ReadonlySet<ProblemCode> = new Set([
  ...ANYWHERE,
  ...BEHIND_TOKEN,
  ...ARRIVING,
  ...WITH_BODY,
  ...KEYED,
  'CAPABILITY_REQUIRED',
  ...DISAGREEMENTS,
  'FORBIDDEN',
  'NOT_FOUND',
  'ROLE_REQUIRED',
  'UNKNOWN_PARAMETER',
])

/** Codes that a name is made of at most; what bodies are refused with before their handlers has names of its own. */
const NAMED_CODES_MAX = 3
const BAD_BODY = 'INVALID_FIELD MALFORMED_JSON UNKNOWN_FIELD'
const BAD_BODY_OR_KEY = `BAD_IDEMPOTENCY_KEY ${BAD_BODY}`

/** What writes is refused with while a part is away, or parts do not fit together. */
const UNWRITABLE = [...DISAGREEMENTS, 'UNAVAILABLE'].sort().join(' ')

/** A refusal of one code, or of a few common ones, has a name made of them; others belong to their operation. */
const refusalNameOf = (codes: readonly ProblemCode[]): string | undefined => {
  const joined = codes.join(' ')
  if (joined === BAD_BODY) return 'BadBody'
  if (joined === BAD_BODY_OR_KEY) return 'BadBodyOrKey'
  if (joined === UNWRITABLE) return 'Unwritable'
  const isShared = codes.length <= NAMED_CODES_MAX && codes.every((code) => COMMON.has(code))
  return codes.length === 1 || isShared ? codes.map(pascalOf).join('Or') : undefined
}

const idOf = (route: RouteDeclaration): string => route.id ?? camelOf(route.summary)

const camelOf = (summary: string): string =>
  summary
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .map((word, index) => (index === 0 ? word : `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`))
    .join('')
