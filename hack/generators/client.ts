import { join } from 'node:path'
import { buildSync } from 'esbuild'
import type { DescribedField, DescribedOperation } from '../../api/client/cli/table/described.ts'

/** The client: what it knows of the operations, and its one file (hack/decisions/079). */

const root = join(import.meta.dirname, '..', '..')

// biome-ignore lint/suspicious/noExplicitAny: a JSON document, looked into member by member
type Doc = any

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const

const resolve = (document: Doc, node: Doc): Doc => {
  const ref: string | undefined = node?.$ref
  if (ref === undefined) return node ?? {}
  return ref
    .slice(2)
    .split('/')
    .reduce((at: Doc, part) => at[part], document)
}

const typesOf = ({ type }: Doc): string[] => [type].flat().filter((one) => one !== 'null')

const typeOf = (document: Doc, schema: Doc): DescribedField['type'] => {
  const [first] = typesOf(schema)
  if (first === 'array') return typesOf(resolve(document, schema.items))[0] === 'string' ? 'strings' : 'json'
  return first === 'string' || first === 'integer' || first === 'number' || first === 'boolean' ? first : 'json'
}

/** A field, and of an object that has known members those in its place. */
const fieldsOf = (document: Doc, name: string, given: Doc, required: boolean): DescribedField[] => {
  const schema = resolve(document, given)
  if (schema.properties && schema.additionalProperties === false && !name.includes('.')) {
    return Object.entries(schema.properties).flatMap(([member, inner]) =>
      fieldsOf(document, `${name}.${member}`, inner, false),
    )
  }
  const values = schema.enum?.filter((one: unknown) => typeof one === 'string')
  return [
    {
      name,
      type: typesOf(schema).includes('integer') && typesOf(schema).length > 1 ? 'string' : typeOf(document, schema),
      description: schema.description ?? '',
      ...(required && { required: true as const }),
      ...(values && { enum: values }),
      ...(typesOf(schema).length > 1 && typesOf(schema).includes('integer') && { orNumber: true as const }),
    },
  ]
}

const bodyOf = (document: Doc, operation: Doc): DescribedField[] | undefined => {
  const given = operation.requestBody?.content?.['application/json']?.schema
  if (given === undefined) return undefined
  const schema = resolve(document, given)
  const required: string[] = schema.required ?? []
  return Object.entries(schema.properties ?? {}).flatMap(([name, inner]) =>
    fieldsOf(document, name, inner, required.includes(name)),
  )
}

const PLAIN = ['string', 'integer', 'number', 'boolean']

const plainMembers = (document: Doc, given: Doc): string[] =>
  Object.entries(resolve(document, given).properties ?? {})
    .filter(([, inner]) => typesOf(resolve(document, inner)).every((type) => PLAIN.includes(type)))
    .map(([name]) => name)

const answerOf = (document: Doc, operation: Doc): DescribedOperation['answer'] => {
  const answer = resolve(document, operation.responses?.[200] ?? operation.responses?.[201] ?? {})
  const properties: Record<string, Doc> =
    resolve(document, answer.content?.['application/json']?.schema ?? {}).properties ?? {}
  for (const [name, given] of Object.entries(properties)) {
    const schema = resolve(document, given)
    const [type] = typesOf(schema)
    if (type === 'array') return { name, list: true, fields: plainMembers(document, schema.items) }
    if (type === 'object') return { name, list: false, fields: plainMembers(document, schema) }
  }
  return undefined
}

const isParameter = (place: string) => (parameter: Doc) => parameter.in === place

const describedOperation = (document: Doc, path: string, method: string, operation: Doc): DescribedOperation => {
  const parameters: Doc[] = (operation.parameters ?? []).map((one: Doc) => resolve(document, one))
  const body = bodyOf(document, operation)
  const content = Object.keys(operation.requestBody?.content ?? {})
  const answer = answerOf(document, operation)
  return {
    method: method.toUpperCase() as DescribedOperation['method'],
    path,
    summary: operation.summary,
    ...(operation.description && { description: operation.description }),
    query: parameters
      .filter(isParameter('query'))
      .flatMap(({ name, schema, required }) => fieldsOf(document, name, schema, required === true)),
    ...(body && { body }),
    ...(content.some((type) => type !== 'application/json') && { bytes: true as const }),
    ...(parameters.some((one) => one.in === 'header' && one.name === 'Idempotency-Key') && { keyed: true as const }),
    ...(answer && { answer }),
    ...(operation['x-scope'] && { scope: operation['x-scope'] }),
    ...(operation['x-capability'] && { capability: operation['x-capability'] }),
  }
}

/** Every operation of a document that lies below a path, in the order of the document. */
export const describedOperations = (document: object): DescribedOperation[] =>
  Object.entries((document as Doc).paths as Record<string, Doc>).flatMap(([path, item]) =>
    METHODS.flatMap((method) => (item[method] ? [describedOperation(document, path, method, item[method])] : [])),
  )

/** One operation a line: a new route is one line of a diff. */
export const operationsText = (documents: Readonly<Record<string, object>>): string => {
  const surfaces = Object.entries(documents).map(([surface, document]) => {
    const lines = describedOperations(document).map((operation) => JSON.stringify(operation))
    return `${JSON.stringify(surface)}: [\n${lines.join(',\n')}\n]`
  })
  return `{\n${surfaces.join(',\n')}\n}\n`
}

/** Where the client finds what `operationsText` says. */
export const OPERATIONS_PATH = 'api/client/cli/table/openapi-commands.json'
export const CLIENT_PATH = 'api/client/bottega.mjs'

const BANNER = `#!/usr/bin/env node
/**
 * Bottega from a terminal, and for agents: one file, no dependency, Node 20 or later. Apps: deploy, follow, logs, roll back.
 * Dev instances: log in, forward ports, start, stop, resize.
 *
 *   BOTTEGA_URL=https://bottega.example.org BOTTEGA_TOKEN=btg_… node bottega.mjs help
 *
 * Made by hack/generate from api/client/cli; edit that.
 */
import { createRequire as makeRequire } from 'node:module'
const require = makeRequire(import.meta.url)`

/** The whole client as one file that is read as it runs: nothing is minified. */
export const clientText = (): string => {
  const { outputFiles } = buildSync({
    entryPoints: [join(root, 'api/client/cli/main.ts')],
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    absWorkingDir: root,
    // what stands in comments is where a file is linked, which is the same in each checkout
    preserveSymlinks: true,
    write: false,
    legalComments: 'inline',
    banner: { js: BANNER },
    logLevel: 'silent',
  })
  return outputFiles[0]?.text ?? ''
}
