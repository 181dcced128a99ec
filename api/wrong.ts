/** Wrong passwords per link, in a sliding minute, per process. The password has 69 bits; this only keeps the noise down. */
export const WRONG_MAX = 10
export const WRONG_WINDOW_MS = 60_000
const LINKS_MAX = 10_000

export type WrongCounter = {
  /** Milliseconds until the next try is free; 0 when one is. */
  waitMs(name: string): number
  add(name: string): void
}

export const makeWrongCounter = (nowMs: () => number): WrongCounter => {
  const wrong = new Map<string, number[]>()
  const recent = (name: string) => (wrong.get(name) ?? []).filter((atMs) => atMs > nowMs() - WRONG_WINDOW_MS)
  return {
    waitMs: (name) => {
      const tries = recent(name)
      return tries.length < WRONG_MAX ? 0 : (tries[0] ?? 0) + WRONG_WINDOW_MS - nowMs()
    },
    add: (name) => {
      if (wrong.size >= LINKS_MAX) wrong.clear()
      wrong.set(name, [...recent(name), nowMs()])
    },
  }
}
