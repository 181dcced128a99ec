/** An index over a cache, kept by its changes (client-go's Indexer): who stands under a value, without a look at everybody. */
import type { Key } from '../../crds/kernel/object.ts'
import type { Cache } from './watch.ts'

export type Index = {
  /** Keys of the objects that stand under the value. */
  of(value: string): Key[]
}

/**
 * To be made before the cache has anything, so that it grows with its pages.
 * @param under the one value under which an object stands; null: under none
 */
export const indexBy = <R>(cache: Pick<Cache<R>, 'subscribe'>, under: (object: R) => string | null): Index => {
  const standsUnder = new Map<Key, string>()
  const keysOf = new Map<string, Set<Key>>()

  const leave = (key: Key) => {
    const value = standsUnder.get(key)
    if (value === undefined) return
    standsUnder.delete(key)
    const keys = keysOf.get(value)
    keys?.delete(key)
    if (keys?.size === 0) keysOf.delete(value)
  }
  const enter = (key: Key, value: string) => {
    standsUnder.set(key, value)
    const keys = keysOf.get(value)
    if (keys) keys.add(key)
    else keysOf.set(value, new Set([key]))
  }

  cache.subscribe((key, { object, deleted }) => {
    const value = deleted ? null : under(object)
    if (value === (standsUnder.get(key) ?? null)) return
    leave(key)
    if (value !== null) enter(key, value)
  })
  return { of: (value) => [...(keysOf.get(value) ?? [])] }
}
