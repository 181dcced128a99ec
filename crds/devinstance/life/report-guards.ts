/**
 * The rules that something which has happened may break. It is on record all the same: where the document has it refused, it
 * is answered with the code; elsewhere it goes on. Either way the broken rule is a condition (breaches.ts).
 * Source: rules/devinstance.md#reports-and-requests.
 */
import type { Said, Trigger } from '../protocol.ts'
import { nameDetail } from '../reserving.ts'
import { addressMicroUsd, usdOf } from '../sizing/prices.ts'
import type { ReportCondition, TransitionContext } from './context.ts'
import { extentOf, guard, overCap, unpushed } from './guards.ts'
import { isOver, launchedAs } from './happened.ts'
import type { DevInstanceRow, ResizeIntent } from './row.ts'

type Addressed = { publicIp?: string; eipAllocId?: string }
type Addressing = 'started' | 'resized'

const PAIR = {
  code: 'ADDRESS_PAIR_REQUIRED',
  rule: 'an address is told whole: publicIp and eipAllocId',
  reason: 'half of one leads nowhere and cannot be released',
  actor: 'provisioner',
} as const

const NO_ADDRESS = 'it runs, and no address of it is known'

const furtherUsd = ({ pricingVersion }: DevInstanceRow): string => usdOf(addressMicroUsd(pricingVersion)).toFixed(2)

/** The document: both or none. The machine is up all the same, and what half an address costs stands in no sum. */
export const addressPair = guard<Addressing>(PAIR, ({ instance, said }) => {
  const { publicIp, eipAllocId } = said as Addressed
  if ((publicIp === undefined) === (eipAllocId === undefined)) return null
  const missing = publicIp === undefined ? 'publicIp' : 'eipAllocId'
  const isHeld = instance.held.some((one) => one.eipAllocId === eipAllocId || one.publicIp === publicIp)
  const cost = isHeld
    ? 'it is one that is held'
    : `a further one costs ${furtherUsd(instance)} USD a month, which stand in no sum`
  const detail = `${missing} of ${publicIp ?? eipAllocId} is missing, an address is stored whole or not at all: ${cost}`
  return { detail, faults: [{ code: 'ADDRESS_PAIR_REQUIRED', pointer: `/${missing}`, detail }] }
})

/** A start allocates an address, unless one is stored. */
export const addressKnown = guard<Addressing>(PAIR, ({ instance, said }) => {
  const runs = (said as Partial<Said['resized']>).state === undefined || (said as Said['resized']).state === 'running'
  return runs && instance.eipAllocId === null && (said as Addressed).eipAllocId === undefined ? NO_ADDRESS : null
})

export const addressKept = guard<Addressing>(
  {
    code: 'ADDRESS_MISMATCH',
    rule: 'an allocation keeps its address',
    reason: 'the cloud never moves an allocation to another address',
    actor: 'provisioner',
  },
  ({ instance, said }) => {
    const { publicIp, eipAllocId } = said as Addressed
    const held = instance.held.find((one) => one.eipAllocId === eipAllocId)
    return held && publicIp !== undefined && held.publicIp !== publicIp
      ? `${eipAllocId} was ${held.publicIp} and is ${publicIp} now`
      : null
  },
)

export const addressFree = guard<Addressing>(
  {
    code: 'ADDRESS_IN_USE',
    rule: 'the address is held by no other dev instance',
    reason: 'an address leads to one machine',
    actor: 'provisioner',
  },
  ({ said, around }) => {
    const { publicIp, eipAllocId } = said as Addressed
    return around.taken?.includes('address') ? `${eipAllocId} (${publicIp}) is held by another dev instance` : null
  },
)

/** Running, at an address that is as said: there is nothing to learn. */
export const runsThere = ({ instance, said }: TransitionContext<'started'>): boolean => {
  const { eipAllocId, publicIp } = said
  if (instance.machine !== 'up' || launchedAs(instance, said) !== instance) return false
  if (eipAllocId === undefined) return true
  const held = instance.held.find((one) => one.eipAllocId === eipAllocId)
  return eipAllocId === instance.eipAllocId && held?.publicIp === publicIp
}

export const nameFree = guard<'renamed'>(
  {
    code: 'NAME_TAKEN',
    rule: "the name is free among the owner's instances",
    reason: 'people and command lines tell instances apart by it',
    actor: 'provisioner',
  },
  ({ said, around }) => (around.taken?.includes('name') ? nameDetail(said.name) : null),
)

export const releasedBefore = ({ instance, said }: TransitionContext<'eip-released'>): boolean =>
  instance.released.includes(said.allocationId) &&
  instance.held.every(({ eipAllocId }) => eipAllocId !== said.allocationId)

/** Of what is committed by the report, whichever way it is taken. */
export const withinCap: ReportCondition<Trigger> = {
  code: 'CAP_EXCEEDED',
  rule: "what the owner's instances cost while they run stays within the cap",
  reason: 'it was not asked before, so nobody could refuse it',
  actor: 'owner',
  check: ({ instance, around }, made) => overCap(instance, made, around),
}

export const wasThere = guard<'started' | 'stopped'>(
  {
    code: 'WRONG_STATE',
    rule: 'what was confirmed gone is not seen again',
    reason: 'one of the two is wrong, and a machine that is there costs',
    actor: 'provisioner',
  },
  ({ instance }) =>
    instance.machine === 'gone'
      ? `${instance.instanceId} was confirmed gone at ${instance.machineSince}, and is seen again`
      : null,
)

