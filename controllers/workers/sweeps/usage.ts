/** Looks at what apps are asked and use (controllers/kinds/app/health/usage.ts): each host by itself, so that none waits for another. */
import { APP } from '../../../crds/app/kind.ts'
import { livesOn } from '../../../crds/app/lifecycle/keeping/moving/place.ts'
import { HOST } from '../../../crds/host/kind.ts'
import { proxyOf } from '../../../crds/host/proxy.ts'
import type { Log } from '../../base/log.ts'
import { type HostUsage, lookAtUse, type SeenHost, type UsageDeps } from '../../kinds/app/health/usage.ts'
import type { Context } from '../../kinds/context.ts'
import type { Metrics } from '../../ops/metrics.ts'
import { makeUsageStore } from '../../store/app/usage.ts'
import { makeRouteRows } from '../../store/host/hosts.ts'

/** A minute has four looks, so that what one misses is little. */
const POLL_MS = 15_000
const AGAIN_MS = 60_000
const BYTES_PER_MIB = 1024 * 1024

/** By host alone: no label names an app, of which there are many. */
const metersOf = (metrics: Metrics) => {
  const requests = metrics.counter({
    name: 'bottega_app_requests_total',
    help: 'Requests of apps that proxies of hosts have answered.',
    labelNames: ['host', 'outcome'],
  })
  const cpu = metrics.counter({
    name: 'bottega_app_cpu_seconds_total',
    help: 'Processor time of the containers of apps.',
    labelNames: ['host'],
  })
  const memory = metrics.gauge({
    name: 'bottega_app_memory_bytes',
    help: 'Memory of the containers of apps.',
    labelNames: ['host'],
  })
  return (host: string, { requests: all, errors, cpuMs, memoryMib }: HostUsage): void => {
    requests.inc({ host, outcome: 'served' }, all - errors)
    requests.inc({ host, outcome: 'failed' }, errors)
    cpu.inc({ host }, cpuMs / 1_000)
    memory.set({ host }, memoryMib * BYTES_PER_MIB)
  }
}

const told = new WeakMap<Metrics, ReturnType<typeof metersOf>>()
/** A process that leads twice has its metrics once. */
const meterOf = (metrics: Metrics | undefined): ReturnType<typeof metersOf> | undefined => {
  if (metrics === undefined) return undefined
  const known = told.get(metrics) ?? metersOf(metrics)
  told.set(metrics, known)
  return known
}

/** @returns the way to end it */
export const startUsage = (context: Context, { log }: { log: Log }): (() => void) => {
  const { pg, epoch, keys, hosts, now } = context
  const deps: UsageDeps = {
    hosts,
    now,
    routes: makeRouteRows({ pg, epoch, keys }),
    usage: makeUsageStore({ pg, epoch }),
  }
  const meter = meterOf(context.metrics)
  const [heldHosts, heldApps] = [context.held(HOST), context.held(APP)]
  const busy = new Set<string>()
  const seen = new Map<string, SeenHost>()
  const notBeforeMs = new Map<string, number>()
  let isOver = false
  const look = async (name: string, admin: string): Promise<void> => {
    busy.add(name)
    try {
      const apps = heldApps.list().filter((app) => livesOn(app) === name)
      const host = { name, admin, apps: apps.map(({ metadata, spec }) => ({ name: metadata.name, slug: spec.slug })) }
      const looked = await lookAtUse(deps, host, seen.get(name))
      seen.set(name, looked.seen)
      meter?.(name, looked.of)
      notBeforeMs.delete(name)
    } catch (error) {
      notBeforeMs.set(name, performance.now() + AGAIN_MS)
      if (!isOver) log.warn({ err: error, host: name }, 'what apps use was not looked at')
    } finally {
      busy.delete(name)
    }
  }
  const turn = (): void => {
    const used = new Set(heldApps.list().map(livesOn))
    for (const { metadata, spec } of heldHosts.list()) {
      const { name } = metadata
      if (!used.has(name) || hosts.facts(name)?.ready !== true) continue
      if (busy.has(name) || performance.now() < (notBeforeMs.get(name) ?? 0)) continue
      void look(name, proxyOf(spec).admin)
    }
  }
  const timer = setInterval(turn, POLL_MS)
  return () => {
    isOver = true
    clearInterval(timer)
  }
}
