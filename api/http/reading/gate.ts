/** Places for what is under way at once. */
import type { Problem } from '../problem.ts'

/** At most so many at once under one key. */
export const makeGate = (max: number, refusal: () => Problem) => {
  const running = new Map<string, number>()
  /** @returns the way out, good once @throws the refusal, when it is full */
  const enter = (key: string): (() => void) => {
    const count = running.get(key) ?? 0
    if (count >= max) throw refusal()
    running.set(key, count + 1)
    return () => {
      const left = (running.get(key) ?? 1) - 1
      if (left > 0) running.set(key, left)
      else running.delete(key)
    }
  }
  const through = async <R>(key: string, run: () => Promise<R>): Promise<R> => {
    const leave = enter(key)
    try {
      return await run()
    } finally {
      leave()
    }
  }
  return { enter, through, running: (key: string) => running.get(key) ?? 0 }
}
