/**
 * The caller's overrides: each is honoured, or refused with a reason. Less than the estimate is the caller's own risk; less
 * than what was measured in use, or what the dev instance cannot become, is refused. Source: rules/devinstance.md#overrides.
 */
import { gibOf, MIB_PER_GIB } from './estimate.ts'
import { diskOf, holds, keepsPace, type Need, type Overrides, type SizingInput } from './need.ts'
import type { Reason } from './reasons.ts'
import { type InstanceType, instanceTypeNamed, instanceTypeOf, type Shape } from './sizes.ts'

type Machine = Omit<Shape, 'diskGb'>
type Situation = {
  input: SizingInput
  need: Need
  proposal: Machine
  /** True when an x86_64 dev instance would have to be another one, or an arm64 type cannot run the work. */
  archFixed: boolean
}

/** What is chosen in place of the proposal, and what became of each override. */
export const withOverrides = (situation: Situation): { chosen: Shape; reasons: Reason[] } => {
  const { machine, reasons } = requestedMachine(situation)
  const disk = requestedDisk(situation, machine)
  return { chosen: { ...machine, diskGb: disk.diskGb }, reasons: [...reasons, ...disk.reasons] }
}

const refused = (field: keyof Overrides, detail: string): Reason => ({ code: 'OVERRIDE_REFUSED', detail, field })

const honoured = (field: keyof Overrides, isBelow: boolean, asked: string, needed: string): Reason => ({
  code: isBelow ? 'OVERRIDE_BELOW_NEED' : 'OVERRIDE_APPLIED',
  detail: isBelow ? `${asked} as asked, though ${needed} are needed` : `${asked} as asked`,
  field,
})

const requestedMachine = (situation: Situation): { machine: Machine; reasons: Reason[] } => {
  const { input, need, proposal } = situation
  const { sizeClass, instanceType } = input.overrides ?? {}
  if (sizeClass === undefined && instanceType === undefined) return { machine: proposal, reasons: [] }
  const field = instanceType === undefined ? 'sizeClass' : 'instanceType'
  const name = instanceType ?? instanceTypeOf({ ...proposal, sizeClass: sizeClass ?? proposal.sizeClass })
  const type = instanceTypeNamed(name)
  if (!type) {
    const detail = `${name} is not in the catalogue of GET /api/devboxes/sizes, nor of equal shape`
    return { machine: proposal, reasons: [refused(field, detail)] }
  }
  const objection = objectionTo(type, situation)
  if (objection !== undefined) return { machine: proposal, reasons: [refused(field, objection)] }
  const isBelow = !holds(type, need) || !keepsPace(name, need)
  const asked = `${name} (${type.vcpu} vCPU, ${type.memoryGib} GiB)`
  const needed = `${need.vcpu} vCPU and ${gibOf(Math.max(need.memoryMib, need.floor.memoryMib))} GiB with headroom`
  const figures = { needMib: need.memoryMib, vcpu: need.vcpu }
  return {
    machine: { sizeClass: type.sizeClass, arch: type.arch, instanceType: name },
    reasons: [{ ...honoured(field, isBelow, asked, needed), ...figures }],
  }
}

const objectionTo = (type: InstanceType, { input, need, proposal, archFixed }: Situation): string | undefined => {
  const asked = input.overrides?.sizeClass
  if (asked !== undefined && asked !== type.sizeClass)
    return `${type.instanceType} is of ${type.sizeClass}, not ${asked}`
  if (type.arch !== proposal.arch && archFixed) return `${type.instanceType} is ${type.arch}, not ${proposal.arch}`
  const peakMib = need.measured?.peakMib ?? 0
  if (type.memoryGib * MIB_PER_GIB < peakMib) {
    return `${type.instanceType} has ${type.memoryGib} GiB, and ${gibOf(peakMib)} GiB were measured in use`
  }
  return undefined
}

const requestedDisk = ({ input, need }: Situation, machine: Machine): { diskGb: number; reasons: Reason[] } => {
  const needGb = diskOf(need, machine.sizeClass, input.present)
  const asked = input.overrides?.diskGb
  if (asked === undefined) return { diskGb: needGb, reasons: [] }
  const objection = objectionToDisk(asked, need, input.present?.diskGb ?? 0)
  if (objection !== undefined) return { diskGb: needGb, reasons: [refused('diskGb', objection)] }
  return {
    diskGb: asked,
    reasons: [{ ...honoured('diskGb', asked < needGb, `${asked} GB of disk`, `${needGb} GB`), needGb }],
  }
}

const MB_PER_GB = 1000

const objectionToDisk = (askedGb: number, { disk }: Need, presentGb: number): string | undefined => {
  if (askedGb < presentGb) return `a disk cannot shrink from ${presentGb} to ${askedGb} GB`
  if (disk.measured && askedGb * MB_PER_GB < disk.usedMb) {
    return `${askedGb} GB of disk are less than the ${Math.ceil(disk.usedMb / MB_PER_GB)} GB measured in use`
  }
  return undefined
}
