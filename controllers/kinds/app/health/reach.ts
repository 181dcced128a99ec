/**
 * What visitors get under each hostname of an app: by the TLS port of its host, as they come, and not by what the proxy says
 * of itself (rules/app.md#readiness).
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ReachedName, ReachSeen } from '../../../../crds/app/lifecycle/publishing/naming.ts'
import { probeOf } from '../../../../crds/app/lifecycle/publishing/probe.ts'
import { LOOK_EVERY_MS } from '../../../../crds/app/plan.ts'
import type { AppSpec } from '../../../../crds/app/schema.ts'
import type { Hosts } from '../../../io/hosts/link.ts'

export type ReachLooks = {
  /**
   * @param hostnames those that have a route
   * @returns what was seen last while its visitors still wait @throws what Hosts.tls throws
   */
  at(app: string, spec: AppSpec, hostnames: readonly string[]): Promise<ReachSeen>
  forget(app: string): void
}

/** Of one app, looks at once. */
const LANES = 4
/** A certificate that is on its way is asked for again sooner. */
const SOON_MS = 5_000
/** Where visitors wait, nobody who mends it waits with them: what they get is known to a later pass. */
const HELD_MS = 1_000

const reached = async (hosts: Hosts, spec: AppSpec, hostname: string): Promise<ReachedName> => {
  const { path, timeoutSeconds } = probeOf(spec)
  const [certificate] = await hosts.certificatesOf(spec.hostId, [hostname])
  const { state = 'missing', notAfter = null } = certificate ?? {}
  const found = { hostname, certificate: state, notAfter }
  if (state !== 'valid' && state !== 'expiring') return { ...found, status: null, detail: null }
  const page = await hosts.visit(spec.hostId, { hostname, path, limitMs: timeoutSeconds * 1_000 })
  return { ...found, ...page }
}

const unseen = (hostname: string): ReachedName => ({
  ...{ hostname, certificate: null, notAfter: null, status: null, detail: null },
})

const lookOf = async (hosts: Hosts, spec: AppSpec, hostnames: readonly string[]): Promise<ReachedName[]> => {
  const left = [...hostnames]
  const names: ReachedName[] = []
  const lane = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) names.push(await reached(hosts, spec, next))
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  const order = (one: ReachedName) => hostnames.indexOf(one.hostname)
  return names.toSorted((a, b) => order(a) - order(b))
}

type Look = { key: string; reach: Promise<ReachSeen> }

export const makeReachLooks = ({ hosts, now }: { hosts: Hosts; now: () => Date }): ReachLooks => {
  const last = new Map<string, { key: string; reach: ReachSeen }>()
  const running = new Map<string, Look>()
  const isFresh = ({ at, names }: ReachSeen): boolean => {
    const isWhole = names.every(({ certificate }) => certificate === 'valid')
    return now().getTime() - Date.parse(at) < (isWhole ? LOOK_EVERY_MS : SOON_MS)
  }
  const begin = (app: string, key: string, spec: AppSpec, hostnames: readonly string[]): Look => {
    const work = async (): Promise<ReachSeen> => {
      const names = await lookOf(hosts, spec, hostnames)
      return { at: now().toISOString(), names }
    }
    const look: Look = { key, reach: work() }
    running.set(app, look)
    const isNewest = () => running.get(app) === look && running.delete(app)
    look.reach.then(
      (reach) => void (isNewest() && last.set(app, { key, reach })),
      () => void isNewest(),
    )
    return look
  }
  return {
    at(app, spec, hostnames) {
      const key = JSON.stringify([hostnames, spec.hostId, probeOf(spec)])
      const kept = last.get(app)
      const known = kept?.key === key ? kept.reach : null
      if (known && isFresh(known)) return Promise.resolve(known)
      const under = running.get(app)
      const look = under?.key === key ? under : begin(app, key, spec, hostnames)
      const meanwhile = known ?? { at: now().toISOString(), names: hostnames.map(unseen) }
      return Promise.race([look.reach, sleep(HELD_MS, meanwhile, { ref: false })])
    },
    forget(app) {
      last.delete(app)
      running.delete(app)
    },
  }
}
