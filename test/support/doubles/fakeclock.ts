import { setImmediate as turn } from 'node:timers/promises'

/** Time that moves when told to. */
export type FakeClock = {
  now(): number
  after(ms: number, fire: () => void): () => void
  /** Moves on by `ms`, firing what falls due on the way, in order, and lets what was fired settle. */
  pass(ms: number): Promise<void>
  /** The longest delay that anybody asked of a timer. */
  longest(): number
}

const settle = async () => {
  for (let n = 0; n < 3; n += 1) await turn()
}

export function fakeClock(): FakeClock {
  let now = 0
  let longest = 0
  const timers = new Set<{ at: number; fire: () => void }>()
  const due = (end: number) => [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
  return {
    now: () => now,
    after: (ms, fire) => {
      longest = Math.max(longest, ms)
      const timer = { at: now + ms, fire }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    pass: async (ms) => {
      const end = now + ms
      await settle()
      for (let next = due(end); next; next = due(end)) {
        timers.delete(next)
        now = next.at
        next.fire()
        await settle()
      }
      now = end
    },
    longest: () => longest,
  }
}
