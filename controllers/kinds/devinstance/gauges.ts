/** What is told of dev instances as figures, by whoever leads (rules/devinstance.md#figures). What grows with time is reckoned as it is read. */

import { LEASE_MS } from '../../../crds/devinstance/life/happened.ts'
import { committedMicroUsd, type DevInstanceRow } from '../../../crds/devinstance/life/row.ts'
import type { DevInstancePlan, DevInstanceResource } from '../../../crds/devinstance/plan.ts'
import { MICRO_USD } from '../../../crds/devinstance/reserving.ts'
import { STATES } from '../../../crds/devinstance/schema.ts'
import { type OpenWish, openWishOf, orphanMicroUsd } from '../../../crds/devinstance/standing/figures.ts'
import type { DevInstanceWorld } from '../../../crds/devinstance/world.ts'
import type { Metrics } from '../../ops/metrics.ts'

type Looked = {
  instance: DevInstanceRow | null
  world: Pick<DevInstanceWorld, 'account'>
  plan: Pick<DevInstancePlan, 'verdict'>
}

type Kept = { account: string; capMicroUsd: number | null; row: DevInstanceRow; wish: OpenWish | null }

export type DevInstanceGauges = {
  /** As a pass left it, with the status that was written. */
  seen(object: DevInstanceResource, looked: Looked): void
  forget(name: string): void
}

const WISHES = ['awaited', 'refused', 'undone'] as const
const usd = (microUsd: number): number => microUsd / MICRO_USD
const sum = <T>(all: readonly T[], of: (one: T) => number): number => all.reduce((total, one) => total + of(one), 0)

/** Gauges that are reckoned when they are read. */
const readAtScrape = (metrics: Pick<Metrics, 'gauge'>) => {
  const by = <L extends 'state' | 'account'>(name: string, label: L, help: string, values: () => [string, number][]) =>
    metrics.gauge({
      name,
      help,
      labelNames: [label] as const,
      collect() {
        this.reset()
        for (const [value, figure] of values()) this.set({ [label]: value } as Record<L, string>, figure)
      },
    })
  const plain = (name: string, help: string, value: () => number) =>
    metrics.gauge({
      name,
      help,
      collect() {
        this.set(value())
      },
    })
  return { by, plain }
}

export const devInstanceGauges = (metrics: Pick<Metrics, 'gauge'>, now: () => Date): DevInstanceGauges => {
  const kept = new Map<string, Kept>()
  const all = () => [...kept.values()]
  const secondsSince = (since: readonly number[]): number =>
    since.length === 0 ? 0 : Math.max(0, (now().getTime() - Math.min(...since)) / 1000)
  const { by, plain } = readAtScrape(metrics)
  const wishes = (state: OpenWish['state']) => all().flatMap(({ wish }) => (wish?.state === state ? [wish] : []))
  const perAccount = (of: (held: readonly Kept[]) => number | null): [string, number][] =>
    [...Map.groupBy(all(), ({ account }) => account)].flatMap(([account, held]) => {
      const figure = of(held)
      return figure === null ? [] : [[account, usd(figure)] as [string, number]]
    })

  by('bottega_devbox_instances', 'state', 'Dev instances by state.', () =>
    STATES.map((state) => [state, all().filter(({ row }) => row.state === state).length]),
  )
  by('bottega_devbox_committed_usd', 'account', "What an account's dev instances are committed to, USD a month.", () =>
    perAccount((held) => sum(held, ({ row }) => committedMicroUsd(row))),
  )
  by('bottega_devbox_cap_usd', 'account', 'The most that they may be, USD a month.', () =>
    perAccount((held) => held.at(-1)?.capMicroUsd ?? null),
  )
  plain('bottega_devbox_orphan_usd', 'What costs and serves nothing, as far as it was told, USD a month.', () =>
    usd(sum(all(), ({ row }) => orphanMicroUsd(row))),
  )
  plain(
    'bottega_devbox_lease_oldest_seconds',
    'For how long the oldest lease runs whose instance is not finalized.',
    () => secondsSince(all().flatMap(({ row }) => (row.lease ? [Date.parse(row.lease.expiresAt) - LEASE_MS] : []))),
  )
  by(
    'bottega_devbox_wishes',
    'state',
    'Wishes of a spec that are not so: awaited of the provisioner, refused, or tried and undone.',
    () => WISHES.map((state) => [state, wishes(state).length]),
  )
  by('bottega_devbox_wish_oldest_seconds', 'state', 'For how long the oldest of them stands.', () =>
    WISHES.map((state) => [state, secondsSince(wishes(state).map(({ since }) => Date.parse(since)))]),
  )
  return {
    seen({ metadata, spec, status }, { instance, world, plan }) {
      if (instance === null || instance.deletedAt !== null) {
        kept.delete(metadata.name)
        return
      }
      // of one that is to go nothing is wished, though it is held
      const isGoing = metadata.deletionTimestamp !== undefined
      const stalled = isGoing ? undefined : status?.conditions?.find(({ type }) => type === 'Stalled')
      const stalledSince = stalled?.lastTransitionTime
      const wish = openWishOf(instance, { verdict: plan.verdict, stalledSince })
      const capMicroUsd = world.account?.capMicroUsd ?? null
      kept.set(metadata.name, { account: spec.account, capMicroUsd, row: instance, wish })
    },
    forget: (name) => void kept.delete(name),
  }
}
