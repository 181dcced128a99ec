/** What JSON Schema cannot say of an account: lists hold nothing twice, as the API server demands of a set. */
import type { Fault } from '../kernel/problem.ts'
import type { AccountSpec } from './schema.ts'

const LISTS = ['capabilities', 'teams'] as const

/** @param spec a whole one or a part of it  @returns findings with pointers into the spec, empty when it is sound */
export const accountFaults = (spec: Partial<AccountSpec>): Fault[] =>
  LISTS.flatMap((field) => {
    const items: readonly string[] = spec[field] ?? []
    const at = items.findIndex((item, index) => items.indexOf(item) < index)
    return at < 0 ? [] : [{ code: 'INVALID_FIELD', pointer: `/${field}/${at}`, detail: `${items[at]} is named twice` }]
  })
