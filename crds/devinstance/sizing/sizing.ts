/**
 * The one sizing function: a scanner profile, measurements and overrides → the size class, the all-in price and the reasons.
 * Pure and deterministic; a larger need never gets a smaller machine. Source:
 * rules/devinstance.md#sizing.
 */
import { blockersOf, diskOf, holds, keepsPace, type Need, needOf, type Present, type SizingInput } from './need.ts'
import { withOverrides } from './overrides.ts'
import { PRICING_VERSION } from './prices.ts'
import {
  blockerReason,
  burstReason,
  type CappedSizes,
  capReasons,
  diskReasons,
  exceedsReason,
  hostReasons,
  memoryReasons,
  type Reason,
  vcpuReason,
} from './reasons.ts'
import {
  CLASSES,
  compareClasses,
  fallbackTypes,
  instanceTypeNamed,
  instanceTypeOf,
  type PriceAnswer,
  priceAnswer,
  priceOf,
  type Shape,
  SIZE_CLASSES,
  type SizeArch,
  type SizeClass,
} from './sizes.ts'

export type Size = {
  sizeClass: SizeClass
  arch: SizeArch
  instanceType: string
  vcpu: number
  memoryGib: number
  diskGb: number
  /** Types of equal shape, for a start that finds no capacity; the cheapest first. */
  fallbackTypes: string[]
}

/** `proposal` is what is needed; `chosen` is the same with the overrides that were honoured, and `price` is its price. */
export type Sizing = { proposal: Size; chosen: Size; price: PriceAnswer; reasons: Reason[] }

/** The size for a repository. @param input within the limits of `PROFILE`, `MEASUREMENTS` and `OVERRIDES`; concurrency 1 to 64 */
export const sizeFor = (input: SizingInput): Sizing => {
  const need = needOf(input)
  const blockers = blockersOf(input)
  const arch = input.present?.arch ?? (blockers.length > 0 ? 'x86_64' : 'arm64')
  const { sizeClass, reasons: classReasons } = smallestClass(need, arch)
  const proposal = sizeOf({ sizeClass, arch, diskGb: diskOf(need, sizeClass, input.present) })
  const archFixed = input.present !== undefined || blockers.length > 0
  const requested = withOverrides({ input, need, proposal: { sizeClass, arch }, archFixed })
  const price = priceOf(requested.chosen, input.pricingVersion ?? PRICING_VERSION)
  const reasons = [
    ...memoryReasons(need),
    vcpuReason(need),
    ...diskReasons(need, proposal, input.present),
    ...hostReasons(input),
    ...blockers.map((blocker) => blockerReason(blocker, arch)),
    ...classReasons,
    ...requested.reasons,
    ...capReasons(input.capLeftCents, {
      chosen: { sizeClass: requested.chosen.sizeClass, runningMicroUsd: price.runningMicroUsd },
      smaller: smallerThan(requested.chosen, input, need),
    }),
  ]
  return { proposal, chosen: sizeOf(requested.chosen), price: priceAnswer(price), reasons }
}

/** What the smaller classes would cost, with the disk that is needed. */
const smallerThan = ({ sizeClass, arch }: Shape, input: SizingInput, need: Need): CappedSizes['smaller'] =>
  SIZE_CLASSES.filter((other) => compareClasses(other, sizeClass) < 0).map((other) => ({
    sizeClass: other,
    runningMicroUsd: priceOf(
      { sizeClass: other, arch, diskGb: diskOf(need, other, input.present) },
      input.pricingVersion ?? PRICING_VERSION,
    ).runningMicroUsd,
  }))

/** True when a dev instance is too small for a proposal; one that is larger than needed may stay (rules/devinstance.md#repository). */
export const needsResize = (present: Present, proposal: Pick<Size, 'sizeClass' | 'diskGb'>): boolean =>
  compareClasses(present.sizeClass, proposal.sizeClass) < 0 || present.diskGb < proposal.diskGb

/** The smallest class with room whose own type keeps pace; XL when none has. */
const smallestClass = (need: Need, arch: SizeArch): { sizeClass: SizeClass; reasons: Reason[] } => {
  const roomy = SIZE_CLASSES.filter((sizeClass) => holds(CLASSES[sizeClass], need))
  const fit = roomy.find((sizeClass) => keepsPace(instanceTypeOf({ sizeClass, arch }), need))
  if (fit === undefined) return { sizeClass: 'XL', reasons: [exceedsReason(need)] }
  const tooSlow = roomy.slice(0, roomy.indexOf(fit))
  return { sizeClass: fit, reasons: tooSlow.map((sizeClass) => burstReason(sizeClass, arch, need)) }
}

const sizeOf = (shape: Shape): Size => {
  const { sizeClass, arch, diskGb } = shape
  const instanceType = instanceTypeOf(shape)
  const { vcpu, memoryGib } = instanceTypeNamed(instanceType) ?? CLASSES[sizeClass]
  return { sizeClass, arch, instanceType, vcpu, memoryGib, diskGb, fallbackTypes: fallbackTypes(shape) }
}
