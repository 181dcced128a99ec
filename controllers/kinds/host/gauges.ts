/** What is told of hosts as figures (rules/host.md#figures). Of one that is not reached nothing old is told: it would say that all is well. */

import type { Findings } from '../../../crds/host/inspect.ts'
import type { HostPlan, HostWorld } from '../../../crds/host/plan.ts'
import { PHASES } from '../../../crds/host/schema.ts'
import type { Metrics } from '../../ops/metrics.ts'

const GIB = 1024 ** 3

export type HostLook = { approved: boolean; world: HostWorld; plan: Pick<HostPlan, 'status'>; now: Date }

export type HostGauges = {
  /** As a pass found it. */
  seen(host: string, look: HostLook): void
  /** There is no such host any more. */
  forget(host: string): void
}

export const hostGauges = (metrics: Pick<Metrics, 'gauge'>): HostGauges => {
  const gauge = (name: string, help: string) =>
    metrics.gauge({ name: `bottega_host_${name}`, help, labelNames: ['host'] as const })
  const reachable = gauge('reachable', '1 when it was reached, and showed the pinned key.')
  const approved = gauge('approved', '1 when work may run on it.')
  const isolated = gauge('isolated', '1 when its guard stands, and its Docker remaps users.')
  const free = gauge('disk_free_bytes', 'Of the disk of its Docker.')
  const total = gauge('disk_total_bytes', 'Of the disk of its Docker.')
  const seenAt = gauge('seen_timestamp_seconds', 'When it was reached last.')
  const state = metrics.gauge({
    name: 'bottega_host_state',
    help: '1 for the state that it is in.',
    labelNames: ['host', 'state'] as const,
  })
  const found = (host: string, { disk, users }: Findings, { state: guarded }: HostWorld['guard'], now: Date): void => {
    isolated.set({ host }, guarded === 'stands' && users === 'remapped' ? 1 : 0)
    free.set({ host }, disk.freeGib * GIB)
    total.set({ host }, disk.totalGib * GIB)
    seenAt.set({ host }, now.getTime() / 1000)
  }
  return {
    seen(host, { approved: isApproved, world, plan, now }) {
      const { inspection, guard } = world
      const isReached = inspection?.reach === 'ok'
      reachable.set({ host }, isReached ? 1 : 0)
      approved.set({ host }, isApproved ? 1 : 0)
      for (const one of PHASES) state.set({ host, state: one }, plan.status.phase === one ? 1 : 0)
      if (isReached) found(host, inspection.findings, guard, now)
      else for (const one of [isolated, free, total]) one.remove({ host })
    },
    forget(host) {
      for (const one of [reachable, approved, isolated, free, total, seenAt]) one.remove({ host })
      for (const one of PHASES) state.remove({ host, state: one })
    },
  }
}
