/**
 * What a dev instance costs, computed from versioned data (pricing/reviewed.ts): integer micro-USD (a millionth of a dollar) per
 * hour and per GB-month. A table is never edited once a dev instance was reserved under it: a new one is added, so what was promised
 * can always be computed again. Source: rules/devinstance.md#prices.
 */
import assert from 'node:assert/strict'
import { divideHalfUp } from '../../values/money.ts'
import { DEFAULT_REGION, REVIEWED_PRICES, type ReviewedRegion } from './pricing/reviewed.ts'

/** A month has 730 hours, everywhere. */
export const HOURS_PER_MONTH = 730

/** The version that new reservations are priced at. */
export const PRICING_VERSION = '2026-07-20'

const MICRO_PER_CENT = 10_000n
const CENTS_PER_USD = 100

export type PriceTable = {
  region: string
  /** By instance type, micro-USD per hour. */
  computePerHour: Readonly<Record<string, number>>
  /** gp3, micro-USD per GB and month. */
  storagePerGbMonth: number
  /** A public IPv4 address, in use or only held, micro-USD per hour. */
  ipv4PerHour: number
  /** Micro-USD per GB and month. */
  snapshotPerGbMonth: number
}

const tableOf = (region: string, { compute, storage, ipv4, snapshot }: ReviewedRegion): PriceTable => ({
  region,
  computePerHour: compute.perHour,
  storagePerGbMonth: storage.perGbMonth,
  ipv4PerHour: ipv4.perHour,
  snapshotPerGbMonth: snapshot.perGbMonth,
})

/** By version and region, as they were reviewed. */
const TABLES: Readonly<Record<string, Readonly<Record<string, PriceTable>>>> = Object.fromEntries(
  Object.entries(REVIEWED_PRICES).map(([version, regions]) => [
    version,
    Object.fromEntries(Object.entries(regions).map(([region, reviewed]) => [region, tableOf(region, reviewed)])),
  ]),
)

/** All per month and exact, in micro-USD. `stopped` keeps the address, `released` has given it back. */
export type Price = {
  pricingVersion: string
  runningMicroUsd: number
  stoppedMicroUsd: number
  releasedMicroUsd: number
  parts: { computeMicroUsd: number; storageMicroUsd: number; ipv4MicroUsd: number }
}

/**
 * The table of a version in a region. Who may be told of a region without prices asks launched.ts first.
 * @throws AssertionError when no such version was ever published, or the region has no prices in it
 */
export const priceTable = (pricingVersion: string, region: string = DEFAULT_REGION): PriceTable => {
  const regions = Object.hasOwn(TABLES, pricingVersion) ? TABLES[pricingVersion] : undefined
  assert(regions, `there is no pricing version ${pricingVersion}`)
  const table = Object.hasOwn(regions, region) ? regions[region] : undefined
  assert(table, `${region} is not priced in ${pricingVersion}`)
  return table
}

export const pricingVersions = (): string[] => Object.keys(TABLES)

/** What one more public address costs a month, in micro-USD, attached or only held. */
export const addressMicroUsd = (pricingVersion: string): number =>
  priceTable(pricingVersion).ipv4PerHour * HOURS_PER_MONTH

/** Which table: of a version, in the default region unless it says another. */
export type PricedBy = string | { pricingVersion: string; region: string }

/** All-in monthly price of an instance type with a disk and one public address. @throws AssertionError as `priceTable` does */
export const monthlyPrice = (instanceType: string, diskGb: number, by: PricedBy): Price => {
  const { pricingVersion, region } = typeof by === 'string' ? { pricingVersion: by, region: DEFAULT_REGION } : by
  const table = priceTable(pricingVersion, region)
  const perHour = table.computePerHour[instanceType]
  assert(perHour !== undefined, `${instanceType} has no price in ${region} in ${pricingVersion}`)
  const computeMicroUsd = perHour * HOURS_PER_MONTH
  const storageMicroUsd = table.storagePerGbMonth * diskGb
  const ipv4MicroUsd = table.ipv4PerHour * HOURS_PER_MONTH
  return {
    pricingVersion,
    runningMicroUsd: computeMicroUsd + storageMicroUsd + ipv4MicroUsd,
    stoppedMicroUsd: storageMicroUsd + ipv4MicroUsd,
    releasedMicroUsd: storageMicroUsd,
    parts: { computeMicroUsd, storageMicroUsd, ipv4MicroUsd },
  }
}

/** Micro-USD → cents, half-up. The one place where a price is rounded: a sum is summed first. */
export const centsOf = (microUsd: number | bigint): number => Number(divideHalfUp(BigInt(microUsd), MICRO_PER_CENT))

/** Micro-USD → the JSON number with at most two decimals that REST shows: 30578000 → 30.58. */
export const usdOf = (microUsd: number | bigint): number => usdOfCents(centsOf(microUsd))

/** Cents → the JSON number with at most two decimals that REST shows: 3058 → 30.58. */
export const usdOfCents = (cents: number): number => cents / CENTS_PER_USD
