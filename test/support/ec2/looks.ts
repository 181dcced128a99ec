/** What all actions of the stand-in share: what they know, what a filter lets through, and pages. */

import { Ec2Refusal, type Filters, type Query, type XmlValue } from './query.ts'
import type { Ec2Region } from './region.ts'

/** What is not shown yet, by its id. */
export type Unseen = (id: string) => boolean
export type Ec2Action = { knows: readonly string[]; run(region: Ec2Region, query: Query, unseen: Unseen): XmlValue }

export const FILTERED = ['Filter.#.Name', 'Filter.#.Value.#', 'MaxResults', 'NextToken']
export const TAGGED = [
  'TagSpecification.#.ResourceType',
  'TagSpecification.#.Tag.#.Key',
  'TagSpecification.#.Tag.#.Value',
]
type Filterable = { id: string; tags: ReadonlyMap<string, string> }

export const passes = (one: Filterable, filters: Filters, idName: string): boolean =>
  filters.every(({ name, values }) => {
    if (name === idName) return values.includes(one.id)
    const key = /^tag:(.+)$/.exec(name)?.[1]
    if (key === undefined) throw new Ec2Refusal('InvalidParameterValue', `The filter '${name}' is invalid`)
    return values.includes(one.tags.get(key) ?? '\0')
  })

/** One page of two, so that whoever reads the first alone is found out. */
export const paged = (query: Query, all: readonly XmlValue[], name: string): XmlValue => {
  const from = Number(query.get('NextToken') ?? '0')
  const to = from + 2
  return { [name]: all.slice(from, to), nextToken: to < all.length ? String(to) : undefined }
}
