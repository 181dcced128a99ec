/** Days as people write them (`2026-12-20`), in a time zone of the IANA list. */
import { makeLately } from './once.ts'

const DAY = /^\d{4}-\d{2}-\d{2}$/

/** A day that the calendar has: `2026-02-30` is none. */
export const isDay = (text: string): boolean => {
  if (!DAY.test(text) || text < '0001') return false
  const time = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

const INSTANT =
  /^(\d{4}-\d{2}-\d{2})T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/** An instant with its zone (RFC 3339, 5.6), on a day that the calendar has; no leap second. */
export const isInstant = (text: string): boolean => isDay(INSTANT.exec(text)?.[1] ?? '')

export const isTimeZone = (name: string): boolean => {
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name)
    return true
  } catch {
    return false
  }
}

type Day = { name: string; fromMs: number; untilMs: number }

/** The last day that was asked for in each zone: nearly always the one that is asked for next. */
const lastDays = new Map<string, Day>()
const ZONES_MAX = 1000

const dayAt = (atMs: number, timeZone: string): Day => {
  const date = Temporal.Instant.fromEpochMilliseconds(atMs).toZonedDateTimeISO(timeZone).toPlainDate()
  const startMs = (day: Temporal.PlainDate) => day.toZonedDateTime(timeZone).epochMilliseconds
  return { name: date.toString(), fromMs: startMs(date), untilMs: startMs(date.add({ days: 1 })) }
}

/** The day it is at an instant, in a zone. @throws RangeError on an unknown zone. */
export const dayIn = (instant: Date, timeZone: string): string => {
  const atMs = instant.getTime()
  const known = lastDays.get(timeZone)
  if (known && known.fromMs <= atMs && atMs < known.untilMs) return known.name
  const day = dayAt(atMs, timeZone)
  if (lastDays.size >= ZONES_MAX) lastDays.clear()
  lastDays.set(timeZone, day)
  return day.name
}

const dayEnds = makeLately<number>(ZONES_MAX)

/** The first instant after a day has ended in a zone. @throws RangeError on an unknown zone. */
export const endOfDay = (day: string, timeZone: string): Date => {
  const find = () => Temporal.PlainDate.from(day).add({ days: 1 }).toZonedDateTime(timeZone).epochMilliseconds
  return new Date(dayEnds(`${day} ${timeZone}`, find))
}

/** The first instant of a day in a zone, which a change of the clock may put after midnight. */
export const startOfDay = (day: string, timeZone: string): Date =>
  new Date(Temporal.PlainDate.from(day).toZonedDateTime(timeZone).epochMilliseconds)

/**
 * The instant at which a clock on the wall of that zone shows `time` (as `09:00`) on that day. A time that a change of the
 * clock leaves out is taken as long after the change as it should have been; of one that comes twice the first counts.
 */
export const instantAt = (day: string, time: string, timeZone: string): Date =>
  new Date(Temporal.PlainDate.from(day).toZonedDateTime({ timeZone, plainTime: time }).epochMilliseconds)

export const addDays = (day: string, days: number): string => Temporal.PlainDate.from(day).add({ days }).toString()

/** From the first day to the second; below zero when the second comes before it. */
export const daysBetween = (from: string, to: string): number =>
  Temporal.PlainDate.from(from).until(to, { largestUnit: 'day' }).days

/** The first such day of a month after `after`: 29 to 31 are the last of a shorter month. */
export const nextMonthDay = (after: string, day: number): string => {
  const start = Temporal.PlainDate.from(after)
  const inMonth = start.with({ day })
  const next = Temporal.PlainDate.compare(inMonth, start) > 0 ? inMonth : start.add({ months: 1 }).with({ day })
  return next.toString()
}
