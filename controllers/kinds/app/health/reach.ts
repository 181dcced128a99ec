/**
 * What visitors get under each hostname of an app: by the TLS port of its host, as they come, and not by what the proxy says
 * of itself (rules/app.md#readiness).
 */

import type { ReachedName, ReachSeen } from '../../../../crds/app/lifecycle/publishing/naming.ts'
import { probeOf } from '../../../../crds/app/lifecycle/publishing/probe.ts'
import { LOOK_EVERY_MS } from '../../../../crds/app/plan.ts'
import type { AppSpec } from '../../../../crds/app/schema.ts'
import type { Hosts } from '../../../io/hosts/link.ts'

export type ReachLooks = {
  /** @param hostnames those that have a route @throws what Hosts.tls throws */
  at(app: string, spec: AppSpec, hostnames: readonly string[]): Promise<ReachSeen>
  forget(app: string): void
}

/** Of one app, looks at once. */
const LANES = 4
/** A certificate that is on its way is asked for again sooner. */
const SOON_MS = 5_000

const reached = async (hosts: Hosts, spec: AppSpec, hostname: string): Promise<ReachedName> => {
  const { path, timeoutSeconds } = probeOf(spec)
  const [certificate] = await hosts.certificatesOf(spec.hostId, [hostname])
  const { state = 'missing', notAfter = null } = certificate ?? {}
  const found = { hostname, certificate: state, notAfter }
  if (state !== 'valid' && state !== 'expiring') return { ...found, status: null, detail: null }
  const page = await hosts.visit(spec.hostId, { hostname, path, limitMs: timeoutSeconds * 1_000 })
  return { ...found, ...page }
}

export const makeReachLooks = ({ hosts, now }: { hosts: Hosts; now: () => Date }): ReachLooks => {
  const last = new Map<string, { key: string; reach: ReachSeen }>()
  const isFresh = ({ at, names }: ReachSeen): boolean => {
    const isWhole = names.every(({ certificate }) => certificate === 'valid')
    return now().getTime() - Date.parse(at) < (isWhole ? LOOK_EVERY_MS : SOON_MS)
  }
  return {
    async at(app, spec, hostnames) {
      const key = JSON.stringify([hostnames, spec.hostId, probeOf(spec)])
      const kept = last.get(app)
      if (kept?.key === key && isFresh(kept.reach)) return kept.reach
      const left = [...hostnames]
      const names: ReachedName[] = []
      const lane = async () => {
        for (let next = left.shift(); next !== undefined; next = left.shift())
          names.push(await reached(hosts, spec, next))
      }
      await Promise.all(Array.from({ length: LANES }, lane))
      const order = (one: ReachedName) => hostnames.indexOf(one.hostname)
      const reach = { at: now().toISOString(), names: names.toSorted((a, b) => order(a) - order(b)) }
      last.set(app, { key, reach })
      return reach
    },
    forget: (app) => void last.delete(app),
  }
}
