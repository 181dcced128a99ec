/** Holds answers against the OpenAPI documents that are served: nobody may be answered what is not described. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'

type Media = { schema?: object }
type Response = { content?: Record<string, Media> }
type Components = { responses?: Record<string, Response> }
type Operation = { responses: Record<string, Response | { $ref: string }> }
type Document = { paths: Record<string, Record<string, Operation>>; components: Components }
type Described = { operation: Operation; path: RegExp; method: string; document: Document; id: string; fixed: number }

export type Answered = { status: number; contentType: string; json: unknown }

// each part a function of its own, made once, whichever answers name it
const options = { strict: false, validateFormats: false, allErrors: true, inlineRefs: false, code: { optimize: false } }
const ajv = new Ajv2020(options)
const validators = new Map<object, ValidateFunction>()

const patternOf = (path: string): RegExp => new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`)

/** As `hack/generate` wrote them, which `hack/test` checks first: the routes themselves would bring the whole api with them. */
const documents = (): { id: string; document: Document }[] => {
  const folder = join(import.meta.dirname, '..', '..', '..', '..', 'api', 'openapi')
  return globSync('*.json', { cwd: folder }).map((id) => ({
    id,
    document: JSON.parse(readFileSync(join(folder, id), 'utf8')),
  }))
}

let all: Described[] | undefined
/** Paths with fewer places for ids first, as the server takes `/api/invoices/issuers` before `/api/invoices/:id`. */
const described = (): Described[] => {
  all ??= documents()
    .flatMap(({ id, document }) =>
      Object.entries(document.paths).flatMap(([path, operations]) =>
        Object.entries(operations).map(([method, operation]) => ({
          operation,
          path: patternOf(path),
          method: method.toUpperCase(),
          document,
          id,
          fixed: path.split('{').length,
        })),
      ),
    )
    .sort((a, b) => a.fixed - b.fixed)
  return all
}

const responseOf = ({ operation, document }: Described, status: number): Response | undefined => {
  const response = operation.responses[status]
  if (!response || !('$ref' in response)) return response
  return document.components.responses?.[response.$ref.replace('#/components/responses/', '')]
}

/** What a schema names by `#/components/…`, named as a part of its document. */
const named = (node: unknown, id: string): unknown => {
  if (typeof node !== 'object' || node === null) return node
  if (Array.isArray(node)) return node.map((one) => named(one, id))
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [
      key,
      key === '$ref' && typeof value === 'string' ? `${id}${value}` : named(value, id),
    ]),
  )
}

const validatorOf = (schema: object, { id, document }: Described): ValidateFunction => {
  const known = validators.get(schema)
  if (known) return known
  if (!ajv.schemas[id]) ajv.addSchema({ components: document.components }, id, undefined, false)
  const made = ajv.compile(named(schema, id) as object)
  validators.set(schema, made)
  return made
}

/** @returns what the documents do not say of this answer; null when they do, and of what they do not describe at all */
export const undocumented = (method: string, path: string, { status, contentType, json }: Answered): string | null => {
  const pathname = path.split('?')[0] ?? ''
  const found = described().find((one) => one.method === method && one.path.test(pathname))
  if (!found) return null
  const response = responseOf(found, status)
  const what = `${method} ${pathname} answered ${status}`
  if (!response) return `${what}, which is not described: ${JSON.stringify(json)}`
  const type = contentType.split(';')[0]?.trim() ?? ''
  const media = response.content?.[type]
  if (!media) return type === '' || status === 204 ? null : `${what} as ${type}, which is not described`
  if (!media.schema || !type.endsWith('json')) return null
  const validate = validatorOf(media.schema, found)
  return validate(json) ? null : `${what}, of another shape: ${ajv.errorsText(validate.errors)}`
}
