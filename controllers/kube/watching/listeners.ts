/** Whoever wants to know of changes in a cache. A listener may throw: the cache goes on, the error is logged and counted. */
import type { Key } from '../../../crds/kernel/object.ts'
import type { Log } from '../../base/log.ts'
import { inTurns } from '../../base/turns.ts'
import { keyOfObject, type Store } from '../cache.ts'
import type { AnyObject } from '../objects.ts'

/**
 * `lost`, of what is not there any more: nobody is known to have deleted it. `held`: nothing happened to it, it was there
 * when the listener came.
 */
export type Change<R> = { deleted: boolean; lost?: boolean; held?: boolean; object: R }
export type WatchListener<R> = (key: Key, change: Change<R>) => void | Promise<void>

type ListenersOptions<R> = {
  kind: { kind: string }
  onChange?: WatchListener<R>
  log?: Log
  metrics?: { handlerFailed(kind: string): void }
}

export type Listeners<R> = {
  notify(object: R, deleted: boolean, lost?: boolean): void
  /** @param inTurns the held ones in parts, as they are by then @returns the way to end it */
  subscribe(listener: WatchListener<R>, store: Pick<Store<R>, 'get' | 'list'>, inTurns: boolean): () => void
}

export const makeListeners = <R extends AnyObject>({
  kind,
  onChange,
  log,
  metrics,
}: ListenersOptions<R>): Listeners<R> => {
  const listeners = new Set<WatchListener<R>>(onChange ? [onChange] : [])

  const notifyOne = (listener: WatchListener<R>, object: R, change: Omit<Change<R>, 'object'>) => {
    const key = keyOfObject(object)
    const failed = (error: unknown) => {
      metrics?.handlerFailed(kind.kind)
      log?.error({ err: error, kind: kind.kind, key }, 'watch handler failed')
    }
    try {
      const done = listener(key, { ...change, object })
      if (done instanceof Promise) done.catch(failed)
    } catch (error) {
      failed(error)
    }
  }

  return {
    notify: (object, deleted, lost = false) => {
      for (const listener of listeners) notifyOne(listener, object, { deleted, ...(lost && { lost }) })
    },
    subscribe: (listener, store, isInTurns) => {
      listeners.add(listener)
      const tell = (object: R) => notifyOne(listener, object, { deleted: false, held: true })
      const tellNow = (held: R) => {
        // it may have changed, or gone, since the first turn
        const object = store.get(keyOfObject(held))
        if (object !== undefined) tell(object)
      }
      if (isInTurns) inTurns(store.list(), tellNow, () => !listeners.has(listener))
      else store.list().forEach(tell)
      return () => {
        listeners.delete(listener)
      }
    },
  }
}
