/** Which test files run side by side. Files of one lane share its places. */

export type Places = {
  /** Files side by side in all. */
  total: number
  /** Of one lane; a lane without a figure has all. */
  lanes?: Readonly<Record<string, number>>
}

export type Scheduled = { lane?: string }

export type Bounds = {
  places: Places
  signal: AbortSignal
  /** True from when on none begins any more. */
  isLate?: () => boolean
}

/**
 * Runs all, the first that may begin first, until the signal ends it or it is late; what has begun is waited for.
 * @param run never rejects
 * @returns those that did not begin
 */
export async function runScheduled<T extends Scheduled>(
  all: readonly T[],
  { places, signal, isLate = () => false }: Bounds,
  run: (one: T, index: number) => Promise<void>,
): Promise<T[]> {
  const waiting = new Map(all.entries())
  const running = new Map<string, number>()
  const count = () => [...running.values()].reduce((sum, one) => sum + one, 0)
  const mayBegin = ({ lane = '' }: T) => (running.get(lane) ?? 0) < (places.lanes?.[lane] ?? places.total)

  const { promise, resolve } = Promise.withResolvers<void>()
  const begin = (one: T, index: number) => {
    const { lane = '' } = one
    waiting.delete(index)
    running.set(lane, (running.get(lane) ?? 0) + 1)
    void run(one, index).then(() => {
      running.set(lane, (running.get(lane) ?? 0) - 1)
      fill()
    })
  }
  const isOver = () => signal.aborted || isLate()
  const fill = () => {
    while (!isOver() && count() < places.total) {
      const next = [...waiting].find(([, one]) => mayBegin(one))
      if (next === undefined) break
      begin(next[1], next[0])
    }
    if (count() === 0 && (waiting.size === 0 || isOver())) resolve()
  }
  signal.addEventListener('abort', fill)
  fill()
  await promise.finally(() => signal.removeEventListener('abort', fill))
  return [...waiting.values()]
}
