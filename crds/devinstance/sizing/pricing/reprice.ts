/**
 * What has changed since prices were reviewed, by a price list, and what that means for the committed cost of each class. It
 * proposes nothing and writes nothing: a new version is reviewed and added by hand. Source: rules/devinstance.md#re-pricing.
 */
import { formatDecimal } from '../../../values/decimal.ts'
import { divideHalfUp } from '../../../values/money.ts'
import { HOURS_PER_MONTH, type PriceTable, priceTable, usdOf } from '../prices.ts'
import { ARCHES, CLASSES, instanceTypeOf, SIZE_CLASSES, type SizeArch, type SizeClass } from '../sizes.ts'
import { pricedRegions, reviewedRegion } from './launched.ts'
import { FIGURES, type FigureName, type OfferedRegion, type OfferList } from './offers.ts'

/** One figure, in micro-USD. */
export type PriceChange = {
  what: string
  per: 'hour' | 'GB and month'
  fromMicroUsd: number
  toMicroUsd: number
}

/** What a running instance of the class commits a month, all in, in micro-USD; with the class's own type and disk. */
export type ClassReprice = {
  sizeClass: SizeClass
  arch: SizeArch
  instanceType: string
  fromMicroUsd: number
  toMicroUsd: number
}

/** What was reviewed longer ago than was asked for. */
export type StalePrice = { what: string; reviewedOn: string; ageDays: number }

export type RegionReprice = {
  region: string
  /** False: no list has anything of it. */
  isListed: boolean
  changes: PriceChange[]
  classes: ClassReprice[]
  /** What the lists do not have, or have more than one price of. */
  unlisted: string[]
  stale: StalePrice[]
}

export type Reprice = {
  pricingVersion: string
  /** What was compared with. */
  sources: string[]
  regions: RegionReprice[]
  /** Regions of the lists that nobody has reviewed. */
  unreviewed: string[]
  hasChanged: boolean
}

/** `on`: the day that ages are counted to, YYYY-MM-DD. */
export type RepriceQuestion = { pricingVersion: string; on: string; olderThanDays: number }

const DAY_MS = 24 * 60 * 60 * 1000

/** All that the lists have of a region: machines are in one, addresses in another. */
const offeredIn = (lists: readonly OfferList[], region: string): OfferedRegion | null => {
  const found = lists.flatMap(({ regions }) =>
    Object.hasOwn(regions, region) ? [regions[region] as OfferedRegion] : [],
  )
  if (found.length === 0) return null
  const figures = Object.assign({}, ...found) as OfferedRegion
  return {
    ...figures,
    compute: Object.assign({}, ...found.map(({ compute }) => compute)),
    unclear: found.flatMap(({ unclear }) => unclear),
  }
}

const FIELDS = { storage: 'storagePerGbMonth', ipv4: 'ipv4PerHour', snapshot: 'snapshotPerGbMonth' } as const
const FIGURE_NAMES = Object.keys(FIGURES) as FigureName[]

type Pair = Omit<PriceChange, 'toMicroUsd'> & { toMicroUsd: number | undefined }

/** Each reviewed figure beside what the lists have. */
const pairsOf = (table: PriceTable, offered: OfferedRegion): Pair[] => [
  ...Object.entries(table.computePerHour).map(
    ([what, fromMicroUsd]): Pair => ({ what, per: 'hour', fromMicroUsd, toMicroUsd: offered.compute[what] }),
  ),
  ...FIGURE_NAMES.map(
    (name): Pair => ({
      what: FIGURES[name],
      per: name === 'ipv4' ? 'hour' : 'GB and month',
      fromMicroUsd: table[FIELDS[name]],
      toMicroUsd: offered[name],
    }),
  ),
]

const runningMicroUsd = (table: PriceTable, instanceType: string, diskGb: number): number | undefined => {
  const perHour = table.computePerHour[instanceType]
  return perHour === undefined
    ? undefined
    : (perHour + table.ipv4PerHour) * HOURS_PER_MONTH + table.storagePerGbMonth * diskGb
}

const classesOf = (before: PriceTable, after: PriceTable): ClassReprice[] =>
  SIZE_CLASSES.flatMap((sizeClass) =>
    ARCHES.flatMap((arch): ClassReprice[] => {
      const instanceType = instanceTypeOf({ sizeClass, arch })
      const { diskGb } = CLASSES[sizeClass]
      const [fromMicroUsd, toMicroUsd] = [before, after].map((table) => runningMicroUsd(table, instanceType, diskGb))
      if (fromMicroUsd === undefined || toMicroUsd === undefined || fromMicroUsd === toMicroUsd) return []
      return [{ sizeClass, arch, instanceType, fromMicroUsd, toMicroUsd }]
    }),
  )

