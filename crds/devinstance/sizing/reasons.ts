/** Why a size is as it is: a code each, with the figures it rests on. Source: rules/devinstance.md#sizing. */
import { gibOf, MIB_PER_GIB } from './estimate.ts'
import type { Need, Present, SizingInput } from './need.ts'
import { centsOf, usdOf, usdOfCents } from './prices.ts'
import { CLASSES, DISK_GB_MAX, instanceTypeOf, type SizeArch, type SizeClass, steadyMilliCpu } from './sizes.ts'

export const REASON_CODES = [
  'RAM_NEED',
  'RAM_MEASURED',
  'VCPU_NEED',
  'DISK_NEED',
  'DISK_KEPT',
  'HOST_REQUIREMENT',
  'ARCH_BLOCKER',
  'BURST_UNSUITABLE',
  'NEED_EXCEEDS_CATALOGUE',
  'AGENT_LEAK_SUSPECTED',
  'OVERRIDE_APPLIED',
  'OVERRIDE_BELOW_NEED',
  'OVERRIDE_REFUSED',
  'CAP_LEFT',
  'CAP_FITS',
] as const
export type ReasonCode = (typeof REASON_CODES)[number]

/** A code, a sentence with its figures, and the figures by name. */
export type Reason = { code: ReasonCode; detail: string; [figure: string]: string | number | boolean }

/** A measured peak past both of these is more likely an agent that leaks than work (rules/devinstance.md#proposals). */
const LEAK_MIB_MIN = 15 * MIB_PER_GIB
const LEAK_TIMES_ESTIMATE = 3
const MILLI = 1000

export const memoryReasons = ({ estimated, measured }: Need): Reason[] => {
  if (!measured) {
    const detail = `${gibOf(estimated.totalMib)} GiB of memory, estimated from the profile`
    return [{ code: 'RAM_NEED', detail, ...estimated }]
  }
  const { peakMib, totalMib } = measured
  const estimatedMib = estimated.totalMib
  const detail = `${gibOf(totalMib)} GiB of memory, from a measured peak of ${gibOf(peakMib)} GiB in place of the estimate of ${gibOf(estimatedMib)} GiB`
  const reason: Reason = { code: 'RAM_MEASURED', detail, ...measured, estimatedMib }
  const leaks = peakMib >= LEAK_MIB_MIN && peakMib >= LEAK_TIMES_ESTIMATE * estimatedMib
  return leaks ? [reason, leakReason(peakMib, estimatedMib)] : [reason]
}

const leakReason = (peakMib: number, estimatedMib: number): Reason => {
  const times = Math.floor(peakMib / estimatedMib)
  const detail = `the measured peak is ${times} times the estimate: see whether an agent leaks before paying for it`
  return { code: 'AGENT_LEAK_SUSPECTED', detail, peakMib, estimatedMib }
}

export const vcpuReason = ({ vcpu }: Need): Reason => ({ code: 'VCPU_NEED', detail: `${vcpu} vCPU are needed`, vcpu })

export const diskReasons = (
  { disk }: Need,
  size: { sizeClass: SizeClass; diskGb: number },
  present?: Present,
): Reason[] => {
  const classGb = CLASSES[size.sizeClass].diskGb
  const used = `${Math.ceil(disk.usedMb / 1000)} GB ${disk.measured ? 'measured' : 'estimated'} in use`
  const detail = `${disk.needGb} GB of disk for ${used}; ${size.sizeClass} has at least ${classGb} GB`
  const reasons: Reason[] = [{ code: 'DISK_NEED', detail, ...disk, classGb }]
  if (present && present.diskGb === size.diskGb && present.diskGb > disk.needGb) {
    const kept = `the present ${present.diskGb} GB stay: a disk cannot shrink`
    reasons.push({ code: 'DISK_KEPT', detail: kept, diskGb: present.diskGb })
  }
  if (disk.needGb > DISK_GB_MAX) {
    const over = `${disk.needGb} GB are more than the ${DISK_GB_MAX} GB that one disk may have`
    reasons.push({ code: 'NEED_EXCEEDS_CATALOGUE', detail: over, needGb: disk.needGb, diskGbMax: DISK_GB_MAX })
  }
  return reasons
}

