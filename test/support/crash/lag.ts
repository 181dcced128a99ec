import type { Kube } from '../../../controllers/kube/kube.ts'
import type { WatchEvent } from '../../../controllers/kube/objects.ts'

/**
 * The cluster as a cache shows it that lags: what others wrote is seen late, and of several changes of one object only the
 * last (stale reads and unobserved states, two of the three ways in which Sieve breaks controllers, OSDI 2022).
 */
export const lagging = (kube: Kube, holdMs: number): Kube => ({
  ...kube,
  async watch(kind, options) {
    const held = new Map<string, WatchEvent>()
    const show = () => {
      const events = [...held.values()]
      held.clear()
      for (const event of events) options.onEvent(event)
    }
    const timer = setInterval(show, holdMs)
    const onEvent = (event: WatchEvent) => {
      const { type, object } = event
      const key = type === 'BOOKMARK' ? type : (object.metadata.uid ?? '')
      // in the order of the last change, so that no version is passed over
      held.delete(key)
      held.set(key, event)
    }
    try {
      return await kube.watch(kind, { ...options, onEvent })
    } finally {
      clearInterval(timer)
    }
  },
})
