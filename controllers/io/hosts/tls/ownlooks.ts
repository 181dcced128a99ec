/**
 * Which looks at hostnames are our own: a host's proxy counts them as anybody's, and what visitors asked is told without them
 * (crds/app/lifecycle/usage/traffic.ts). In this process alone. Source: rules/app.md#usage.
 */
import { noTraffic, type OwnLooks, type Traffic, withRequest } from '../../../../crds/app/lifecycle/usage/traffic.ts'
import type { Visited } from './served.ts'

type HostLooks = { ended: Map<string, Traffic>; underWay: Set<{ hostname: string; beganMs: number }> }

export type OwnLookCounts = {
  /** Counts a look, from its begin; one that asked nothing in the end was none. */
  during(host: string, hostname: string, look: () => Promise<Visited>): Promise<Visited>
  /** By hostname. */
  of(host: string): ReadonlyMap<string, OwnLooks>
  forget(host: string): void
}

/** @param nowMs of a clock that never goes back */
export const makeOwnLooks = (nowMs: () => number = () => performance.now()): OwnLookCounts => {
  const hosts = new Map<string, HostLooks>()
  const looksAt = (host: string): HostLooks => {
    const known = hosts.get(host) ?? { ended: new Map(), underWay: new Set() }
    hosts.set(host, known)
    return known
  }
  return {
    during: async (host, hostname, look) => {
      const { ended, underWay } = looksAt(host)
      const one = { hostname, beganMs: nowMs() }
      underWay.add(one)
      try {
        const visited = await look()
        const { status, tookMs } = visited
        if (tookMs !== null)
          ended.set(hostname, withRequest(ended.get(hostname) ?? noTraffic(), { status: status ?? 0, tookMs }))
        return visited
      } finally {
        underWay.delete(one)
      }
    },
    of: (host) => {
      const { ended, underWay } = hosts.get(host) ?? { ended: new Map(), underWay: new Set() }
      const looks = new Map(
        [...ended].map(([hostname, traffic]) => [hostname, { ended: traffic, underWay: noTraffic() }]),
      )
      for (const { hostname, beganMs } of underWay) {
        const one = looks.get(hostname) ?? { ended: noTraffic(), underWay: noTraffic() }
        const more = withRequest(one.underWay, { status: 0, tookMs: nowMs() - beganMs })
        looks.set(hostname, { ...one, underWay: more })
      }
      return looks
    },
    forget: (host) => void hosts.delete(host),
  }
}
