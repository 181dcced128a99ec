/**
 * Requests by hostname, as a host's Caddy counts them: how often it was answered with which class of status, and how long it took. Pure.
 * Source: Caddy 2.11, metrics with per_host; Prometheus text format 0.0.4.
 */

/** Upper bounds in seconds of what a request took, as Caddy has them; one more is without a bound. */
export const BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const

/** `slower[i]`: requests that took longer than the bound before the i-th, and no longer than the i-th; the last has no bound. */
export type Traffic = { requests: number; errors: number; took: number[] }

export const noTraffic = (): Traffic => ({
  requests: 0,
  errors: 0,
  took: Array.from({ length: BOUNDS.length + 1 }, () => 0),
})

const SAMPLE = 'caddy_http_request_duration_seconds_bucket{'
/** `code="200",host="a.test"`: none of ours has a quote in it. */
const labelsIn = (text: string): Map<string, string> =>
  new Map(
    text.split('",').map((label): [string, string] => {
      const cut = label.indexOf('="')
      return [label.slice(0, Math.max(0, cut)), label.slice(cut + 2).replace('"', '')]
    }),
  )

const PORT = /:[0-9]{1,5}$/

type Sample = { code: string; host: string; place: number; count: number }

/** A line of the histogram, as far as it is about a name that we serve. */
const sampleIn = (line: string, server: string): Sample | null => {
  if (!line.startsWith(SAMPLE)) return null
  const end = line.lastIndexOf('} ')
  const [labels, value] = [line.slice(SAMPLE.length, end), line.slice(end + 2)]
  const said = labelsIn(labels)
  // Visitors of a proxy behind another port name that port; the route takes no other one (crds/host/proxy.ts).
  const host = (said.get('host') ?? '').replace(PORT, '')
  const le = said.get('le') ?? ''
  const place = le === '+Inf' ? BOUNDS.length : (BOUNDS as readonly number[]).indexOf(Number(le))
  if (said.get('server') !== server || host === '' || host === '_other' || place < 0 || !(Number(value) >= 0))
    return null
  return { code: said.get('code') ?? '', host, place, count: Number(value) }
}

/** @param server whose requests count: redirects to it are none @returns by hostname */
export const trafficIn = (text: string, server: string): Map<string, Traffic> => {
  const found = new Map<string, Traffic>()
  for (const { code, host, place, count } of text.split('\n').flatMap((line) => sampleIn(line, server) ?? [])) {
    const traffic = found.get(host) ?? noTraffic()
    // Each bound counts what the ones below it count, too.
    traffic.took[place] = (traffic.took[place] ?? 0) + count
    const isAll = place === BOUNDS.length
    traffic.requests += isAll ? count : 0
    traffic.errors += isAll && code.startsWith('5') ? count : 0
    found.set(host, traffic)
  }
  for (const traffic of found.values()) {
    traffic.took = traffic.took.map((sum, place) => sum - (traffic.took[place - 1] ?? 0))
  }
  return found
}

/** What came since: a proxy that was configured anew begins at nothing. */
export const trafficSince = (before: Traffic | undefined, now: Traffic): Traffic => {
  if (before === undefined || now.requests < before.requests) return now
  return {
    requests: now.requests - before.requests,
    errors: Math.max(0, now.errors - before.errors),
    took: now.took.map((count, place) => Math.max(0, count - (before.took[place] ?? 0))),
  }
}

/** One more request. @param tookMs until it was answered */
export const withRequest = (
  { requests, errors, took }: Traffic,
  { status, tookMs }: { status: number; tookMs: number },
): Traffic => {
  const within = BOUNDS.findIndex((bound) => tookMs <= bound * 1_000)
  const place = within < 0 ? BOUNDS.length : within
  return {
    requests: requests + 1,
    errors: errors + (status >= 500 ? 1 : 0),
    took: took.map((count, at) => count + (at === place ? 1 : 0)),
  }
}

/** The place with a request that is nearest to another one; -1 without any. */
const nearest = (took: readonly number[], to: number): number =>
  [...took.keys()]
    .filter((place) => (took[place] ?? 0) > 0)
    .reduce((best, place) => (best < 0 || Math.abs(place - to) < Math.abs(best - to) ? place : best), -1)

