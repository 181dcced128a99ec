/** A need as a whole, and which machine holds it. Source: rules/devinstance.md#sizing. */
import type { Infer, ObjectSchema } from '../../kernel/schema.ts'
import {
  type DiskNeed,
  declaredFloor,
  diskNeed,
  type EstimatedMemory,
  estimatedMemory,
  type MeasuredMemory,
  MIB_PER_GIB,
  measuredMemory,
  type NeedInput,
  steadyNeedMilliCpu,
  vcpuNeed,
} from './estimate.ts'
import {
  CLASSES,
  DISK_GB_MAX,
  type InstanceType,
  isBurst,
  SIZE_CLASSES,
  type SizeArch,
  type SizeClass,
  steadyMilliCpu,
} from './sizes.ts'

export const CONCURRENCY_MAX = 64
const INSTANCE_TYPE_MAX = 32
/** This much of a machine's memory may be planned for. */
const USABLE_PERCENT = 90

/** The caller's overrides. */
export const OVERRIDES = {
  type: 'object',
  description: 'What is to be taken instead of the proposal.',
  properties: {
    sizeClass: { type: 'string', description: 'The size class.', enum: SIZE_CLASSES },
    instanceType: {
      type: 'string',
      description: 'An instance type of the catalogue.',
      maxLength: INSTANCE_TYPE_MAX,
      pattern: '^[a-z0-9-]+\\.[a-z0-9]+$',
    },
    diskGb: { type: 'integer', description: 'The disk in GB.', minimum: 1, maximum: DISK_GB_MAX },
  },
} as const satisfies ObjectSchema

export type Overrides = Infer<typeof OVERRIDES>

/** What a dev instance is now. Its disk cannot shrink and its architecture cannot change in place. */
export type Present = { sizeClass: SizeClass; arch: SizeArch; diskGb: number }

export type SizingInput = NeedInput & {
  present?: Present
  overrides?: Overrides
  /** What the owner may still commit, in cents a month. */
  capLeftCents?: number
  pricingVersion?: string
}

export type Need = {
  memoryMib: number
  estimated: EstimatedMemory
  /** Beats the estimate where it is there. */
  measured: MeasuredMemory | undefined
  vcpu: number
  steadyMilliCpu: number
  disk: DiskNeed
  /** What the repository declares for its machine. */
  floor: { memoryMib: number; diskGb: number }
}

export const needOf = (input: NeedInput): Need => {
  const estimated = estimatedMemory(input)
  const measured = measuredMemory(input)
  return {
    memoryMib: measured?.totalMib ?? estimated.totalMib,
    estimated,
    measured,
    vcpu: vcpuNeed(input),
    steadyMilliCpu: steadyNeedMilliCpu(input),
    disk: diskNeed(input),
    floor: declaredFloor(input),
  }
}

const NEEDS_X86 = /(^|\/)(amd64|x86_64|i?386)(\/|$)/

/** The places that need x86_64: what the scanner names, and services that are pinned to it. */
export const blockersOf = ({ profile }: NeedInput): string[] => [
  ...(profile.archBlockers ?? []),
  ...(profile.composeServices ?? [])
    .filter(({ platform }) => platform !== undefined && NEEDS_X86.test(platform))
    .map(({ name, platform }) => `compose service ${name}: ${platform}`),
]

const holdsMemory = (memoryGib: number, need: Need): boolean => {
  const memoryMib = memoryGib * MIB_PER_GIB
  return memoryMib * USABLE_PERCENT >= need.memoryMib * 100 && memoryMib >= need.floor.memoryMib
}

/** Whether a machine has the memory and the processors. */
export const holds = (machine: Pick<InstanceType, 'memoryGib' | 'vcpu'>, need: Need): boolean =>
  holdsMemory(machine.memoryGib, need) && machine.vcpu >= need.vcpu

/** Whether a type goes on for ever at the pace that is expected: burst types slow down past their baseline. */
export const keepsPace = (instanceType: string, need: Need): boolean =>
  !isBurst(instanceType) || steadyMilliCpu(instanceType) >= need.steadyMilliCpu

/** The disk in GB: what is needed or declared, at least that of the class, never below the present one. */
export const diskOf = (need: Need, sizeClass: SizeClass, present: Present | undefined): number =>
  Math.min(DISK_GB_MAX, Math.max(need.disk.needGb, need.floor.diskGb, CLASSES[sizeClass].diskGb, present?.diskGb ?? 0))
