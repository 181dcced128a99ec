/**
 * Costs of many dev instances by month (UTC), owner and state: what was committed, and what was spent of it. Everything is
 * summed in micro-USD times milliseconds and divided once, so nothing is lost between spans. Source: rules/devinstance.md#costs.
 */
import { divideHalfUp } from '../../values/money.ts'
import type { DecidedCall } from '../life/rebuilt.ts'
import { STATES, type State } from '../schema.ts'
import { HOURS_PER_MONTH, usdOf } from '../sizing/prices.ts'
import { type Forecast, forecastOf } from './budget.ts'
import { type CostSpan, type LifeCost, lifeCost } from './life.ts'

/** Both inclusive, YYYY-MM. */
export type CostMonths = { from: string; to: string }

/** How many are shown when nobody says which, and how many may be asked for. */
export const COST_MONTHS = 3
export const COST_MONTHS_MAX = 24

/** USD with two decimals; `hours` of all instances together, with two decimals. */
export type CostRow = {
  month: string
  owner: string
  state: State
  instances: number
  hours: number
  committedUsd: number
  actualUsd: number
}

/** `actualPercent` of what was committed, rounded; null where nothing was. */
export type CostTotal = Omit<CostRow, 'state' | 'hours'> & { actualPercent: number | null }

/** Of all owners that are shown. */
export type CostMonth = Omit<CostTotal, 'owner'>

/** As it stands now, a month of 730 hours. */
export type PresentCost = {
  owner: string
  state: State
  instances: number
  committedMonthlyUsd: number
  currentMonthlyUsd: number
}

export type CostAnswer = CostMonths & {
  at: string
  costs: CostRow[]
  totals: CostTotal[]
  months: CostMonth[]
  present: PresentCost[]
  /** By owner; none where the present month is not among those that are shown. */
  forecast: Forecast[]
}

/** With what was spent exactly. */
export type OwnerForecast = Forecast & { spentMicroUsd: bigint }

const HOUR_MS = 3_600_000
const MONTH_MS = BigInt(HOURS_PER_MONTH * HOUR_MS)

const MONTH = /^\d{4}-(0[1-9]|1[0-2])$/
const monthOf = (iso: string): string => iso.slice(0, 7)
/** Months since the year 0. */
const numberOf = (month: string): number => Number(month.slice(0, 4)) * 12 + Number(month.slice(5)) - 1
const named = (number: number): string =>
  `${String(Math.floor(number / 12)).padStart(4, '0')}-${String((number % 12) + 1).padStart(2, '0')}`
const startOf = (month: string): string => `${month}-01T00:00:00.000Z`

/** Which months are meant: the last three when nothing is said. Null for what are none, or too many. @param now ISO */
export const monthsOf = (
  asked: { from?: string | undefined; to?: string | undefined },
  now: string,
): CostMonths | null => {
  const { from, to = monthOf(now) } = asked
  if (!MONTH.test(to) || (from !== undefined && !MONTH.test(from))) return null
  const last = numberOf(to)
  const first = from === undefined ? last - COST_MONTHS + 1 : numberOf(from)
  const count = last - first + 1
  return count < 1 || count > COST_MONTHS_MAX ? null : { from: named(first), to }
}

/** The month of an instant (ISO) alone, and when it began. */
export const presentMonth = (at: string): { months: CostMonths; since: string } => {
  const months = { from: monthOf(at), to: monthOf(at) }
  return { months, since: startOf(months.from) }
}

/** The first instant of them: what ended before is in none. */
export const beginOf = ({ from }: CostMonths): string => startOf(from)

type Sums = { ids: Set<string>; ms: bigint; committed: bigint; actual: bigint }
const newSums = (): Sums => ({ ids: new Set(), ms: 0n, committed: 0n, actual: 0n })

/** The part of a span in each month that it touches. */
const partsOf = ({ from, to }: CostSpan, months: CostMonths): { month: string; ms: number }[] => {
  const first = Math.max(numberOf(monthOf(from)), numberOf(months.from))
  const last = Math.min(numberOf(monthOf(to)), numberOf(months.to))
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => {
    const [begin, end] = [startOf(named(first + index)), startOf(named(first + index + 1))]
    const ms = Date.parse(to < end ? to : end) - Date.parse(from > begin ? from : begin)
    return { month: named(first + index), ms }
  }).filter(({ ms }) => ms > 0)
}

const microUsdOf = (microMs: bigint): bigint => divideHalfUp(microMs, MONTH_MS)
const hoursOf = (ms: bigint): number => Number(divideHalfUp(ms * 100n, BigInt(HOUR_MS))) / 100

/** Keyed by words that have no tab in them. */
const keyOf = (...words: string[]): string => words.join('\t')
const byKey = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1)
/** States in the order of a life. */
const stateKey = (state: State): string => String(STATES.indexOf(state))
const stateOf = (key: string | undefined): State => STATES[Number(key)] ?? 'reserved'

