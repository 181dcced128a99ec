/**
 * A price list as AWS publishes it in bulk (offer index file, format v1.0), read for what Bottega has reviewed: machines on
 * demand, gp3, snapshots, public addresses. Source: AWS Price List bulk API, "Reading the service price list file".
 */
import { parseDecimal } from '../../../values/decimal.ts'
import { trimmedEnd } from '../../../values/trimmed.ts'
import { instanceTypeNamed } from '../sizes.ts'

/** It is no price list. */
export class OfferFault extends Error {}

/** What a list has of a region, in micro-USD; what it has not is not there. `unclear`: it has several prices of it, or none that can be read. */
export type OfferedRegion = {
  compute: Record<string, number>
  storage?: number
  ipv4?: number
  snapshot?: number
  unclear: string[]
}

export type OfferList = {
  /** Its offer code and version. */
  source: string
  publishedAt: string
  regions: Readonly<Record<string, OfferedRegion>>
}

/** What is compared beside machines, as it is called in a report. */
export const FIGURES = { storage: 'gp3 storage', ipv4: 'public IPv4 address', snapshot: 'snapshot' } as const
export type FigureName = keyof typeof FIGURES

type Product = { family: string; attributes: Readonly<Record<string, unknown>> }
type Wanted = { key: string; unit: 'Hrs' | 'GB-Mo' }

const record = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Shared Linux, nothing installed, nothing reserved: what a machine is launched as. */
const ON_DEMAND = {
  operatingSystem: 'Linux',
  tenancy: 'Shared',
  preInstalledSw: 'NA',
  capacitystatus: 'Used',
} as const

/** Usage types begin with the region, but for that of the oldest one. */
const USAGE: readonly (readonly [RegExp, FigureName, Wanted['unit']])[] = [
  [/(?:^|-)EBS:VolumeUsage\.gp3$/, 'storage', 'GB-Mo'],
  [/(?:^|-)EBS:SnapshotUsage$/, 'snapshot', 'GB-Mo'],
  [/(?:^|-)PublicIPv4:(?:InUse|Idle)Address$/, 'ipv4', 'Hrs'],
]

/** Which reviewed figure a product is; null for one that nobody has asked about. */
const wantedOf = ({ family, attributes }: Product): Wanted | null => {
  const instanceType = textOf(attributes.instanceType)
  if (family === 'Compute Instance' && instanceTypeNamed(instanceType)) {
    const isPlain = Object.entries(ON_DEMAND).every(([name, value]) => attributes[name] === value)
    return isPlain ? { key: instanceType, unit: 'Hrs' } : null
  }
  const usage = USAGE.find(([pattern]) => pattern.test(textOf(attributes.usagetype)))
  return usage ? { key: usage[1], unit: usage[2] } : null
}

/** `0.0336000000` → 33600; null for less than a millionth, for nothing, and for no number. */
const microUsdOf = (usd: string): number | null => {
  const scaled = parseDecimal(usd.includes('.') ? trimmedEnd(trimmedEnd(usd, '0'), '.') : usd)
  return scaled === null || scaled === 0n ? null : Number(scaled)
}

/** The first step of each price in dollars: what is charged from nothing on. Undefined: it is not in dollars. */
const priceOfTerms = (terms: unknown, unit: Wanted['unit']): number | null | undefined => {
  const dimensions = Object.values(record(terms) ?? {}).flatMap((term) =>
    Object.values(record(record(term)?.priceDimensions) ?? {}).map((dimension) => record(dimension) ?? {}),
  )
  const usd = dimensions
    .filter((dimension) => dimension.unit === unit && Number(dimension.beginRange ?? 0) === 0)
    .map((dimension) => textOf(record(dimension.pricePerUnit)?.USD))
    .find((text) => text !== '')
  return usd === undefined ? undefined : microUsdOf(usd)
}

type Draft = { prices: Map<string, Set<number>>; unreadable: Set<string> }

const offeredOf = ({ prices, unreadable }: Draft): OfferedRegion => {
  const offered: OfferedRegion = { compute: {}, unclear: [...unreadable] }
  for (const [key, found] of prices) {
    if (unreadable.has(key)) continue
    const isFigure = Object.hasOwn(FIGURES, key)
    // An address is held by what is stopped, too: the dearer price is never too little.
    if (key === 'ipv4') offered.ipv4 = Math.max(...found)
    else if (found.size > 1) offered.unclear.push(key)
    else if (isFigure) offered[key as FigureName] = [...found][0] ?? 0
    else offered.compute[key] = [...found][0] ?? 0
  }
  return offered
}

/** @param document the parsed JSON of one offer index file @throws OfferFault */
export const readOffers = (document: unknown): OfferList => {
  const list = record(document)
  const products = record(list?.products)
  const terms = record(record(list?.terms)?.OnDemand)
  const [offerCode, version] = [textOf(list?.offerCode), textOf(list?.version)]
  if (!products || !terms || offerCode === '') {
    throw new OfferFault('it has no offerCode, products and terms.OnDemand')
  }
  const drafts = new Map<string, Draft>()
  for (const [sku, product] of Object.entries(products)) {
    const of = { family: textOf(record(product)?.productFamily), attributes: record(record(product)?.attributes) ?? {} }
    const wanted = wantedOf(of)
    const region = textOf(of.attributes.regionCode)
    if (wanted === null || region === '') continue
    const price = priceOfTerms(terms[sku], wanted.unit)
    if (price === undefined) continue
    const draft = drafts.get(region) ?? { prices: new Map(), unreadable: new Set() }
    drafts.set(region, draft)
    if (price === null) draft.unreadable.add(wanted.key)
    else draft.prices.set(wanted.key, (draft.prices.get(wanted.key) ?? new Set()).add(price))
  }
  return {
    source: `${offerCode} ${version}`.trim(),
    publishedAt: textOf(list?.publicationDate),
    regions: Object.fromEntries([...drafts].map(([region, draft]) => [region, offeredOf(draft)])),
  }
}