export const keptArch = guard<'resized'>(
  {
    code: 'ARCH_CHANGE',
    rule: 'the architecture never changes in place',
    reason: 'an image is made for one',
    actor: 'provisioner',
  },
  ({ instance, said }) =>
    said.arch === undefined || said.arch === instance.arch
      ? null
      : `the instance was ${instance.arch}, ${said.arch} was confirmed`,
)

export const keptDisk = guard<'resized'>(
  { code: 'DISK_SHRINK', rule: 'a disk only grows', reason: 'a volume cannot shrink', actor: 'provisioner' },
  ({ instance, said }) =>
    said.diskGb === undefined || said.diskGb >= instance.diskGb
      ? null
      : `the disk had ${instance.diskGb} GB, ${said.diskGb} GB were confirmed`,
)

/** What was announced, or back to what it was; a disk that has grown stays, whichever of the two. */
export const asIntended = guard<'resized'>(
  {
    code: 'NO_RESIZE_INTENT',
    rule: 'what is confirmed was announced, or is what it was before',
    reason: 'the price was judged by what was announced',
    actor: 'provisioner',
  },
  ({ instance, said }) => {
    const { from, to } = instance.intent as ResizeIntent
    const diskGb = said.diskGb ?? to.diskGb
    const isKnown =
      [from, to].some((one) => one.sizeClass === said.sizeClass) && [from.diskGb, to.diskGb].includes(diskGb)
    const confirmed = extentOf({ sizeClass: said.sizeClass, diskGb })
    return isKnown ? null : `${confirmed} was confirmed; announced was ${extentOf(from)} to ${extentOf(to)}`
  },
)

const GB_OF_UNIT: Readonly<Record<string, number>> = { M: 1 / 1024, G: 1, T: 1024 }
/** A file system shows less than its volume: its own tables take some. */
const VERIFIED_TENTHS = 9

/** `50G` → 50. */
export const dfGb = (verifiedDf: string): number => {
  const [, amount = '0', unit = 'G'] = /^([0-9.]+)([MGT])/.exec(verifiedDf) ?? []
  return Number(amount) * (GB_OF_UNIT[unit] ?? 1)
}

/** Growing a volume does not grow the file system on it. */
export const verifiedDisk = guard<'resized'>(
  {
    code: 'ASSERTION_FAILED',
    rule: 'df shows at least nine tenths of the disk',
    reason: 'growing a volume does not grow the file system on it',
    actor: 'provisioner',
  },
  ({ instance, said }) => {
    const diskGb = said.diskGb ?? instance.intent?.to.diskGb ?? instance.diskGb
    if (dfGb(said.verifiedDf) * 10 >= diskGb * VERIFIED_TENTHS) return null
    return `df shows ${said.verifiedDf}; a disk of ${diskGb} GB has a file system of at least ${(diskGb * VERIFIED_TENTHS) / 10}G`
  },
)

export const heldAddress = guard<'eip-released'>(
  {
    code: 'ADDRESS_MISMATCH',
    rule: 'exactly an allocation is released that the instance holds',
    reason: 'another one may lead to another machine',
    actor: 'provisioner',
  },
  ({ instance, said: { allocationId } }) => {
    const held = instance.held.map(({ eipAllocId }) => eipAllocId)
    if (instance.released.includes(allocationId) || held.includes(allocationId)) return null
    return `${allocationId} is not held by the instance; held: ${held.join(', ') || 'none'}`
  },
)

export const addressInUse = guard<'eip-released'>(PAIR, ({ instance, said: { allocationId } }) =>
  instance.state === 'running' && instance.eipAllocId === allocationId ? NO_ADDRESS : null,
)

export const addressesInUse = guard<'terminated'>(PAIR, ({ instance, said }) =>
  instance.state === 'running' && said.eipGone && !said.instanceGone ? NO_ADDRESS : null,
)

export const confirmsSomething = guard<'terminated'>(
  {
    code: 'INSTANCE_LIVE',
    rule: 'something is confirmed gone',
    reason: 'what nobody names goes on costing',
    actor: 'provisioner',
  },
  ({ instance, said }) =>
    said.instanceGone || said.eipGone || said.volumesGone || (isOver(instance) && instance.strays.length === 0)
      ? null
      : `nothing of ${instance.instanceId ?? 'it'} is confirmed gone: it goes on costing`,
)

export const knownInstance = guard<'terminated'>(
  {
    code: 'INSTANCE_MISMATCH',
    rule: 'what is gone is the attached instance, or one that was reported beside it',
    reason: 'of an instance that nobody knows nothing can be closed',
    actor: 'provisioner',
  },
  ({ instance, said: { instanceId } }) =>
    instanceId === undefined ||
    instance.instanceId === null ||
    [instance.instanceId, ...instance.strays.map((one) => one.instanceId)].includes(instanceId)
      ? null
      : `${instanceId} is not known here; attached is ${instance.instanceId}`,
)

/** Whoever asked first has had it acknowledged. */
export const workSaved = guard<'terminated'>(
  {
    code: 'WORK_AT_RISK',
    rule: 'work was pushed, or its loss is acknowledged',
    reason: 'what was on the machine alone went with it',
    actor: 'owner',
  },
  (context) => {
    const { said, instance } = context
    const isAcknowledged = said.acknowledgeWorkAtRisk || instance.terminating?.acknowledgedWorkAtRisk
    const isLost = (said.instanceGone || said.volumesGone) && instance.machine !== 'gone'
    return isAcknowledged || !isLost ? null : unpushed(context as Pick<TransitionContext<Trigger>, 'around'>)
  },
)
