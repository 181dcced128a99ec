/** The EC2 Query protocol: flat parameters in, XML out (EC2 API reference, "Query requests"). */

export type Query = ReadonlyMap<string, string>

/** A refusal as EC2 says it. */
export class Ec2Refusal extends Error {
  readonly code: string
  readonly status: number
  constructor(code: string, message: string, status = 400) {
    super(message)
    this.code = code
    this.status = status
  }
}

/** `InstanceId.1`, `InstanceId.2`, … in their order. */
export const listOf = (query: Query, name: string): string[] => {
  const found: string[] = []
  for (let at = 1; query.has(`${name}.${at}`); at += 1) found.push(query.get(`${name}.${at}`) ?? '')
  return found
}

/** How many there are of `Filter.1.…`, `Filter.2.…`. */
export const countOf = (query: Query, name: string): number => {
  const starts = new Set([...query.keys()].map((key) => new RegExp(`^${name}\\.(\\d+)\\.`).exec(key)?.[1]))
  starts.delete(undefined)
  return starts.size
}

export const need = (query: Query, name: string): string => {
  const value = query.get(name)
  if (value === undefined || value === '')
    throw new Ec2Refusal('MissingParameter', `The request must contain the parameter ${name}`)
  return value
}

export type Filters = { name: string; values: string[] }[]

export const filtersOf = (query: Query): Filters =>
  Array.from({ length: countOf(query, 'Filter') }, (_, at) => ({
    name: need(query, `Filter.${at + 1}.Name`),
    values: listOf(query, `Filter.${at + 1}.Value`),
  }))

/** Tags of one sort of thing, from TagSpecification. */
export const tagsFor = (query: Query, resourceType: string): Map<string, string> => {
  const tags = new Map<string, string>()
  for (let at = 1; at <= countOf(query, 'TagSpecification'); at += 1) {
    if (query.get(`TagSpecification.${at}.ResourceType`) !== resourceType) continue
    for (let tag = 1; query.has(`TagSpecification.${at}.Tag.${tag}.Key`); tag += 1)
      tags.set(
        need(query, `TagSpecification.${at}.Tag.${tag}.Key`),
        query.get(`TagSpecification.${at}.Tag.${tag}.Value`) ?? '',
      )
  }
  return tags
}

/** Parameters may be so and no other; `#` stands for a number. */
export const refuseUnknown = (query: Query, known: readonly string[]): void => {
  const allowed = new Set(['Action', 'Version', ...known])
  for (const key of query.keys()) {
    if (!allowed.has(key.replace(/\.\d+/g, '.#')))
      throw new Ec2Refusal('UnknownParameter', `The parameter ${key} is not recognized`)
  }
}

export type XmlValue =
  | string
  | number
  | boolean
  | undefined
  | readonly XmlValue[]
  | { readonly [name: string]: XmlValue }

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** Lists are `item`s; what is undefined is left out. */
export const xmlOf = (value: XmlValue): string => {
  if (value === undefined) return ''
  if (Array.isArray(value)) return value.map((one) => `<item>${xmlOf(one)}</item>`).join('')
  if (typeof value !== 'object') return escaped(String(value))
  return Object.entries(value)
    .map(([name, inner]) => (inner === undefined ? '' : `<${name}>${xmlOf(inner)}</${name}>`))
    .join('')
}

export const tagSet = (tags: ReadonlyMap<string, string>): XmlValue => [...tags].map(([key, value]) => ({ key, value }))
