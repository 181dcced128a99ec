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

/** The options with their defaults, what waits for a run, and how many runs are in flight. */
type Batch<T, R> = Required<BatchOptions<T, R>> & { queue: Waiting<T, R>[]; running: number; gathering: boolean }

const takeNext = <T, R>(batch: Batch<T, R>): Waiting<T, R>[] => {
  const chosen: T[] = []
  for (const { item } of batch.queue) {
    if (chosen.length >= batch.max || (chosen.length > 0 && !batch.mayJoin(chosen, item))) break
    chosen.push(item)
  }
  const taken = batch.queue.slice(0, chosen.length)
  batch.queue = batch.queue.slice(chosen.length)
  return taken
}

/** Runs what was taken and gives the function that settles those who wait. */
const attempt = async <T, R>(batch: Batch<T, R>, taken: Waiting<T, R>[]): Promise<() => void> => {
  try {
    const results = await batch.run(taken.map((waiting) => waiting.item))
    if (results.length !== taken.length) throw new Error(`a batch of ${taken.length} gave ${results.length} results`)
    return () => {
      for (const [index, waiting] of taken.entries()) waiting.resolve(results[index] as R)
    }
  } catch (error) {
    if (taken.length === 1 || !batch.isItemFault(error)) {
      return () => {
        for (const waiting of taken) waiting.reject(error)
      }
    }
    const settles: (() => void)[] = []
    for (const waiting of taken) settles.push(await attempt(batch, [waiting]))
    return () => {
      for (const settle of settles) settle()
    }
  }
}

const pump = <T, R>(batch: Batch<T, R>): void => {
  while (batch.running < batch.inFlight && batch.queue.length > 0) {
    batch.running++
    void attempt(batch, takeNext(batch)).then((settle) => {
      // The next run goes out before the callers of this one go on: they work while the database does.
      batch.running--
      pump(batch)
      settle()
    })
  }
}

const gather = <T, R>(batch: Batch<T, R>): void => {
  if (batch.gathering || batch.running >= batch.inFlight) return
  batch.gathering = true
  const gathered = (): void => {
    batch.gathering = false
    pump(batch)
  }
  const ms = batch.gatherMs()
  if (ms > 0) setTimeout(gathered, ms)
  else setImmediate(gathered)
}

/** @returns a function that settles when the run that carried its item has settled */
export const makeBatch = <T, R>(options: BatchOptions<T, R>): ((item: T) => Promise<R>) => {
  const batch: Batch<T, R> = {
    max: BATCH_MAX,
    inFlight: 1,
    mayJoin: () => true,
    isItemFault: () => false,
    gatherMs: () => 0,
    ...options,
    queue: [],
    running: 0,
    gathering: false,
  }
  return (item) =>
    new Promise<R>((resolve, reject) => {
      batch.queue.push({ item, resolve, reject })
      gather(batch)
    })
}
