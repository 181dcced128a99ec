/**
 * Figures of an instance beside its state: those of the status that move by themselves, and are not written at each pass, and those
 * that are told as metrics (rules/devinstance.md#figures).
 */
import type { Verdict } from '../../kernel/plan.ts'
import {
  type DevInstanceRow,
  monthCostMicroUsd,
  orphansOf,
  presentMonthlyMicroUsd,
  runningMonthlyMicroUsd,
} from '../life/row.ts'
import { addressMicroUsd, HOURS_PER_MONTH, usdOf } from '../sizing/prices.ts'
import type { DevInstanceWorld } from '../world.ts'

const HOUR_MS = 3_600_000
/** What is shown may be so much behind: each write costs etcd more than the figure is worth. */
const BEHIND_CENTS = 10
const BEHIND_MICRO_USD = BEHIND_CENTS * 10_000
/** Shorter than that is nobody idle. */
export const IDLE_SHOWN_MS = 5 * 60_000

/** What it has cost in this month. @param shown what the status says: it stays while little was added */
export const monthUsdOf = (instance: DevInstanceRow, shown: string | undefined, now: Date): string => {
  const exact = usdOf(monthCostMicroUsd(instance, now.toISOString())).toFixed(2)
  if (shown === undefined || instance.meter.monthlyMicroUsd === 0) return exact
  const added = Math.round((Number(exact) - Number(shown)) * 100)
  return added >= 0 && added < BEHIND_CENTS ? shown : exact
}

/** When what is shown of the cost is to be looked at again, in ms: not before an hour, and where a month begins. */
export const costShownAt = ({ meter }: Pick<DevInstanceRow, 'meter'>, now: Date): number => {
  const inMs = (BEHIND_MICRO_USD / meter.monthlyMicroUsd) * HOURS_PER_MONTH * HOUR_MS
  const month = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)
  return Math.min(month, now.getTime() + Math.ceil(Math.max(HOUR_MS, inMs)))
}

/** When it was used last, whole seconds; null while it is used, or does not run, or nobody told. */
export const idleSinceOf = (instance: DevInstanceRow, { lastReport }: DevInstanceWorld, now: Date): string | null => {
  const { state, machine, startedAt } = instance
  if (state !== 'running' || machine !== 'up' || lastReport?.usedAt == null) return null
  const sinceMs = Math.max(Date.parse(lastReport.usedAt), Date.parse(startedAt ?? '') || 0)
  return now.getTime() - sinceMs < IDLE_SHOWN_MS ? null : `${new Date(sinceMs).toISOString().slice(0, 19)}Z`
}

/** What of it costs and serves nothing, in micro-USD a month: addresses out of use, second instances, what is left of one that is gone. */
export const orphanMicroUsd = (instance: DevInstanceRow): number => {
  const { machine, state, deletedAt, strays } = instance
  if (machine === 'gone' || state === 'terminated' || deletedAt !== null) return presentMonthlyMicroUsd(instance)
  const addresses = orphansOf(instance).length * addressMicroUsd(instance.pricingVersion)
  return addresses + strays.length * runningMonthlyMicroUsd(instance)
}

/** A wish that is not so: awaited of the provisioner, refused by a rule, or tried and undone. `since`: ISO. */
export type OpenWish = { state: 'awaited' | 'refused' | 'undone'; since: string }

/** @param verdict what the plan says of it  @param stalledSince since when it says so, ISO; where it refuses */
export const openWishOf = (
  instance: DevInstanceRow,
  { verdict, stalledSince }: { verdict: Verdict; stalledSince: string | undefined },
): OpenWish | null => {
  const { powerWish, sizeWish, deletedAt } = instance
  if (deletedAt !== null) return null
  if (verdict.state === 'stalled') return stalledSince === undefined ? null : { state: 'refused', since: stalledSince }
  const open = [
    ...(powerWish.open ? [powerWish.at] : []),
    ...(sizeWish.open && !sizeWish.undoneAt ? [sizeWish.at] : []),
  ]
  const [first] = open.sort()
  if (first !== undefined) return { state: 'awaited', since: first }
  return sizeWish.undoneAt === null ? null : { state: 'undone', since: sizeWish.undoneAt }
}
