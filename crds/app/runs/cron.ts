/**
 * The five fields of cron: minute, hour, day of the month, month, day of the week, with lists, ranges, steps and names, as
 * POSIX crontab and its heirs read them. Where both days are given one of them is enough; a star leaves it to the other.
 * Source: POSIX.1-2024, crontab; robfig/cron, which Kubernetes reads CronJobs with.
 *
 * Times are those of a time zone. One that its clock skips in spring comes as much later as the clock goes forward; one that
 * it goes through twice in autumn comes the first time.
 */

type Field = { name: string; min: number; max: number; names?: readonly string[] }

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')
const DAYS = 'sun mon tue wed thu fri sat'.split(' ')

const FIELDS: readonly [Field, Field, Field, Field, Field] = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of the month', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12, names: ['', ...MONTHS] },
  { name: 'day of the week', min: 0, max: 7, names: DAYS },
]

const MACROS: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

export type Cron = {
  minutes: readonly number[]
  hours: readonly number[]
  days: ReadonlySet<number>
  months: ReadonlySet<number>
  /** 1 is Monday, 7 Sunday, as ISO 8601 has them. */
  weekdays: ReadonlySet<number>
  /** Both sorts of days are given: either is enough. */
  eitherDay: boolean
}

export type ParsedCron = { cron: Cron } | { fault: string }

const WHOLE = /^\d{1,2}$/

const valueIn = ({ min, max, names = [] }: Field, text: string): number | null => {
  const named = text === '' ? -1 : names.indexOf(text.toLowerCase())
  if (named >= 0) return named
  if (!WHOLE.test(text)) return null
  const value = Number(text)
  return value >= min && value <= max ? value : null
}

const rangeIn = (field: Field, text: string): [number, number] | null => {
  if (text === '*' || text === '?') return [field.min, field.max]
  const [from = '', to, ...more] = text.split('-')
  const first = valueIn(field, from)
  const last = to === undefined ? first : valueIn(field, to)
  return first === null || last === null || more.length > 0 || first > last ? null : [first, last]
}

/** @returns null where the text says nothing of the field */
const partIn = (field: Field, text: string): number[] | null => {
  const [span = '', by, ...more] = text.split('/')
  const range = rangeIn(field, span)
  const step = by === undefined ? 1 : WHOLE.test(by) ? Number(by) : 0
  if (range === null || step === 0 || more.length > 0) return null
  // `5/15` goes on to the end, as `5-59/15`.
  const last = by !== undefined && !span.includes('-') ? field.max : range[1]
  const found: number[] = []
  for (let value = range[0]; value <= last; value += step) found.push(value)
  return found
}

const valuesIn = (field: Field, text: string): number[] | null => {
  const parts = text.split(',').map((part) => partIn(field, part))
  if (parts.some((part) => part === null)) return null
  return [...new Set(parts.flatMap((part) => part ?? []))].sort((a, b) => a - b)
}

const isStar = (text: string): boolean => text.startsWith('*') || text.startsWith('?')

/** @returns what is wrong in words, as `the hour "25" is none` */
export const parseCron = (text: string): ParsedCron => {
  const words = (MACROS[text.trim().toLowerCase()] ?? text).split(' ').filter(Boolean)
  if (words.length !== FIELDS.length) return { fault: `has ${words.length} fields and not the five of cron` }
  const values = FIELDS.map((field, place) => valuesIn(field, words[place] ?? ''))
  const wrong = values.indexOf(null)
  if (wrong >= 0) return { fault: `the ${FIELDS[wrong]?.name} "${words[wrong]}" is none` }
  const [minutes = [], hours = [], days = [], months = [], weekdays = []] = values as number[][]
  const cron = {
    minutes,
    hours,
    days: new Set(days),
    months: new Set(months),
    weekdays: new Set(weekdays.map((day) => (day === 0 ? 7 : day))),
    eitherDay: !isStar(words[2] ?? '') && !isStar(words[4] ?? ''),
  }
  return comes(cron) ? { cron } : { fault: 'names a day that never comes' }
}

/** A year in which every day of the calendar comes. */
const LEAP_YEAR = 2024

const comes = ({ days, months, eitherDay }: Cron): boolean =>
  eitherDay ||
  [...months].some((month) => {
    const { daysInMonth } = Temporal.PlainYearMonth.from({ year: LEAP_YEAR, month })
    return [...days].some((day) => day <= daysInMonth)
  })

const isDay = ({ days, months, weekdays, eitherDay }: Cron, date: Temporal.PlainDate): boolean => {
  if (!months.has(date.month)) return false
  const [byDay, byWeekday] = [days.has(date.day), weekdays.has(date.dayOfWeek)]
  return eitherDay ? byDay || byWeekday : byDay && byWeekday
}

/** The instants of one day, in milliseconds since 1970, in their order. */
const instantsOf = function* (
  cron: Cron,
  zone: string,
  date: Temporal.PlainDate,
  isBackward: boolean,
): Generator<number> {
  const inOrder = (values: readonly number[]) => (isBackward ? values.toReversed() : values)
  if (!isDay(cron, date)) return
  for (const hour of inOrder(cron.hours)) {
    for (const minute of inOrder(cron.minutes)) {
      yield date.toPlainDateTime({ hour, minute }).toZonedDateTime(zone).epochMilliseconds
    }
  }
}

const dateOf = (atMs: number, zone: string): Temporal.PlainDate =>
  Temporal.Instant.fromEpochMilliseconds(atMs).toZonedDateTimeISO(zone).toPlainDate()

/** 29 February on one day of the week comes again after 40 years at most . */
const DAYS_MAX = 366 * 41

/** The first instant after `after`, in ISO; null when there is none in forty years. @param zone of the IANA list */
export const nextOf = (cron: Cron, zone: string, after: Date): string | null => {
  const from = dateOf(after.getTime(), zone)
  for (let days = 0; days <= DAYS_MAX; days += 1) {
    for (const atMs of instantsOf(cron, zone, from.add({ days }), false)) {
      if (atMs > after.getTime()) return new Date(atMs).toISOString()
    }
  }
  return null
}

/** The last instant that is not after `now` and after `since`, in ISO; null when there was none. */
export const lastOf = (cron: Cron, zone: string, { since, now }: { since: Date; now: Date }): string | null => {
  const from = dateOf(now.getTime(), zone)
  const end = dateOf(since.getTime(), zone)
  for (let date = from; Temporal.PlainDate.compare(date, end) >= 0; date = date.subtract({ days: 1 })) {
    for (const atMs of instantsOf(cron, zone, date, true)) {
      if (atMs > now.getTime()) continue
      return atMs > since.getTime() ? new Date(atMs).toISOString() : null
    }
  }
  return null
}
