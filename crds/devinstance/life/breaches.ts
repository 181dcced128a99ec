/**
 * Rules that something which happened has broken: what each is called as a condition, what to do next, and what ends it.
 * Source: rules/devinstance.md#reports-and-requests.
 */
import type { ProblemCode } from '../../kernel/problem.ts'
import type { Trigger } from '../protocol.ts'
import { usdOf } from '../sizing/prices.ts'
import { type Breach, committedMicroUsd, type DevInstanceRow, presentMonthlyMicroUsd } from './row.ts'
import { standingOf } from './table.ts'

type BreachKind = {
  code: ProblemCode
  /** As it is broken by this report alone; it comes before what else is said of the code. */
  on?: Trigger
  condition: string
  next: string
  /** A report that fits and comes after it. */
  endedBy: readonly Trigger[]
  /** What else must have come about. */
  until?: (breach: Breach, instance: DevInstanceRow) => boolean
}

/** Whoever has looked at the machine and said what is true has answered it. */
const LOOKED: readonly Trigger[] = ['finalize', 'started', 'stopped', 'resized', 'terminated']
const ADDRESSED: readonly Trigger[] = ['started', 'stopped', 'resized', 'eip-released', 'terminated']
const hasAddress = (_breach: Breach, { state, eipAllocId }: DevInstanceRow) =>
  state !== 'running' || eipAllocId !== null
const withinLimit = ({ limitMicroUsd = 0 }: Breach, instance: DevInstanceRow) =>
  committedMicroUsd(instance) <= limitMicroUsd
const ANY: readonly Trigger[] = ['eip-released', 'terminated', 'resized', 'started', 'stopped', 'resizing', 'starting']

export const BREACHES: readonly BreachKind[] = [
  {
    code: 'VERSION_CONFLICT',
    condition: 'ReportConflicts',
    next: 'read the instance, look at the machine, and confirm what is true with the present version',
    endedBy: [...LOOKED, 'eip-released', 'renamed'],
  },
  {
    code: 'WRONG_STATE',
    condition: 'ReportedOutOfOrder',
    next: 'look at the machine; take the protocol from where it stands, or confirm it terminated',
    endedBy: LOOKED,
  },
  {
    code: 'NOT_FOUND',
    condition: 'SeenAfterDeletion',
    next: 'look at the cloud; take down what is there, and confirm it by terminated',
    endedBy: ['terminated'],
  },
  {
    code: 'LEASE_EXPIRED',
    condition: 'LeaseSpent',
    next: 'take it down, confirm it by terminated, and reserve another one',
    endedBy: ['terminated'],
  },
  {
    code: 'INSTANCE_LIVE',
    condition: 'NothingGone',
    next: 'look what is left of it, and confirm by terminated each part that is gone',
    endedBy: [...LOOKED, 'eip-released'],
  },
  {
    code: 'RESIZE_PENDING',
    condition: 'RunsInResize',
    next: 'confirm by resized the size that runs, the new one or the old one',
    endedBy: ['stopped', 'resized', 'terminated'],
  },
  {
    code: 'NO_RESIZE_INTENT',
    condition: 'ResizedUnasked',
    next: 'ask by resizing for the size that is there, and confirm it by resized',
    endedBy: ['resized', 'terminated'],
  },
  {
    code: 'ARCH_CHANGE',
    condition: 'ArchDiffers',
    next: 'reserve another instance for the other architecture, or resize to what was reserved',
    endedBy: ['resized', 'terminated'],
  },
  {
    code: 'DISK_SHRINK',
    condition: 'DiskDiffers',
    next: 'look at the volume; ask by resizing for the disk that is wanted, and confirm it by resized',
    endedBy: ['resized', 'terminated'],
  },
  {
    code: 'ASSERTION_FAILED',
    on: 'finalize',
    condition: 'NotAsReserved',
    next: 'correct on the machine what is not as it must be, and finalize again; or take it down, and confirm it by terminated',
    endedBy: ['finalize', 'terminated'],
  },
  {
    code: 'ASSERTION_FAILED',
    condition: 'FileSystemSmall',
    next: 'grow the file system, then resizing to the present size and resized with what df shows',
    endedBy: ['resized', 'terminated'],
  },
  {
    code: 'ADDRESS_PAIR_REQUIRED',
    condition: 'AddressUnknown',
    next: 'confirm by started with publicIp and eipAllocId',
    endedBy: ADDRESSED,
    until: hasAddress,
  },
  {
    code: 'ADDRESS_MISMATCH',
    condition: 'AddressDiffers',
    next: 'look which address the allocation has, and confirm by started or eip-released exactly that',
    endedBy: ADDRESSED,
  },
  {
    code: 'ADDRESS_IN_USE',
    on: 'finalize',
    condition: 'AddressContested',
    next: 'confirm by eip-released that the other one gave it back, or allocate another one; then finalize again',
    endedBy: ['finalize', ...ADDRESSED],
  },
  {
    code: 'ADDRESS_IN_USE',
    condition: 'AddressContested',
    next: 'confirm by eip-released that the other one gave it back, then started with it here',
    endedBy: ADDRESSED,
    until: hasAddress,
  },
  {
    code: 'NAME_TAKEN',
    condition: 'NameContested',
    next: 'label the machine with a name that is free, and confirm by renamed',
    endedBy: ['renamed', 'terminated'],
  },
  {
    code: 'CAP_EXCEEDED',
    condition: 'CapExceeded',
    next: 'release what is not in use, take a smaller size, or have an admin raise the cap',
    endedBy: ANY,
    until: withinLimit,
  },
  {
    code: 'INSTANCE_MISMATCH',
    condition: 'SecondInstance',
    next: 'look which one belongs here, and report that by provisioning; take down the one that should not be, and confirm it by terminated with its instanceId',
    endedBy: ['provisioning', 'finalize', 'terminated'],
    until: (_breach, { strays }) => strays.length === 0,
  },
  {
    code: 'WORK_AT_RISK',
    condition: 'WorkLost',
    next: 'ask by terminating before the next one is taken down',
    endedBy: [],
  },
]

