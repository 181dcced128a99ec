/**
 * The two lines of a queue: what is new or asked for goes before what is only looked at again, so that after a start nobody
 * who waits stands behind thousands of resources to which nothing happened (controller-runtime's priority queue has two
 * priorities for the same reason). The second line is never left standing: a part of all starts is its own.
 *
 * Within a line accounts take turns: who has the fewest running is next, of those with as many the one that waits longest,
 * its oldest key first. So passes that are long in ending hold no more than a share of the places while others wait
 * (hack/decisions/110).
 */
import type { Key } from '../../crds/kernel/object.ts'

/** `asked`: it is new, was changed, or somebody waits for it. `routine`: it is looked at to see that nothing is to be done. */
export type QueueLane = 'asked' | 'routine'

/** Of so many starts one is of the routine, however much is asked. */
const ROUTINE_EVERY = 16

/** `account`: whose turn it takes; '' is nobody's. */
export type WaitingKey = { key: Key; account: string; since: number; lane: QueueLane }

export type Lanes = {
  /** A key waits once: asked for, it leaves the routine. @returns whether it did not wait before */
  add(waiting: WaitingKey): boolean
  /** Takes out the next one of an account that may have one more running; it counts as running until it has ended. */
  take(): WaitingKey | undefined
  ended(account: string): void
  size(): number
  clear(): void
}

type Waited = Pick<WaitingKey, 'account' | 'since'>
type Line = ReturnType<typeof makeLine>

/** Who waits in one line, by how many the account has running. Each change costs the same, however many wait. */
const makeLine = (runningOf: (account: string) => number) => {
  const accounts = new Map<Key, string>()
  /** Account → key → since when it waits. Insertion order is the order of service. */
  const keys = new Map<string, Map<Key, number>>()
  /** At the number that they have running: those that wait, in the order in which they came there. */
  const standing: Set<string>[] = []

  const stand = (account: string, running: number) => {
    standing[running] ??= new Set()
    standing[running].add(account)
  }

  const remove = (key: Key): Waited | undefined => {
    const account = accounts.get(key)
    if (account === undefined) return undefined
    accounts.delete(key)
    const own = keys.get(account)
    const since = own?.get(key) ?? 0
    own?.delete(key)
    if (own?.size === 0) {
      keys.delete(account)
      standing[runningOf(account)]?.delete(account)
    }
    return { account, since }
  }

  const firstOf = (account: string): Key | undefined => {
    const [first] = keys.get(account)?.keys() ?? []
    return first
  }

  return {
    has: (key: Key) => accounts.has(key),
    add: ({ key, account, since }: WaitingKey) => {
      accounts.set(key, account)
      const own = keys.get(account)
      own?.set(key, since)
      if (own) return
      keys.set(account, new Map([[key, since]]))
      stand(account, runningOf(account))
    },
    remove,
    /** @param most how many an account may have running, but for nobody's */
    next: (most: number): Key | undefined => {
      for (const [running, those] of standing.entries()) {
        if (running >= most) break
        const [account] = those ?? []
        if (account !== undefined) return firstOf(account)
      }
      return firstOf('')
    },
    moved: (account: string, from: number, to: number) => {
      if (standing[from]?.delete(account)) stand(account, to)
    },
    size: () => accounts.size,
    clear: () => {
      accounts.clear()
      keys.clear()
      standing.length = 0
    },
  }
}

/** @param accountMost running ones of one account at once; no bound when left out */
export const makeLanes = (accountMost = Number.POSITIVE_INFINITY): Lanes => {
  const running = new Map<string, number>()
  const runningOf = (account: string) => running.get(account) ?? 0
  const lines: Record<QueueLane, Line> = { asked: makeLine(runningOf), routine: makeLine(runningOf) }
  let askedInARow = 0

  const count = (account: string, more: 1 | -1) => {
    const [from, to] = [runningOf(account), runningOf(account) + more]
    if (to === 0) running.delete(account)
    else running.set(account, to)
    for (const line of Object.values(lines)) line.moved(account, from, to)
  }

  /** The routine's turn comes also where nobody of those who asked may have one more. */
  const next = (): { lane: QueueLane; key: Key } | undefined => {
    const isRoutines = askedInARow >= ROUTINE_EVERY - 1
    for (const lane of isRoutines ? (['routine', 'asked'] as const) : (['asked', 'routine'] as const)) {
      const key = lines[lane].next(accountMost)
      if (key !== undefined) return { lane, key }
    }
    return undefined
  }

  return {
    add: (waiting) => {
      const { key, lane } = waiting
      if (lines.asked.has(key)) return false
      if (lane === 'routine' && lines.routine.has(key)) return false
      const waits = lines.routine.remove(key)
      lines[lane].add({ ...waiting, since: waits?.since ?? waiting.since })
      return waits === undefined
    },
    take: () => {
      const found = next()
      if (!found) return undefined
      const { lane, key } = found
      const waited = lines[lane].remove(key)
      if (!waited) throw new Error(`${key} waits no more`)
      askedInARow = lane === 'asked' ? askedInARow + 1 : 0
      count(waited.account, 1)
      return { key, lane, ...waited }
    },
    ended: (account) => count(account, -1),
    size: () => lines.asked.size() + lines.routine.size(),
    clear: () => {
      for (const line of Object.values(lines)) line.clear()
    },
  }
}
