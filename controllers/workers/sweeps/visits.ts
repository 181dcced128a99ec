/** Counts visits of sites as hosts write them down (controllers/kinds/site/visits.ts): each host by itself, so that none waits for another. */
import type { Log } from '../../base/log.ts'
import type { Context } from '../../kinds/context.ts'
import { countVisits, READING_LIMIT_MS, type VisitsDeps, visitedHosts } from '../../kinds/site/visits.ts'
import { makeVisitStore } from '../../store/site/visits.ts'

/**
 * What is shown is at most `VISITS_AGE_MAX_MS` old: what was written as the slowest reading had just passed it waits for that to end, for
 * the next turn, and for one that is as slow.
 */
const POLL_MS = 6_000
export const VISITS_AGE_MAX_MS = READING_LIMIT_MS + POLL_MS + READING_LIMIT_MS
/** A host that cannot be read is asked again after so long, with others not waiting for it. */
const AGAIN_MS = 60_000

/** @returns the way to end it */
export const startVisits = (context: Context, { log }: { log: Log }): (() => void) => {
  const deps: VisitsDeps = {
    ...context,
    log,
    visits: makeVisitStore(context),
    ...(context.onVisits && { onCounted: context.onVisits }),
  }
  const busy = new Map<string, Promise<void>>()
  const notBeforeMs = new Map<string, number>()
  let isOver = false
  const count = async (host: string, root: string): Promise<void> => {
    try {
      await countVisits(deps, host, root)
      notBeforeMs.delete(host)
    } catch (error) {
      notBeforeMs.set(host, performance.now() + AGAIN_MS)
      if (!isOver) log.warn({ err: error, host }, 'visits were not counted')
    } finally {
      busy.delete(host)
    }
  }
  const turn = (): void => {
    for (const { name, root } of visitedHosts(deps)) {
      if (busy.has(name) || performance.now() < (notBeforeMs.get(name) ?? 0)) continue
      busy.set(name, count(name, root))
    }
  }
  const timer = setInterval(turn, POLL_MS)
  return () => {
    isOver = true
    clearInterval(timer)
  }
}
