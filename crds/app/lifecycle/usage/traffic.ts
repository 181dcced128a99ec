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

/**
 * The requests of others: looks of our own go through the same proxy, and are no use of the app.
 * @param own those that we made, as long as they took us: where the proxy has none that long, the nearest is one of ours
 * @returns what is left of both: a look that the proxy has not counted yet is taken off the next time
 */
export const withoutOwn = (counted: Traffic, own: Traffic): { others: Traffic; notYet: Traffic } => {
  const others = [...counted.took]
  const notYet = [...own.took]
  for (const [place, count] of own.took.entries()) {
    for (let left = count; left > 0; left -= 1) {
      const at = nearest(others, place)
      if (at < 0) break
      others[at] = (others[at] ?? 0) - 1
      notYet[place] = (notYet[place] ?? 0) - 1
    }
  }
  const of = (took: number[], errors: number): Traffic => {
    const requests = took.reduce((sum, count) => sum + count, 0)
    return { requests, errors: Math.min(requests, Math.max(0, errors)), took }
  }
  return { others: of(others, counted.errors - own.errors), notYet: of(notYet, own.errors - counted.errors) }
}

/** Within which of the bounds so much of all requests lie, in milliseconds, evenly spread between two of them. Null without any. */
export const quantileMs = (took: readonly number[], share: number): number | null => {
  const all = took.reduce((sum, count) => sum + count, 0)
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
