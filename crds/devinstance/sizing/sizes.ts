/**
 * The sizes on offer: five classes on two architectures, and the instance types that have their shape.
 * Source: rules/devinstance.md#sizes.
 */
import assert from 'node:assert/strict'
import { monthlyPrice, PRICING_VERSION, type Price, type PricedBy, usdOf } from './prices.ts'
import { isNotPriced, type LaunchedPrice, type NotPriced, priceAsLaunched, regionFault } from './pricing/launched.ts'
import { DEFAULT_REGION } from './pricing/reviewed.ts'

/** From small to large. */
export const SIZE_CLASSES = ['XS', 'S', 'M', 'L', 'XL'] as const
export type SizeClass = (typeof SIZE_CLASSES)[number]
export const ARCHES = ['arm64', 'x86_64'] as const
export type SizeArch = (typeof ARCHES)[number]

/** gp3 volumes go up to 16 TiB. */
export const DISK_GB_MAX = 16_384
const MILLI = 1000

export type ClassShape = { vcpu: number; memoryGib: number; diskGb: number }

export const CLASSES: Readonly<Record<SizeClass, ClassShape>> = {
  XS: { vcpu: 2, memoryGib: 4, diskGb: 30 },
  S: { vcpu: 2, memoryGib: 8, diskGb: 50 },
  M: { vcpu: 4, memoryGib: 16, diskGb: 80 },
  L: { vcpu: 8, memoryGib: 32, diskGb: 150 },
  XL: { vcpu: 16, memoryGib: 64, diskGb: 300 },
}

/** The first type of a class is what a dev instance is launched as; the others have the same shape, the cheapest first. */
const TYPES: Readonly<Record<SizeClass, Readonly<Record<SizeArch, readonly [string, ...string[]]>>>> = {
  XS: { arm64: ['t4g.medium'], x86_64: ['t3.medium'] },
  S: { arm64: ['t4g.large'], x86_64: ['t3.large'] },
  M: { arm64: ['m7g.xlarge', 't4g.xlarge', 'm8g.xlarge'], x86_64: ['m7i.xlarge', 't3.xlarge', 'm7i-flex.xlarge'] },
  L: { arm64: ['m7g.2xlarge', 't4g.2xlarge'], x86_64: ['m7i.2xlarge', 'm7i-flex.2xlarge'] },
  XL: { arm64: ['m7g.4xlarge', 'm8g.4xlarge'], x86_64: ['m7i.4xlarge', 'm7i-flex.4xlarge'] },
}

/** The share of each vCPU that a burst type may use for ever, in thousandths (EC2, "baseline utilization per vCPU"). */
const BASELINE: Readonly<Record<string, number>> = { medium: 200, large: 300, xlarge: 400, '2xlarge': 400 }

export type InstanceType = {
  instanceType: string
  sizeClass: SizeClass
  arch: SizeArch
  vcpu: number
  memoryGib: number
}

/** The memory of L with the cores of M. It is chosen by name only. */
const MEMORY_HEAVY: InstanceType = { instanceType: 'r7g.xlarge', sizeClass: 'L', arch: 'arm64', vcpu: 4, memoryGib: 32 }

const INSTANCE_TYPES: ReadonlyMap<string, InstanceType> = new Map(
  [
    ...SIZE_CLASSES.flatMap((sizeClass) =>
      ARCHES.flatMap((arch) =>
        TYPES[sizeClass][arch].map((instanceType): InstanceType => {
          const { vcpu, memoryGib } = CLASSES[sizeClass]
          return { instanceType, sizeClass, arch, vcpu, memoryGib }
        }),
      ),
    ),
    MEMORY_HEAVY,
  ].map((type) => [type.instanceType, type]),
)

/** What a type is, or undefined for one that is not on offer. */
export const instanceTypeNamed = (name: string): InstanceType | undefined => INSTANCE_TYPES.get(name)

export const instanceTypeNames = (): string[] => [...INSTANCE_TYPES.keys()]

/** T types earn CPU credits: past their baseline they slow down (`standard`) or bill a surplus (`unlimited`). */
export const isBurst = (instanceType: string): boolean => /^t\d/.test(instanceType)

/** How much CPU a type gives for ever, in thousandths of a vCPU. */
export const steadyMilliCpu = (instanceType: string): number => {
  const type = INSTANCE_TYPES.get(instanceType)
  assert(type, `${instanceType} is not on offer`)
  if (!isBurst(instanceType)) return type.vcpu * MILLI
  const share = BASELINE[instanceType.split('.')[1] ?? '']
  assert(share !== undefined, `the baseline of ${instanceType} is known`)
  return type.vcpu * share
}

/** A dev instance as far as its price goes. Without `instanceType` it is launched as the first type of its class. */
export type Shape = { sizeClass: SizeClass; arch: SizeArch; diskGb: number; instanceType?: string }

