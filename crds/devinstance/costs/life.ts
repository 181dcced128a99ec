/**
 * What a dev instance was committed to and what it cost, all its life long: its row made again of its facts, decision after
 * decision, with how long each stood. Amounts are integer micro-USD a month of 730 hours. Source: rules/devinstance.md#costs.
 */
import { isDeepStrictEqual } from '../../values/compare.ts'
import { type DecidedCall, rebuiltAfter } from '../life/rebuilt.ts'
import { committedMicroUsd, type DevInstanceRow } from '../life/row.ts'
import type { State } from '../schema.ts'

/** For so long it was in one state, at one price. `committedMicroUsd` is the plan, `actualMicroUsd` what is billed. */
export type CostSpan = {
  owner: string
  state: State
  /** ISO. */
  from: string
  to: string
  committedMicroUsd: number
  actualMicroUsd: number
}

/** `present`: as it stands; null once it was deleted, or where there never was one. */
export type LifeCost = { spans: CostSpan[]; present: Omit<CostSpan, 'from' | 'to'> | null }

type Standing = { owner: string; instance: DevInstanceRow }

/** A name may come again, for another owner. */
const after = (before: Standing | null, call: DecidedCall): Standing | null => {
  const instance = rebuiltAfter(before?.instance ?? null, call)
  const owner = call.trigger === 'reserve' ? call.said.spec.account : before?.owner
  return instance === null || owner === undefined ? null : { owner, instance }
}

const costOf = ({ owner, instance }: Standing): LifeCost['present'] => {
  const { state, meter, deletedAt } = instance
  const cost = { owner, state, committedMicroUsd: committedMicroUsd(instance), actualMicroUsd: meter.monthlyMicroUsd }
  // One that was deleted and is seen again costs, until it is confirmed gone.
  return deletedAt !== null && cost.committedMicroUsd === 0 && cost.actualMicroUsd === 0 ? null : cost
}

/** One that is gone and costs nothing more is only a record. */
const counts = (cost: LifeCost['present']): cost is NonNullable<LifeCost['present']> =>
  cost !== null && (cost.state !== 'terminated' || cost.committedMicroUsd > 0 || cost.actualMicroUsd > 0)

const isLike = ({ from: _, to: __, ...a }: CostSpan, b: NonNullable<LifeCost['present']>): boolean =>
  isDeepStrictEqual(a, b)

/** Spans of no length are none; those that are alike and follow one another are one. */
const withSpan = (spans: CostSpan[], cost: LifeCost['present'], from: string, to: string): void => {
  if (!counts(cost) || from >= to) return
  const last = spans.at(-1)
  if (last && last.to === from && isLike(last, cost)) last.to = to
  else spans.push({ ...cost, from, to })
}

/**
 * @param calls in the order of their decisions
 * @param until now, ISO with milliseconds, as all instants here are: so they compare as text
 */
export const lifeCost = (calls: readonly DecidedCall[], until: string): LifeCost => {
  const spans: CostSpan[] = []
  let standing: Standing | null = null
  let since = ''
  for (const call of calls) {
    // What is said late is counted from where the one before was: no time is counted twice.
    const at = call.at > since ? call.at : since
    if (standing) withSpan(spans, costOf(standing), since, at)
    standing = after(standing, call)
    since = at
  }
  if (standing === null) return { spans, present: null }
  const present = costOf(standing)
  withSpan(spans, present, since, until)
  return { spans, present: counts(present) ? present : null }
}
