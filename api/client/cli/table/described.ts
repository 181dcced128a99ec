/** What the OpenAPI document says of an operation, as far as a command needs it (made by hack/generate). */

export type DescribedField = {
  /** As REST calls it. Of an object that a field holds: the way there, as `budget.cpu_millis`. */
  name: string
  type: 'string' | 'integer' | 'number' | 'boolean' | 'strings' | 'json'
  description: string
  required?: true
  enum?: readonly string[]
  /** A positional argument of digits alone goes as a number. */
  orNumber?: true
}

export type DescribedOperation = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** As in the document: `/api/apps/{id}/env`. */
  path: string
  summary: string
  description?: string
  query: readonly DescribedField[]
  /** Of a JSON body. */
  body?: readonly DescribedField[]
  /** Takes bytes. */
  bytes?: true
  /** Takes an Idempotency-Key. */
  keyed?: true
  /** The member of the answer that has what was asked for, and the names of its plain members. */
  answer?: { name: string; list: boolean; fields: readonly string[] }
  scope?: string
  capability?: string
}

/** How a command is called in this surface: the method and the path of its operation. */
export const placeOf = ({ method, path }: Pick<DescribedOperation, 'method' | 'path'>): string => `${method} ${path}`

/** The names of the parameters in a path, in their order. */
export const pathParams = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
