/** What an app was asked and what it used, by minutes, as a graph takes it (rules/app.md#usage). Pure. */
import { BOUNDS, quantileMs } from './traffic.ts'

/** One row a minute. `cpuMs` over `looked` seconds; memory and disk the highest that was seen. */
export type AppMinute = {
  at: string
  requests: number
  errors: number
  took: number[]
  cpuMs: number
  looked: number
  memoryMib: number
  diskMib: number | null
  restarts: number
}

export type UsagePoint = {
  at: string
  requests: number
  errors_5xx: number
  p50_ms: number | null
  p95_ms: number | null
  /** Thousandths of a processor, on average. */
  cpu_millis: number | null
  memory_mib: number | null
  disk_mib: number | null
  restarts: number
}

export const MINUTE_MS = 60_000
/** Points of one answer: a graph has no more pixels. */
const POINTS_MAX = 720
/** Of a point, in minutes: those that a scale is drawn with. */
const WIDTHS = [1, 5, 15, 30, 60] as const

/** How many minutes a point stands for, so that a span has no more of them than a graph takes. */
export const widthOf = (fromMs: number, toMs: number): number => {
  const minutes = (toMs - fromMs) / MINUTE_MS
  return WIDTHS.find((width) => minutes / width <= POINTS_MAX) ?? 60
}

const sum = (minutes: readonly AppMinute[], of: (minute: AppMinute) => number): number =>
  minutes.reduce((all, minute) => all + of(minute), 0)
const most = (values: readonly (number | null)[]): number | null =>
  values.reduce<number | null>((found, value) => (value === null ? found : Math.max(found ?? 0, value)), null)

/** Several minutes as one point. */
export const pointOf = (at: string, minutes: readonly AppMinute[]): UsagePoint => {
  const took = Array.from({ length: BOUNDS.length + 1 }, (_none, place) =>
    sum(minutes, (minute) => minute.took[place] ?? 0),
  )
  const looked = sum(minutes, (minute) => minute.looked)
  const memory = most(minutes.filter((minute) => minute.looked > 0).map(({ memoryMib }) => memoryMib))
  return {
    at,
    requests: sum(minutes, ({ requests }) => requests),
    errors_5xx: sum(minutes, ({ errors }) => errors),
    p50_ms: quantileMs(took, 0.5),
    p95_ms: quantileMs(took, 0.95),
    cpu_millis: looked === 0 ? null : Math.round(sum(minutes, ({ cpuMs }) => cpuMs) / looked),
    memory_mib: memory === null ? null : Math.round(memory),
    disk_mib: most(minutes.map(({ diskMib }) => diskMib)),
    restarts: sum(minutes, ({ restarts }) => restarts),
  }
}

/** Points in their order, those in which nothing was seen left out. @param width minutes of a point */
export const pointsOf = (minutes: readonly AppMinute[], width: number): UsagePoint[] => {
  const groups = Map.groupBy(minutes, ({ at }) => Math.floor(Date.parse(at) / (width * MINUTE_MS)))
  return [...groups.entries()]
    .toSorted(([a], [b]) => a - b)
    .map(([place, of]) => pointOf(new Date(place * width * MINUTE_MS).toISOString(), of))
}
