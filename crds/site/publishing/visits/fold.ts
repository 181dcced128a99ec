/**
 * Lines to counts: how often each site was looked at on each day, by whom, which pages, and where visitors came from. What is kept
 * of one site and day has an upper bound, whatever is asked of it.
 */
import { pageViewIn } from './line.ts'
import { lookerOf } from './robots.ts'

/** Of one sort, site and day; all others are counted together under an empty name. PostgreSQL keeps as many. */
export const NAMES_MAX = 200
/** What is older when it is read is counted no more: who was told apart that day is forgotten by then. */
export const AGE_MAX_DAYS = 7
const DAY_SECONDS = 86_400

/** A visitor of the day; `referrer` is where he came from when he was seen first. */
export type Visitor = { visitor: string; referrer: string | null }

export type DayCounts = {
  site: string
  /** YYYY-MM-DD in UTC. */
  day: string
  visits: number
  robots: number
  visitors: Visitor[]
  pages: { name: string; visits: number }[]
}

/** How the clock of a host stands beside ours; it may be wrong, and go back. */
export type Clocks = {
  /** Seconds since 1970 on the host when it was read. */
  hostSeconds: number
  /** The same moment, by the platform. */
  now: Date
}

type Day = Omit<DayCounts, 'visitors' | 'pages'> & { visitors: Map<string, string | null>; pages: Map<string, number> }

/** Null for what is too old. What seems to come later than now came now. */
const dayOf = (ts: number, { hostSeconds, now }: Clocks): string | null => {
  const age = Math.max(0, hostSeconds - ts)
  if (age > AGE_MAX_DAYS * DAY_SECONDS) return null
  return new Date(now.getTime() - age * 1000).toISOString().slice(0, 10)
}

/** A name that is new beyond the limit is counted under the empty one. */
const count = (counts: Map<string, number>, name: string): void => {
  const key = counts.has(name) || counts.size < NAMES_MAX ? name : ''
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

const byKey = (a: DayCounts, b: DayCounts): number => {
  if (a.site !== b.site) return a.site < b.site ? -1 : 1
  return a.day < b.day ? -1 : 1
}

/** In an order that is always the same: whoever writes two of them at once waits for nobody who waits for him. */
export const foldLines = (lines: Iterable<string>, clocks: Clocks): DayCounts[] => {
  const days = new Map<string, Day>()
  for (const line of lines) {
    const view = pageViewIn(line)
    const looker = view && lookerOf(view.agent)
    const day = view && dayOf(view.ts, clocks)
    if (view === null || day === null || looker === 'ourselves') continue
    const { site, path, visitor, referrer } = view
    const key = `${site} ${day}`
    const found = days.get(key) ?? { site, day, visits: 0, robots: 0, visitors: new Map(), pages: new Map() }
    days.set(key, found)
    if (looker === 'robot') {
      found.robots += 1
      continue
    }
    found.visits += 1
    count(found.pages, path)
    if (visitor !== null && !found.visitors.has(visitor)) found.visitors.set(visitor, referrer)
  }
  return [...days.values()]
    .map(({ visitors, pages, ...rest }) => ({
      ...rest,
      visitors: [...visitors].map(([visitor, referrer]) => ({ visitor, referrer })),
      pages: [...pages].map(([name, visits]) => ({ name, visits })),
    }))
    .sort(byKey)
}