const staleOf = (region: string, { pricingVersion, on, olderThanDays }: RepriceQuestion): StalePrice[] =>
  Object.entries(reviewedRegion(region, pricingVersion) ?? {}).flatMap(([what, { reviewedOn }]) => {
    const ageDays = Math.floor((Date.parse(on) - Date.parse(reviewedOn)) / DAY_MS)
    return ageDays > olderThanDays ? [{ what, reviewedOn, ageDays }] : []
  })

const regionOf = (region: string, lists: readonly OfferList[], question: RepriceQuestion): RegionReprice => {
  const stale = staleOf(region, question)
  const offered = offeredIn(lists, region)
  if (offered === null) return { region, isListed: false, changes: [], classes: [], unlisted: [], stale }
  const table = priceTable(question.pricingVersion, region)
  const pairs = pairsOf(table, offered)
  const changes = pairs.filter(
    (pair): pair is PriceChange => (pair.toMicroUsd ?? pair.fromMicroUsd) !== pair.fromMicroUsd,
  )
  const after: PriceTable = {
    region,
    computePerHour: { ...table.computePerHour, ...offered.compute },
    storagePerGbMonth: offered.storage ?? table.storagePerGbMonth,
    ipv4PerHour: offered.ipv4 ?? table.ipv4PerHour,
    snapshotPerGbMonth: offered.snapshot ?? table.snapshotPerGbMonth,
  }
  const unlisted = pairs.filter(({ toMicroUsd }) => toMicroUsd === undefined).map(({ what }) => what)
  return { region, isListed: true, changes, classes: classesOf(table, after), unlisted, stale }
}

/** @param lists of machines (AmazonEC2) and of addresses (AmazonVPC), of one region or of several */
export const repriceOf = (lists: readonly OfferList[], question: RepriceQuestion): Reprice => {
  const known = pricedRegions(question.pricingVersion)
  const regions = known.map((region) => regionOf(region, lists, question))
  const listed = new Set(lists.flatMap((list) => Object.keys(list.regions)))
  return {
    pricingVersion: question.pricingVersion,
    sources: lists.map(({ source, publishedAt }) => (publishedAt === '' ? source : `${source} of ${publishedAt}`)),
    regions,
    unreviewed: [...listed].filter((region) => !known.includes(region)).sort(),
    hasChanged: regions.some(({ changes }) => changes.length > 0),
  }
}

/** `33600, 42000` → `+25.0 %`: tenths, half away from zero. */
export const percentOf = (from: number, to: number): string => {
  const tenths = divideHalfUp(BigInt(to - from) * 1000n, BigInt(from))
  const digits = (tenths < 0n ? -tenths : tenths).toString().padStart(2, '0')
  return `${to < from ? '-' : '+'}${digits.slice(0, -1)}.${digits.slice(-1)} %`
}

const NAME_WIDTH = 22
const exact = (microUsd: number): string => formatDecimal(BigInt(microUsd))

const changeLine = ({ what, per, fromMicroUsd, toMicroUsd }: PriceChange): string => {
  const unit = per === 'hour' ? 'USD an hour' : 'USD a GB and month'
  return `  ${what.padEnd(NAME_WIDTH)}${exact(fromMicroUsd)} → ${exact(toMicroUsd)} ${unit}  ${percentOf(fromMicroUsd, toMicroUsd)}`
}

const classLine = ({ sizeClass, arch, instanceType, fromMicroUsd, toMicroUsd }: ClassReprice): string => {
  const name = `${sizeClass.padEnd(3)} ${arch.padEnd(7)} ${instanceType}`
  const [from, to] = [fromMicroUsd, toMicroUsd].map((microUsd) => usdOf(microUsd).toFixed(2))
  return `  ${name.padEnd(NAME_WIDTH + 6)}${from} → ${to} USD a month  ${percentOf(fromMicroUsd, toMicroUsd)}`
}

const regionText = ({ region, isListed, changes, classes, unlisted, stale }: RegionReprice): string[] => [
  isListed
    ? `${region}: ${changes.length === 0 ? 'nothing has changed' : 'changed'}`
    : `${region}: in none of the lists`,
  ...changes.map(changeLine),
  ...(classes.length > 0 ? ['  committed by one that runs:', ...classes.map(classLine)] : []),
  ...(unlisted.length > 0 ? [`  not in the lists, or not plainly: ${unlisted.join(', ')}`] : []),
  ...stale.map(({ what, reviewedOn, ageDays }) => `  ${what} was reviewed ${ageDays} days ago, on ${reviewedOn}`),
]

const NEXT =
  'Next: look the changes up, and add a pricing version with them beside the present one, which stays for what was reserved under it.'

/** The report, for people. */
export const repriceText = ({ pricingVersion, sources, regions, unreviewed, hasChanged }: Reprice): string =>
  [
    `Prices of ${pricingVersion} against ${sources.join(', ')}`,
    ...regions.flatMap(regionText),
    ...(unreviewed.length > 0 ? [`Not reviewed, and so not priced: ${unreviewed.join(', ')}`] : []),
    ...(hasChanged ? [NEXT] : []),
  ].join('\n')