export const instanceTypeOf = ({ sizeClass, arch, instanceType }: Omit<Shape, 'diskGb'>): string =>
  instanceType ?? TYPES[sizeClass][arch][0]

/** Types of equal shape, for a start that finds no capacity; the cheapest first. */
export const fallbackTypes = ({ sizeClass, arch }: Pick<Shape, 'sizeClass' | 'arch'>): string[] =>
  TYPES[sizeClass][arch].slice(1)

/** One class up; undefined above XL. */
export const nextClass = (sizeClass: SizeClass): SizeClass | undefined =>
  SIZE_CLASSES[SIZE_CLASSES.indexOf(sizeClass) + 1]

/** Below zero when `a` is the smaller class. */
export const compareClasses = (a: SizeClass, b: SizeClass): number => SIZE_CLASSES.indexOf(a) - SIZE_CLASSES.indexOf(b)

/** All-in monthly price of a dev instance. @throws AssertionError on an unknown pricing version, a region or a type without a price */
export const priceOf = (shape: Shape, by: PricedBy = PRICING_VERSION): Price =>
  monthlyPrice(instanceTypeOf(shape), shape.diskGb, by)

/** A place where it may be launched. */
export type PlacedShape = Shape & { region: string }

/** What it costs as each type that it may be launched as: its own first, then those that stand in. */
export const launchPrices = (shape: PlacedShape, pricingVersion: string): (LaunchedPrice | NotPriced)[] => {
  const { region, diskGb } = shape
  const types = [instanceTypeOf(shape), ...fallbackTypes(shape)]
  return types.map((instanceType) => priceAsLaunched({ region, instanceType, diskGb }, pricingVersion))
}

/** `price` as REST shows it (rules/devinstance.md#over-rest); stopped = address kept. */
export type PriceAnswer = {
  pricingVersion: string
  runningMonthlyUsd: number
  stoppedMonthlyUsd: number
  parts: { computeUsd: number; storageUsd: number; ipv4Usd: number }
}

export const priceAnswer = ({ pricingVersion, runningMicroUsd, stoppedMicroUsd, parts }: Price): PriceAnswer => ({
  pricingVersion,
  runningMonthlyUsd: usdOf(runningMicroUsd),
  stoppedMonthlyUsd: usdOf(stoppedMicroUsd),
  parts: {
    computeUsd: usdOf(parts.computeMicroUsd),
    storageUsd: usdOf(parts.storageMicroUsd),
    ipv4Usd: usdOf(parts.ipv4MicroUsd),
  },
})

/** A type that stands in, all in; null where nobody has reviewed its price in that region. */
export type FallbackAnswer = { instanceType: string; runningMonthlyUsd: number | null }

export const fallbackAnswer = (instanceType: string, found: LaunchedPrice | NotPriced): FallbackAnswer => ({
  instanceType,
  runningMonthlyUsd: isNotPriced(found) ? null : usdOf(found.price.runningMicroUsd),
})

export type SizeAnswer = { sizeClass: SizeClass; arch: SizeArch; instanceType: string } & ClassShape &
  Omit<PriceAnswer, 'pricingVersion'> & { fallbacks: FallbackAnswer[] }

export type SizesAnswer = { pricingVersion: string; region: string; sizes: SizeAnswer[] }

/** Of a class whose own type has no price in the region there is none. */
const sizeAnswer = (shape: PlacedShape): SizeAnswer[] => {
  const { sizeClass, arch } = shape
  const [own, ...others] = launchPrices(shape, PRICING_VERSION)
  if (own === undefined || isNotPriced(own)) return []
  const { pricingVersion: _, ...price } = priceAnswer(own.price)
  const names = fallbackTypes(shape)
  const fallbacks = others.map((found, index) => fallbackAnswer(names[index] ?? '', found))
  return [{ sizeClass, arch, instanceType: own.instanceType, ...CLASSES[sizeClass], ...price, fallbacks }]
}

/** Every class on every architecture with its own disk, at the prices of a region; or that it has none. */
export const regionSizes = (region: string): SizesAnswer | NotPriced =>
  regionFault(region, PRICING_VERSION) ?? {
    pricingVersion: PRICING_VERSION,
    region,
    sizes: SIZE_CLASSES.flatMap((sizeClass) =>
      ARCHES.flatMap((arch) => sizeAnswer({ sizeClass, arch, region, diskGb: CLASSES[sizeClass].diskGb })),
    ),
  }

/** The same of the default region, which is always priced. */
export const sizesAnswer = (): SizesAnswer => {
  const answer = regionSizes(DEFAULT_REGION)
  assert(!isNotPriced(answer), `${DEFAULT_REGION} is priced`)
  return answer
}
