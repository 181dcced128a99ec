/** Days as people write them (`2026-12-20`), in a time zone of the IANA list. */

const DAY = /^\d{4}-\d{2}-\d{2}$/

/** A day that the calendar has: `2026-02-30` is none. */
export const isDay = (text: string): boolean => {
  if (!DAY.test(text) || text < '0001') return false
  const time = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

export const isTimeZone = (name: string): boolean => {
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name)
    return true
  } catch {
    return false
  }
}

/** The day it is at an instant, in a zone. @throws RangeError on an unknown zone. */
export const dayIn = (instant: Date, timeZone: string): string =>
  Temporal.Instant.fromEpochMilliseconds(instant.getTime()).toZonedDateTimeISO(timeZone).toPlainDate().toString()

/** The first instant after a day has ended in a zone. */
export const endOfDay = (day: string, timeZone: string): Date =>
  new Date(Temporal.PlainDate.from(day).add({ days: 1 }).toZonedDateTime(timeZone).epochMilliseconds)
