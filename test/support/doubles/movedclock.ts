/** A platform's clock that runs, and is moved forward by hand; it outlives the processes that go by it. */
export type MovedClock = {
  now(): Date
  /** Never back. */
  moveTo(instant: string): void
  reset(instant: string): void
}

export const makeMovedClock = (start: string): MovedClock => {
  let offsetMs = Date.parse(start) - Date.now()
  return {
    now: () => new Date(Date.now() + offsetMs),
    moveTo: (instant) => {
      offsetMs = Math.max(offsetMs, Date.parse(instant) - Date.now())
    },
    reset: (instant) => {
      offsetMs = Date.parse(instant) - Date.now()
    },
  }
}
