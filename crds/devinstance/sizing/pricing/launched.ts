/**
 * What an instance costs as it was launched: its own type, in its own region. What nobody has reviewed has no price, and
 * says so; the price of another region or of another type never stands in. Source: rules/devinstance.md#reviewed-prices.
 */
import { DEVINSTANCE_PROBLEMS } from '../../../problems/devinstances.ts'
import { monthlyPrice, PRICING_VERSION, type Price, priceTable } from '../prices.ts'
import { DEFAULT_REGION, REVIEWED_PRICES, type ReviewedRegion } from './reviewed.ts'

/** What the cloud was asked for. `diskGb` of gp3. */
export type Launched = { region: string; instanceType: string; diskGb: number }

/** Its price a month, all in, in micro-USD. */
export type LaunchedPrice = Launched & { price: Price }

/** Why there is none: the code of REST, which regions or types there are, and what to do next. */
export type NotPriced = { code: 'REGION_NOT_PRICED' | 'TYPE_NOT_PRICED'; detail: string; next: string }

export const isNotPriced = (found: object): found is NotPriced => 'code' in found

const notPriced = (code: NotPriced['code'], detail: string): NotPriced => ({
  code,
  detail,
  next: DEVINSTANCE_PROBLEMS[code].next,
})

/** The regions that a version has prices of, in the order of the alphabet. */
export const pricedRegions = (pricingVersion: string): string[] =>
  Object.keys(REVIEWED_PRICES[pricingVersion] ?? {}).sort()

/** What was reviewed of a region; undefined where nothing was. */
export const reviewedRegion = (region: string, pricingVersion: string): ReviewedRegion | undefined => {
  const regions = REVIEWED_PRICES[pricingVersion] ?? {}
  return Object.hasOwn(regions, region) ? regions[region] : undefined
}

/**
 * The refusal for a region without prices; null for one that has them.
 * @throws AssertionError when no such pricing version was ever published: that is nobody's wish
 */
export const regionFault = (region: string, pricingVersion: string): NotPriced | null => {
  priceTable(pricingVersion, DEFAULT_REGION)
  if (reviewedRegion(region, pricingVersion)) return null
  const known = pricedRegions(pricingVersion).join(', ')
  const detail = `${region || 'no region'} has no reviewed prices in ${pricingVersion}; these have: ${known}`
  return notPriced('REGION_NOT_PRICED', detail)
}

/** The all-in price of a type with a disk and one public address, where it runs. @throws AssertionError as `regionFault` does */
export const priceAsLaunched = (
  launched: Launched,
  pricingVersion: string = PRICING_VERSION,
): LaunchedPrice | NotPriced => {
  const { region, instanceType, diskGb } = launched
  const fault = regionFault(region, pricingVersion)
  if (fault) return fault
  if (!Object.hasOwn(priceTable(pricingVersion, region).computePerHour, instanceType)) {
    return notPriced('TYPE_NOT_PRICED', `${instanceType} has no reviewed price in ${region} in ${pricingVersion}`)
  }
  return { ...launched, price: monthlyPrice(instanceType, diskGb, { pricingVersion, region }) }
}
