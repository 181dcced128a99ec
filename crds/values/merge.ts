/** JSON merge patches (RFC 7396). */
import { isDeepStrictEqual } from './compare.ts'

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What becomes of a value under a patch: null takes a field away, lists are replaced whole. */
export const mergePatch = (target: unknown, patch: Record<string, unknown>): Record<string, unknown> => {
  const merged = new Map(Object.entries(isObject(target) ? target : {}))
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key)
    else merged.set(key, isObject(value) ? mergePatch(merged.get(key), value) : value)
  }
  return Object.fromEntries(merged)
}

/** The smallest patch that makes `before` into `after`; empty when they are equal. */
export const mergeDiff = (before: Record<string, unknown>, after: Record<string, unknown>): Record<string, unknown> => {
  const gone = Object.keys(before).filter((key) => !Object.hasOwn(after, key))
  const changed = Object.entries(after).flatMap(([key, value]): [string, unknown][] => {
    const held = Object.hasOwn(before, key) ? before[key] : undefined
    if (isDeepStrictEqual(held, value)) return []
    return [[key, isObject(held) && isObject(value) ? mergeDiff(held, value) : value]]
  })
  return Object.fromEntries([...gone.map((key): [string, unknown] => [key, null]), ...changed])
}
