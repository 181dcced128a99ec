/**
 * The group committer: a lone item goes at once; what arrives while a run is in flight shares the next run.
 * So an idle caller pays the latency of one commit, and many callers share its cost (performance-reliability.md 1.2).
 * "At once" is the next turn of the event loop: callers that were answered together come back together.
 */

/** Items per run, unless said otherwise: beyond it a run gets longer without getting cheaper per item. */
export const BATCH_MAX = 256

export type BatchOptions<T, R> = {
  /** Gives one result per item, in the items' order. All of it happened, or (when it throws) none of it is promised. */
  run: (items: T[]) => Promise<R[]>
  max?: number
  /** Runs that may be in flight at once. */
  inFlight?: number
  /** May this item join those already chosen for the run? A no ends the run's list (order is kept). */
  mayJoin?: (chosen: readonly T[], next: T) => boolean
  /** Milliseconds that a run which could go at once waits for company (PostgreSQL's `commit_delay`); 0 when left out. */
  gatherMs?: () => number
  /** Was the failure one item's own fault? Then the items are run one by one, so that only the guilty one fails. */
  isItemFault?: (error: unknown) => boolean
}

type Waiting<T, R> = { item: T; resolve: (result: R) => void; reject: (error: unknown) => void }

/** @returns a function that settles when the run that carried its item has settled */
export const makeBatch = <T, R>(options: BatchOptions<T, R>): ((item: T) => Promise<R>) => {
  const {
    run,
    max = BATCH_MAX,
    inFlight = 1,
    mayJoin = () => true,
    isItemFault = () => false,
    gatherMs = () => 0,
  } = options
  let queue: Waiting<T, R>[] = []
  let running = 0

  const takeNext = (): Waiting<T, R>[] => {
    const chosen: T[] = []
    for (const { item } of queue) {
      if (chosen.length >= max || (chosen.length > 0 && !mayJoin(chosen, item))) break
      chosen.push(item)
    }
    const taken = queue.slice(0, chosen.length)
    queue = queue.slice(chosen.length)
    return taken
  }

  /** Runs what was taken and gives the function that tells those who wait. */
  const attempt = async (taken: Waiting<T, R>[]): Promise<() => void> => {
    try {
      const results = await run(taken.map((waiting) => waiting.item))
      if (results.length !== taken.length) throw new Error(`a batch of ${taken.length} gave ${results.length} results`)
      return () => {
        for (const [index, waiting] of taken.entries()) waiting.resolve(results[index] as R)
      }
    } catch (error) {
      if (taken.length === 1 || !isItemFault(error)) {
        return () => {
          for (const waiting of taken) waiting.reject(error)
        }
      }
      const tells: (() => void)[] = []
      for (const waiting of taken) tells.push(await attempt([waiting]))
      return () => {
        for (const tell of tells) tell()
      }
    }
  }

  const pump = (): void => {
    while (running < inFlight && queue.length > 0) {
      running++
      void attempt(takeNext()).then((tell) => {
        // The next run goes out before the callers of this one go on: they work while the database does.
        running--
        pump()
        tell()
      })
    }
  }

  let gathering = false
  const gathered = (): void => {
    gathering = false
    pump()
  }
  const gather = (): void => {
    if (gathering || running >= inFlight) return
    gathering = true
    const ms = gatherMs()
    if (ms > 0) setTimeout(gathered, ms)
    else setImmediate(gathered)
  }

  return (item) =>
    new Promise<R>((resolve, reject) => {
      queue.push({ item, resolve, reject })
      gather()
    })
}
