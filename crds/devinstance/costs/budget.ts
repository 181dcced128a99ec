/**
 * What an owner has spent on dev instances in the present month, what it comes to as things stand, and which parts of the cap are
 * reached. Amounts are integer micro-USD until they are shown. Source: rules/devinstance.md#budget.
 */
import { divideHalfUp } from '../../values/money.ts'
import { HOURS_PER_MONTH, usdOf } from '../sizing/prices.ts'

/** Percent of the cap that the owner is told of, once a month each. */
export const BUDGET_THRESHOLDS = [50, 80, 100] as const
export type BudgetThreshold = (typeof BUDGET_THRESHOLDS)[number]

const MONTH_MS = BigInt(HOURS_PER_MONTH * 3_600_000)
const PERCENT = 100n

/** USD with two decimals; what is spent until now, and by the end of the month if nothing changes. */
export type Forecast = { owner: string; month: string; spentUsd: number; forecastUsd: number }

export type OwnerSpent = { owner: string; month: string; spentMicroUsd: bigint; presentMonthlyMicroUsd: bigint }

/** Of a month YYYY-MM, the first instant after it, in ms. */
const endOf = (month: string): number => Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)), 1)

/** @param at now, ISO, in that month */
export const forecastOf = (
  { owner, month, spentMicroUsd, presentMonthlyMicroUsd }: OwnerSpent,
  at: string,
): Forecast => {
  const leftMs = BigInt(Math.max(0, endOf(month) - Date.parse(at)))
  const coming = divideHalfUp(presentMonthlyMicroUsd * leftMs, MONTH_MS)
  return { owner, month, spentUsd: usdOf(spentMicroUsd), forecastUsd: usdOf(spentMicroUsd + coming) }
}

/** Whole percent of a cap that were spent, rounded down: a threshold is reached when it is, and not before. Null: there is no cap to reach. */
export const percentSpent = (spentMicroUsd: bigint, capMicroUsd: number): number | null =>
  capMicroUsd <= 0 ? null : Number((spentMicroUsd * PERCENT) / BigInt(capMicroUsd))

/** Those that are reached, the lowest first. */
export const thresholdsReached = (percent: number | null): BudgetThreshold[] =>
  BUDGET_THRESHOLDS.filter((threshold) => percent !== null && percent >= threshold)

/** Names the alert of a threshold in a month: there is one of each. */
export const budgetKey = (month: string, threshold: BudgetThreshold): string => `budget:${month}:${threshold}`
