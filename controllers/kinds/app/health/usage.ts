/**
 * What the apps of a host are asked and use: one command over SSH for all of them, counted by the minute from what it said the time before
 * (rules/app.md#usage). Nothing is decided by it.
 */
import { type HostUse, hostUseIn, useSince } from '../../../../crds/app/lifecycle/usage/containers.ts'
import type { AppMinute } from '../../../../crds/app/lifecycle/usage/points.ts'
import {
  type Carried,
  noTraffic,
  nothingCarried,
  type OwnLooks,
  type Traffic,
  trafficIn,
  trafficSince,
  visitorsIn,
} from '../../../../crds/app/lifecycle/usage/traffic.ts'
import { SERVER_ID } from '../../../../crds/host/proxy.ts'
import type { Hosts } from '../../../io/hosts/link.ts'
import type { UsageStore } from '../../../store/app/usage.ts'
import type { RouteRows } from '../../../store/host/hosts.ts'
import { USAGE } from '../scripts.ts'

const DEADLINE_MS = 20_000
const OUTPUT_BYTES = 4 * 1024 * 1024
/** Between two looks that far apart nothing is known of when it was used. */
const GAP_MAX_MS = 5 * 60_000
const MS_PER_SECOND = 1_000

export type HostApp = { name: string; slug: string }

/** What was seen last of a host; `own`: looks of ours by then, and `carried` what is to be known of them the next time. By hostname. */
export type SeenHost = {
  atMs: number
  traffic: Map<string, Traffic>
  own: ReadonlyMap<string, OwnLooks>
  carried: Map<string, Carried>
  use: HostUse
}

/** Of a host, between two looks: for metrics without the name of an app. */
export type HostUsage = { requests: number; errors: number; cpuMs: number; memoryMib: number }

export type UsageDeps = {
  hosts: Pick<Hosts, 'link' | 'visited'>
  routes: Pick<RouteRows, 'list'>
  usage: UsageStore
  now: () => Date
}

const OWNER = 'App/'

/** Hostnames of each app, whoever gave them. */
const hostnamesOf = async ({ routes }: UsageDeps, host: string): Promise<Map<string, string[]>> => {
  const rows = (await routes.list(host)).filter(({ owner }) => owner.startsWith(OWNER))
  return new Map(rows.map(({ owner, hostnames }) => [owner.slice(OWNER.length), [...hostnames]]))
}

const added = (a: Traffic, b: Traffic): Traffic => ({
  requests: a.requests + b.requests,
  errors: a.errors + b.errors,
  took: a.took.map((count, place) => count + (b.took[place] ?? 0)),
})

/** What visitors asked a hostname between two looks. @param seen keeps what the next look has to know of ours */
const visitorsOf = (hostname: string, before: SeenHost, seen: SeenHost): Traffic => {
  const [counted, own] = [seen.traffic.get(hostname), seen.own.get(hostname)]
  // a proxy that was configured anew has forgotten what it counted, and will not count what it had not
  const isAnew = (counted?.requests ?? 0) < (before.traffic.get(hostname)?.requests ?? 0)
  const since = counted ? trafficSince(before.traffic.get(hostname), counted) : noTraffic()
  const ended = own ? trafficSince(before.own.get(hostname)?.ended, own.ended) : noTraffic()
  const known = before.carried.get(hostname) ?? nothingCarried()
  const looks = { ended, underWay: own?.underWay ?? noTraffic() }
  const { others, carried } = visitorsIn(since, looks, isAnew ? { ...known, notYet: noTraffic() } : known)
  const left = isAnew ? { ...carried, notYet: noTraffic() } : carried
  if (left.notYet.requests + left.early.requests > 0) seen.carried.set(hostname, left)
  return others
}

/** @param host with where its proxy is administered  @throws as HostLink.run does, StaleEpoch */
export const lookAtUse = async (
  deps: UsageDeps,
  host: { name: string; admin: string; apps: readonly HostApp[] },
  before: SeenHost | undefined,
): Promise<{ seen: SeenHost; of: HostUsage }> => {
  const run = {
    script: USAGE,
    lines: [host.admin],
    deadlineMs: DEADLINE_MS,
    lane: 'status' as const,
    maxOutputBytes: OUTPUT_BYTES,
  }
  const { stdout } = await deps.hosts.link(host.name).run(run)
  const text = stdout.toString('utf8')
  const at = deps.now()
  const seen: SeenHost = {
    atMs: performance.now(),
    traffic: trafficIn(text, SERVER_ID),
    own: deps.hosts.visited(host.name),
    carried: new Map(),
    use: hostUseIn(text),
  }
  const isNear = before !== undefined && seen.atMs - before.atMs <= GAP_MAX_MS
  const uses = useSince(isNear ? before.use : undefined, seen.use)
  const names = await hostnamesOf(deps, host.name)
  // The first look of all only says from where to count.
  const trafficOf = (name: string): Traffic =>
    before === undefined
      ? noTraffic()
      : (names.get(name) ?? []).reduce((sum, hostname) => added(sum, visitorsOf(hostname, before, seen)), noTraffic())
  const minutes = host.apps.flatMap(({ name, slug }): (AppMinute & { app: string })[] => {
    const { requests, errors, took } = trafficOf(name)
    const use = uses.get(slug)
    if (use === undefined && requests === 0) return []
    const { cpuMs = 0, memoryMib = 0, diskMib = null, restarts = 0 } = use ?? {}
    const looked = use !== undefined && isNear ? (seen.atMs - before.atMs) / MS_PER_SECOND : 0
    return [{ app: name, at: at.toISOString(), requests, errors, took, cpuMs, looked, memoryMib, diskMib, restarts }]
  })
  await deps.usage.count(minutes)
  const total = (of: (minute: AppMinute) => number): number => minutes.reduce((sum, minute) => sum + of(minute), 0)
  return {
    seen,
    of: {
      requests: total(({ requests }) => requests),
      errors: total(({ errors }) => errors),
      cpuMs: total(({ cpuMs }) => cpuMs),
      memoryMib: total(({ memoryMib }) => memoryMib),
    },
  }
}
