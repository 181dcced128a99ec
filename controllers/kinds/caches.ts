/** One watch per kind, kept by every process of the controllers, and the listeners that one who leads has at them. */
import type { Kind } from '../../crds/kernel/kind.ts'
import type { CommonStatus, Resource } from '../../crds/kernel/object.ts'
import { type Cache, type ReflectOptions, reflect } from '../kube/watch.ts'
import type { AnyResource, Caches } from './held.ts'
import { indexFollowers } from './kind-controller.ts'
import { CONTROLS } from './list.ts'

const cachesOver = (
  byKind: ReadonlyMap<string, Cache<AnyResource>>,
  rest: Pick<Caches, 'followers' | 'synced' | 'stop'>,
): Caches => ({
  ...rest,
  byKind,
  unserved: () => [...byKind].flatMap(([kind, cache]) => (cache.isServed() ? [] : [kind])),
  served: () => new Map([...byKind].filter(([, cache]) => cache.isServed())),
  of: <Spec, Status extends CommonStatus>({ kind }: Kind<Spec, Status>) => {
    const cache = byKind.get(kind)
    if (!cache) throw new Error(`no controller drives ${kind}`)
    return cache as unknown as Cache<Resource<Spec, Status>>
  },
})

/** Starts to watch at once. */
export const watchKinds = (options: Omit<ReflectOptions<AnyResource>, 'kind' | 'onChange'>): Caches => {
  const watched = CONTROLS.map((control) => ({
    control,
    cache: reflect<AnyResource>({ ...options, kind: control.kind }),
  }))
  return cachesOver(new Map(watched.map(({ control, cache }) => [control.kind.kind, cache])), {
    followers: new Map(watched.map(({ control, cache }) => [control.kind.kind, indexFollowers(control, cache)])),
    synced: Promise.all(watched.map(({ cache }) => cache.settled)),
    stop: () => Promise.all(watched.map(({ cache }) => cache.stop())),
  })
}

/** The same caches, and the way to end all that has been subscribed to them through these. The caches themselves go on. */
export const withinCaches = (caches: Caches): { caches: Caches; leave(): void } => {
  const ends = new Set<() => void>()
  const within = (cache: Cache<AnyResource>): Cache<AnyResource> => ({
    ...cache,
    subscribe: (listener, options) => {
      const end = cache.subscribe(listener, options)
      ends.add(end)
      return () => {
        ends.delete(end)
        end()
      }
    },
  })
  const byKind = new Map([...caches.byKind].map(([kind, cache]) => [kind, within(cache)]))
  return {
    caches: cachesOver(byKind, caches),
    leave: () => {
      for (const end of ends) end()
      ends.clear()
    },
  }
}
