/** What GET …/metrics answers: the visits of a span of days, each day of it named, and where they went and came from. */

export const NAMES_SHOWN = 50
/** What is shown when nobody says which days, and how many may be asked for. */
export const SPAN_DAYS = 30
export const SPAN_DAYS_MAX = 400

export type VisitDay = { date: string; visits: number; visitors: number; robots: number }
export type VisitDays = VisitDay[]
export type VisitNames = { sort: 'page' | 'referrer'; name: string; visits: number }[]

export type SiteMetrics = {
  from: string
  to: string
  visits: number
  /** A visitor counts once on each day: nobody is known again on another. */
  visitors: number
  robots: number
  days: VisitDays
  pages: { path: string; visits: number }[]
  referrers: { host: string; visits: number }[]
  /** Of pages and referrers that are not named. */
  other: { pages: number; referrers: number }
}

const daysBetween = (from: Temporal.PlainDate, to: Temporal.PlainDate): number => from.until(to).total('days') + 1

/** Which days are meant: the last 30 when nothing is said. Null for what is no span, or too long a one. @param today by the platform's clock, in UTC */
export const spanOf = (
  { from, to }: { from?: string | undefined; to?: string | undefined },
  today: string,
): { from: string; to: string } | null => {
  try {
    const end = Temporal.PlainDate.from(to ?? (from !== undefined && from > today ? from : today))
    const start = from === undefined ? end.subtract({ days: SPAN_DAYS - 1 }) : Temporal.PlainDate.from(from)
    const count = daysBetween(start, end)
    return count < 1 || count > SPAN_DAYS_MAX ? null : { from: start.toString(), to: end.toString() }
  } catch {
    return null
  }
}

/** Days on which nobody came stand there too, with nothing. */
const everyDay = (from: string, to: string, found: VisitDays): VisitDays => {
  const byDate = new Map(found.map((day) => [day.date, day]))
  const start = Temporal.PlainDate.from(from)
  return Array.from({ length: daysBetween(start, Temporal.PlainDate.from(to)) }, (_, index) => {
    const date = start.add({ days: index }).toString()
    return byDate.get(date) ?? { date, visits: 0, visitors: 0, robots: 0 }
  })
}

const sumOf = (days: VisitDays, of: 'visits' | 'visitors' | 'robots'): number =>
  days.reduce((sum, day) => sum + day[of], 0)

export const metricsOf = (span: { from: string; to: string }, found: VisitDays, names: VisitNames): SiteMetrics => {
  const days = everyDay(span.from, span.to, found)
  const ofSort = (sort: 'page' | 'referrer') => names.filter((one) => one.sort === sort)
  const named = (sort: 'page' | 'referrer') => ofSort(sort).filter(({ name }) => name !== '')
  const other = (sort: 'page' | 'referrer') => ofSort(sort).find(({ name }) => name === '')?.visits ?? 0
  return {
    ...span,
    visits: sumOf(days, 'visits'),
    visitors: sumOf(days, 'visitors'),
    robots: sumOf(days, 'robots'),
    days,
    pages: named('page').map(({ name, visits }) => ({ path: name, visits })),
    referrers: named('referrer').map(({ name, visits }) => ({ host: name, visits })),
    other: { pages: other('page'), referrers: other('referrer') },
  }
}
