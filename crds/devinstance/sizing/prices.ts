/**
 * What a dev instance costs, as versioned data: on-demand Linux in us-east-1, integer micro-USD (a millionth of a dollar) per hour
 * and per GB-month. A table is never edited once a dev instance was reserved under it: a new one is added, so what was promised can
 * always be computed again. Source: rules/devinstance.md#prices.
 */
import assert from 'node:assert/strict'
import { divideHalfUp } from '../../values/money.ts'

/** A month has 730 hours, everywhere. */
export const HOURS_PER_MONTH = 730
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
}

/** The version that new reservations are priced at. */
export const PRICING_VERSION = '2026-07-20'

export const PRICE_TABLES: Readonly<Record<string, PriceTable>> = {
  '2026-07-20': {
    region: 'us-east-1',
    computePerHour: {
      't4g.medium': 33_600,
      't4g.large': 67_200,
      't4g.xlarge': 134_400,
      't4g.2xlarge': 268_800,
      'm7g.xlarge': 163_200,
      'm7g.2xlarge': 326_400,
      'm7g.4xlarge': 652_800,
      'm8g.xlarge': 179_520,
      'm8g.4xlarge': 718_080,
      'r7g.xlarge': 214_200,
      't3.medium': 41_600,
      't3.large': 83_200,
      't3.xlarge': 166_400,
      'm7i.xlarge': 201_600,
      'm7i.2xlarge': 403_200,
      'm7i.4xlarge': 806_400,
      'm7i-flex.xlarge': 191_520,
      'm7i-flex.2xlarge': 383_040,
      'm7i-flex.4xlarge': 766_080,
    },
    storagePerGbMonth: 80_000,
    ipv4PerHour: 5_000,
  },
}

/** All per month and exact, in micro-USD. `stopped` keeps the address, `released` has given it back. */
export type Price = {
  pricingVersion: string
  runningMicroUsd: number
  stoppedMicroUsd: number
  releasedMicroUsd: number
  parts: { computeMicroUsd: number; storageMicroUsd: number; ipv4MicroUsd: number }
}

/** The table of a version. @throws AssertionError when no such version was ever published */
export const priceTable = (pricingVersion: string): PriceTable => {
  const table = Object.hasOwn(PRICE_TABLES, pricingVersion) ? PRICE_TABLES[pricingVersion] : undefined
  assert(table, `there is no pricing version ${pricingVersion}`)
  return table
}

/** What one more public address costs a month, in micro-USD, attached or only held. */
export const addressMicroUsd = (pricingVersion: string): number =>
  priceTable(pricingVersion).ipv4PerHour * HOURS_PER_MONTH

/** All-in monthly price of an instance type with a disk and one public address. */
export const monthlyPrice = (instanceType: string, diskGb: number, pricingVersion: string): Price => {
  const table = priceTable(pricingVersion)
  const perHour = table.computePerHour[instanceType]
  assert(perHour !== undefined, `${instanceType} has no price in ${pricingVersion}`)
  const computeMicroUsd = perHour * HOURS_PER_MONTH
  const storageMicroUsd = table.storagePerGbMonth * diskGb
  const ipv4MicroUsd = addressMicroUsd(pricingVersion)
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