/** Looks of our own at a hostname: those that have ended since we began, and those that are under way, by how long they have been. */
export type OwnLooks = { ended: Traffic; underWay: Traffic }

/**
 * From one look at a proxy to the next. `notYet`: looks of ours that had ended, and that it had not counted; `early`: what it had counted and
 * was taken for looks of ours that had not ended.
 */
export type Carried = { notYet: Traffic; early: Traffic }

export const nothingCarried = (): Carried => ({ notYet: noTraffic(), early: noTraffic() })

const sumOf = (took: readonly number[]): number => took.reduce((sum, count) => sum + count, 0)

/** Takes as many of one off another as both have, each the one that took nearest as long. @returns what was taken, and what was not found */
const takeOff = (from: number[], took: readonly number[]): { taken: number[]; left: number[] } => {
  const [taken, left] = [noTraffic().took, [...took]]
  for (const [place, count] of took.entries()) {
    for (let n = 0; n < count; n += 1) {
      const at = nearest(from, place)
      if (at < 0) return { taken, left }
      from[at] = (from[at] ?? 0) - 1
      taken[at] = (taken[at] ?? 0) + 1
      left[place] = (left[place] ?? 0) - 1
    }
  }
  return { taken, left }
}

const traffic = (took: number[], errors: number): Traffic => {
  const requests = sumOf(took)
  return { requests, errors: Math.min(requests, Math.max(0, errors)), took }
}

const atMost = (took: readonly number[], most: number): { kept: number[]; rest: number[] } => {
  const kept = noTraffic().took
  let room = most
  const rest = took.map((count, place) => {
    const some = Math.min(count, room)
    kept[place] = some
    room -= some
    return count - some
  })
  return { kept, rest }
}

/**
 * The requests of others: looks of our own go through the same proxy, and are no use of the app. The proxy counts a look before or after we see
 * its end, so that what may be a look under way is taken for one, and told at the next look if it was a visitor: over two looks the sum is right,
 * and what was told of visitors is never taken back.
 * @param counted by the proxy since the look before  @param own `ended` since then, as long as they took us
 * @returns what is left, and what the next look has to know. A look that the proxy has not counted by then never came to it.
 */
export const visitorsIn = (
  counted: Traffic,
  own: OwnLooks,
  before: Carried = nothingCarried(),
): { others: Traffic; carried: Carried } => {
  const others = [...counted.took]
  takeOff(others, before.notYet.took)
  const ended = [...own.ended.took]
  const stillEarly = takeOff(ended, before.early.took).left
  const { kept, rest } = atMost(stillEarly, own.underWay.requests)
  const notYet = takeOff(others, ended).left
  const { kept: candidates } = atMost(own.underWay.took, own.underWay.requests - sumOf(kept))
  const { taken } = takeOff(others, candidates)
  const early = taken.map((count, place) => count + (kept[place] ?? 0))
  // taken for a look that never came to the proxy: it was a visitor's
  const all = others.map((count, place) => count + (rest[place] ?? 0))
  const errors = counted.errors + before.early.errors - before.notYet.errors - own.ended.errors
  const visitors = traffic(all, errors)
  return {
    others: visitors,
    carried: { notYet: traffic(notYet, -errors), early: traffic(early, errors - visitors.errors) },
  }
}

/** Within which of the bounds so much of all requests lie, in milliseconds, evenly spread between two of them. Null without any. */
export const quantileMs = (took: readonly number[], share: number): number | null => {
  const all = sumOf(took)
  if (all === 0) return null
  let below = 0
  for (const [place, count] of took.entries()) {
    if (below + count >= share * all && count > 0) {
      const [from, to] = [BOUNDS[place - 1] ?? 0, BOUNDS[place] ?? BOUNDS[place - 1] ?? 0]
      return Math.round((from + ((to - from) * (share * all - below)) / count) * 1_000)
    }
    below += count
  }
  return Math.round((BOUNDS.at(-1) ?? 0) * 1_000)
}