const kindOf = ({ code, on }: Pick<Breach, 'code' | 'on'>): BreachKind | undefined =>
  BREACHES.find((kind) => kind.code === code && (kind.on ?? on) === on)

const isEnded = (breach: Breach, on: Trigger, instance: DevInstanceRow): boolean => {
  const kind = kindOf(breach)
  return kind === undefined || (kind.endedBy.includes(on) && (kind.until?.(breach, instance) ?? true))
}

/** What is still broken once `on` was taken as it was said. */
export const standing = (instance: DevInstanceRow, on: Trigger): Breach[] =>
  instance.breaches.some((breach) => isEnded(breach, on, instance))
    ? instance.breaches.filter((breach) => !isEnded(breach, on, instance))
    : instance.breaches

/** Of one code the latest. */
export const withBreach = (breaches: readonly Breach[], breach: Breach): Breach[] => [
  ...breaches.filter(({ code }) => code !== breach.code),
  breach,
]

const usd = (microUsd: number): string => usdOf(microUsd).toFixed(2)

/** What it costs as it stands, beside what is committed. */
export const priceWords = (instance: DevInstanceRow): string =>
  `it costs ${usd(presentMonthlyMicroUsd(instance))} USD a month as it stands, ${usd(committedMicroUsd(instance))} USD are committed`

/** `since`: ISO. */
export type BreachFinding = { type: string; message: string; since: string }

/** Each with its figures, its price and the next step. */
export const breachFindings = (instance: DevInstanceRow): BreachFinding[] =>
  instance.breaches.flatMap(({ code, on, at, detail }) => {
    const kind = kindOf({ code, on })
    if (kind === undefined) return []
    const message = `${on} at ${at}: ${detail}; ${priceWords(instance)}; ${kind.next}`
    return [{ type: kind.condition, message, since: at }]
  })

/** What the machine does beside what its state says. */
export const machineFindings = (instance: DevInstanceRow): BreachFinding[] => {
  const { machine, state, machineSince: since, volumesGone, held, instanceId, deletedAt } = instance
  const price = priceWords(instance)
  if (machine === 'up' && (state === 'stopped' || state === 'terminated' || deletedAt !== null)) {
    const message = `${instanceId ?? 'it'} is seen since ${since} though it is ${standingOf(instance)}; ${price}; look, and confirm by started, stopped or terminated`
    return [{ type: 'SeenRunning', message, since }]
  }
  if (machine === 'down' && (state === 'ready' || state === 'running')) {
    return [{ type: 'Stopping', message: `it stops itself since ${since}; ${price}; confirm by stopped`, since }]
  }
  if (machine === 'gone' && (held.length > 0 || !volumesGone)) {
    const addresses = held.map(({ eipAllocId }) => eipAllocId)
    const left = [...(volumesGone ? [] : ['its volumes']), ...addresses].join(', ')
    const message = `${instanceId ?? 'the instance'} is gone since ${since}, not confirmed gone: ${left}; ${price}; take it down, and confirm by terminated or eip-released`
    return [{ type: 'LeftBehind', message, since }]
  }
  return []
}