const sumAt = (sums: Map<string, Sums>, key: string): Sums => {
  const found = sums.get(key) ?? newSums()
  sums.set(key, found)
  return found
}

const percentOf = ({ committed, actual }: Sums): number | null =>
  committed === 0n ? null : Number(divideHalfUp(actual * 100n, committed))

const rowOf = ([key, { ids, ms, committed, actual }]: [string, Sums]): CostRow => {
  const [month = '', owner = '', state] = key.split('\t')
  return {
    month,
    owner,
    state: stateOf(state),
    instances: ids.size,
    hours: hoursOf(ms),
    committedUsd: usdOf(microUsdOf(committed)),
    actualUsd: usdOf(microUsdOf(actual)),
  }
}

const totalOf = ([key, sums]: [string, Sums]): CostTotal => {
  const { state: _, hours: __, ...row } = rowOf([key, sums])
  return { ...row, actualPercent: percentOf(sums) }
}

const monthRowOf = (entry: [string, Sums]): CostMonth => {
  const { owner: _, ...row } = totalOf(entry)
  return row
}

const presentOf = ([key, { ids, committed, actual }]: [string, Sums]): PresentCost => {
  const [owner = '', state] = key.split('\t')
  return {
    owner,
    state: stateOf(state),
    instances: ids.size,
    committedMonthlyUsd: usdOf(committed),
    currentMonthlyUsd: usdOf(actual),
  }
}

export type CostSheet = {
  /** @param calls all facts of one dev instance, in the order of their decisions */
  add(id: string, calls: readonly DecidedCall[], isCounted?: (owner: string) => boolean): void
  /** By owner, of whoever has one that is there or that cost in the present month. */
  forecasts(): OwnerForecast[]
  answer(): CostAnswer
}

/** An instance after the other, so that no more than one life is held at a time. @param at now, ISO */
export const costSheet = (months: CostMonths, at: string): CostSheet => {
  const byState = new Map<string, Sums>()
  const byOwner = new Map<string, Sums>()
  const byMonth = new Map<string, Sums>()
  const now = new Map<string, Sums>()
  const enter = (id: string, span: CostSpan): void => {
    for (const { month, ms } of partsOf(span, months)) {
      const { owner, state } = span
      const touched = [
        sumAt(byState, keyOf(month, owner, stateKey(state))),
        sumAt(byOwner, keyOf(month, owner)),
        sumAt(byMonth, month),
      ]
      for (const sums of touched) {
        sums.ids.add(id)
        sums.ms += BigInt(ms)
        sums.committed += BigInt(span.committedMicroUsd) * BigInt(ms)
        sums.actual += BigInt(span.actualMicroUsd) * BigInt(ms)
      }
    }
  }
  const enterPresent = (id: string, present: NonNullable<LifeCost['present']>): void => {
    const sums = sumAt(now, keyOf(present.owner, stateKey(present.state)))
    sums.ids.add(id)
    sums.committed += BigInt(present.committedMicroUsd)
    sums.actual += BigInt(present.actualMicroUsd)
  }
  const forecasts = (): OwnerForecast[] => {
    const month = monthOf(at)
    if (month < months.from || month > months.to) return []
    const presentOwners = [...now.keys()].map((key) => key.split('\t')[0] ?? '')
    const spentOwners = [...byOwner.keys()].filter((key) => key.startsWith(`${month}\t`)).map((key) => key.slice(8))
    return [...new Set([...spentOwners, ...presentOwners])].sort().map((owner) => {
      const spentMicroUsd = microUsdOf(byOwner.get(keyOf(month, owner))?.actual ?? 0n)
      const presentMonthlyMicroUsd = STATES.reduce(
        (sum, state) => sum + (now.get(keyOf(owner, stateKey(state)))?.actual ?? 0n),
        0n,
      )
      return { ...forecastOf({ owner, month, spentMicroUsd, presentMonthlyMicroUsd }, at), spentMicroUsd }
    })
  }
  return {
    forecasts,
    add(id, calls, isCounted = () => true) {
      const { spans, present } = lifeCost(calls, at)
      for (const span of spans) if (isCounted(span.owner)) enter(id, span)
      if (present && isCounted(present.owner)) enterPresent(id, present)
    },
    answer: () => ({
      ...months,
      at,
      costs: [...byState].sort(byKey).map(rowOf),
      totals: [...byOwner].sort(byKey).map(totalOf),
      months: [...byMonth].sort(byKey).map(monthRowOf),
      present: [...now].sort(byKey).map(presentOf),
      forecast: forecasts().map(({ spentMicroUsd: _, ...forecast }) => forecast),
    }),
  }
}
