/**
 * The two lines of a queue: what is new or asked for goes before what is only looked at again, so that after a start nobody
 * who waits stands behind thousands of resources to which nothing happened (controller-runtime's priority queue has two
 * priorities for the same reason). The second line is never left standing: a part of all starts is its own.
 */
import type { Key } from '../../crds/kernel/object.ts'

/** `asked`: it is new, was changed, or somebody waits for it. `routine`: it is looked at to see that nothing is to be done. */
export type QueueLane = 'asked' | 'routine'

/** Of so many starts one is of the routine, however much is asked. */
const ROUTINE_EVERY = 16

export type WaitingKey = { key: Key; since: number; lane: QueueLane }

export type Lanes = {
  /** A key waits once: asked for, it leaves the routine. @returns whether it did not wait before */
  add(waiting: WaitingKey): boolean
  /** Takes out the next. */
  take(): WaitingKey | undefined
  size(): number
  clear(): void
}

export const makeLanes = (): Lanes => {
  /** Key → since when it waits. Insertion order is the order of service. */
  const lines: Record<QueueLane, Map<Key, number>> = { asked: new Map(), routine: new Map() }
  let askedInARow = 0

  const nextLane = (): QueueLane => {
    if (lines.asked.size === 0) return 'routine'
    return lines.routine.size > 0 && askedInARow >= ROUTINE_EVERY - 1 ? 'routine' : 'asked'
  }

  return {
    add: ({ key, since, lane }) => {
      if (lines.asked.has(key)) return false
      const waits = lines.routine.get(key)
      if (waits !== undefined && lane === 'routine') return false
      lines.routine.delete(key)
      lines[lane].set(key, waits ?? since)
      return waits === undefined
    },
    take: () => {
      const lane = nextLane()
      const [first] = lines[lane]
      if (!first) return undefined
      const [key, since] = first
      lines[lane].delete(key)
      askedInARow = lane === 'asked' ? askedInARow + 1 : 0
      return { key, since, lane }
    },
    size: () => lines.asked.size + lines.routine.size,
    clear: () => {
      for (const line of Object.values(lines)) line.clear()
    },
  }
}