export const hostReasons = ({ profile: { hostRequirements } }: SizingInput): Reason[] => {
  const declared = Object.entries(hostRequirements ?? {}).map(([name, value]) => [name, Number(value)] as const)
  if (declared.length === 0) return []
  const detail = `the repository declares ${declared.map(([name, value]) => `${name} ${value}`).join(', ')} as the least`
  return [{ code: 'HOST_REQUIREMENT', detail, ...Object.fromEntries(declared) }]
}

export const blockerReason = (blocker: string, arch: SizeArch): Reason => ({
  code: 'ARCH_BLOCKER',
  detail:
    arch === 'x86_64'
      ? `x86_64 because of ${blocker}`
      : `${blocker} needs x86_64, and an architecture never changes in place: reserve another instance`,
  blocker,
})

export const burstReason = (sizeClass: SizeClass, arch: SizeArch, need: Need): Reason => {
  const instanceType = instanceTypeOf({ sizeClass, arch })
  const [baselineMilliCpu, expectedMilliCpu] = [steadyMilliCpu(instanceType), need.steadyMilliCpu]
  const detail = `${sizeClass} (${instanceType}) keeps up ${baselineMilliCpu / MILLI} vCPU, and ${expectedMilliCpu / MILLI} are expected`
  return { code: 'BURST_UNSUITABLE', detail, sizeClass, baselineMilliCpu, expectedMilliCpu }
}

export const exceedsReason = (need: Need): Reason => {
  const needMib = Math.max(need.memoryMib, need.floor.memoryMib)
  const detail = `${gibOf(needMib)} GiB and ${need.vcpu} vCPU are needed, and XL is the largest class`
  return { code: 'NEED_EXCEEDS_CATALOGUE', detail, needMib, vcpu: need.vcpu }
}

/** What would fit where the size does not: the largest smaller one, and how much higher the cap has to be. */
const fittingReason = (sizes: CappedSizes, capLeftCents: number): Reason => {
  const { chosen, smaller } = sizes
  const shortUsd = usdOfCents(centsOf(chosen.runningMicroUsd) - capLeftCents)
  const largest = smaller.findLast(({ runningMicroUsd }) => centsOf(runningMicroUsd) <= capLeftCents)
  const instead = largest
    ? `${largest.sizeClass} is the largest that fits, at ${usdOf(largest.runningMicroUsd)} USD a month, and less than is needed`
    : 'no size fits'
  const detail = `${instead}; for ${chosen.sizeClass} the cap has to be ${shortUsd} USD higher, which an admin grants`
  return { code: 'CAP_FITS', detail, shortUsd, ...(largest && { sizeClass: largest.sizeClass }) }
}

type CappedSize = { sizeClass: SizeClass; runningMicroUsd: number }
/** `smaller` from the smallest on. */
export type CappedSizes = { chosen: CappedSize; smaller: readonly CappedSize[] }

export const capReasons = (capLeftCents: number | undefined, sizes: CappedSizes): Reason[] => {
  if (capLeftCents === undefined) return []
  const { runningMicroUsd } = sizes.chosen
  const fits = centsOf(runningMicroUsd) <= capLeftCents
  const [leftUsd, runningMonthlyUsd] = [usdOfCents(capLeftCents), usdOf(runningMicroUsd)]
  const detail = `${runningMonthlyUsd} USD a month of the ${leftUsd} USD left under the cap${fits ? '' : ': too much'}`
  const left: Reason = { code: 'CAP_LEFT', detail, leftUsd, runningMonthlyUsd, fits }
  return fits ? [left] : [left, fittingReason(sizes, capLeftCents)]
}
