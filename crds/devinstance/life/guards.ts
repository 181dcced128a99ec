/**
 * The guards of the transition table: each looks at one thing and gives null, or the refusal with its figures.
 * Source: rules/devinstance.md#guards.
 */
import { checkFinalize } from '../bootstrap/assertions.ts'
import type { Trigger } from '../protocol.ts'
import { profileFault } from '../sizing/profile.ts'
import { resizeNeeded } from '../sizing/repo.ts'
import type { Guard, TransitionContext } from './context.ts'
import { refusal } from './refusal.ts'
import type { Extent, ResizeIntent } from './row.ts'

export const TEAMS_MAX = 20

export const sameInstance: Guard<'provisioning' | 'finalize'> = ({ instance, said }) =>
  said.instanceId === instance.instanceId
    ? null
    : refusal(
        'INSTANCE_MISMATCH',
        `${instance.instanceId} is attached, ${said.instanceId} was reported: one of them is an orphan`,
      )

const hasLapsed = ({ instance, at }: TransitionContext<Trigger>): boolean =>
  instance.lease !== null && Date.parse(at) > Date.parse(instance.lease.expiresAt)

export const withinLease: Guard<'token'> = (context) =>
  hasLapsed(context as TransitionContext<Trigger>)
    ? refusal(
        'LEASE_EXPIRED',
        `the lease of ${context.instance.instanceId} ran out at ${context.instance.lease?.expiresAt}`,
      )
    : null

export const leaseLasts = (context: TransitionContext<'provisioning'>): boolean =>
  !hasLapsed(context as TransitionContext<Trigger>)

/** A lease that ran out may be renewed once, by the same instance. */
export const renewable: Guard<'provisioning'> = (context) => {
  const { lease, instanceId } = context.instance
  return hasLapsed(context as TransitionContext<Trigger>) && lease?.renewed
    ? refusal('LEASE_EXPIRED', `the lease of ${instanceId} was renewed once and ran out again at ${lease.expiresAt}`)
    : null
}

export const asReserved: Guard<'finalize'> = ({ instance, said }) => {
  const failed = checkFinalize(instance, said)
  const [first] = failed
  if (!first) return null
  const detail = `${failed.length} of the facts and assertions do not hold, first ${first.pointer}: ${first.detail}`
  return refusal('ASSERTION_FAILED', detail, failed)
}

type Addressed = { publicIp?: string; eipAllocId?: string }

/** Both or neither (rules/devinstance.md#guards); an allocation that is held keeps its address. */
export const addressPair: Guard<'started' | 'resized'> = ({ instance, said }) => {
  const { publicIp, eipAllocId } = said as Addressed
  if ((publicIp === undefined) !== (eipAllocId === undefined)) {
    const missing = publicIp === undefined ? 'publicIp' : 'eipAllocId'
    const detail = `${missing} is missing: an address is stored whole or not at all`
    return refusal('ADDRESS_PAIR_REQUIRED', detail, [{ code: 'ADDRESS_PAIR_REQUIRED', pointer: `/${missing}`, detail }])
  }
  const held = instance.held.find((one) => one.eipAllocId === eipAllocId)
  return held && held.publicIp !== publicIp
    ? refusal('ADDRESS_MISMATCH', `${eipAllocId} is ${held.publicIp}, not ${publicIp}`)
    : null
}

const lacksAddress = ({ instance, said }: TransitionContext<'started' | 'resized'>): boolean =>
  instance.eipAllocId === null && (said as Addressed).eipAllocId === undefined

/** A start allocates an address, unless one is stored. */
export const hasAddress: Guard<'started'> = (context) =>
  lacksAddress(context as TransitionContext<'started' | 'resized'>)
    ? refusal('ADDRESS_PAIR_REQUIRED', 'no address is stored, so a start needs publicIp and eipAllocId')
    : null

export const addressToRun: Guard<'resized'> = (context) =>
  context.said.state === 'running' && lacksAddress(context as TransitionContext<'started' | 'resized'>)
    ? refusal('ADDRESS_PAIR_REQUIRED', 'no address is stored, so a running instance needs publicIp and eipAllocId')
    : null

export const sameAddress = ({ instance, said }: TransitionContext<'started'>): boolean =>
  said.eipAllocId === undefined || said.eipAllocId === instance.eipAllocId

export const sameArch: Guard<'resizing' | 'resized'> = ({ instance, said }) =>
  said.arch === undefined || said.arch === instance.arch
    ? null
    : refusal('ARCH_CHANGE', `the instance is ${instance.arch}, ${said.arch} was asked for`)

export const growingDisk: Guard<'resizing'> = ({ instance, said }) =>
  said.diskGb === undefined || said.diskGb >= instance.diskGb
    ? null
    : refusal('DISK_SHRINK', `the disk has ${instance.diskGb} GB, ${said.diskGb} GB were asked for`)

export const keptDisk: Guard<'resized'> = ({ instance, said }) =>
  said.diskGb === undefined || said.diskGb >= instance.diskGb
    ? null
    : refusal('DISK_SHRINK', `the disk has ${instance.diskGb} GB, ${said.diskGb} GB were confirmed`)

const extentOf = ({ sizeClass, diskGb }: Extent): string => `${sizeClass} with ${diskGb} GB`

/** What was announced, or back to what it was; a disk that has grown stays, whichever of the two. */
export const asIntended: Guard<'resized'> = ({ instance, said }) => {
  const intent = instance.intent as ResizeIntent
  const { from, to } = intent
  const diskGb = said.diskGb ?? to.diskGb
  const isKnown =
    [from, to].some((one) => one.sizeClass === said.sizeClass) && [from.diskGb, to.diskGb].includes(diskGb)
  if (isKnown) return null
  const asked = extentOf({ sizeClass: said.sizeClass, diskGb })
  return refusal('NO_RESIZE_INTENT', `${asked} was confirmed; announced was ${extentOf(from)} to ${extentOf(to)}`)
}

const GB_OF_UNIT: Readonly<Record<string, number>> = { M: 1 / 1024, G: 1, T: 1024 }
/** A file system shows less than its volume: its own tables take some. */
const VERIFIED_TENTHS = 9

/** `50G` → 50. */
export const dfGb = (verifiedDf: string): number => {
  const [, amount = '0', unit = 'G'] = /^([0-9.]+)([MGT])/.exec(verifiedDf) ?? []
  return Number(amount) * (GB_OF_UNIT[unit] ?? 1)
}

/** Growing a volume does not grow the file system on it. */
export const verifiedDisk: Guard<'resized'> = ({ instance, said }) => {
  const diskGb = said.diskGb ?? instance.intent?.to.diskGb ?? instance.diskGb
  if (dfGb(said.verifiedDf) * 10 >= diskGb * VERIFIED_TENTHS) return null
  const detail = `df shows ${said.verifiedDf}; a disk of ${diskGb} GB has a file system of at least ${(diskGb * VERIFIED_TENTHS) / 10}G`
  return refusal('ASSERTION_FAILED', detail, [{ code: 'ASSERTION_FAILED', pointer: '/verifiedDf', detail }])
}

export const heldAddress: Guard<'eip-released'> = ({ instance, said }) => {
  if (instance.released.includes(said.allocationId)) return null
  if (instance.held.some(({ eipAllocId }) => eipAllocId === said.allocationId)) return null
  const held = instance.held.map(({ eipAllocId }) => eipAllocId).join(', ') || 'none'
  return refusal('ADDRESS_MISMATCH', `${said.allocationId} is not held by the instance; held: ${held}`)
}

export const releasedBefore = ({ instance, said }: TransitionContext<'eip-released'>): boolean =>
  instance.released.includes(said.allocationId) &&
  instance.held.every(({ eipAllocId }) => eipAllocId !== said.allocationId)

export const allGone: Guard<'terminated'> = ({ instance, said }) => {
  const left = [
    ...(said.instanceGone ? [] : [`the instance ${instance.instanceId}`]),
    ...(said.eipGone ? [] : [`the address ${instance.held.map(({ eipAllocId }) => eipAllocId).join(', ') || 'of it'}`]),
    ...(said.volumesGone ? [] : ['its volumes']),
  ]
  return left.length === 0
    ? null
    : refusal('INSTANCE_LIVE', `${left.join(' and ')} not confirmed gone: it goes on costing`)
}

/** What is on the machine alone would be lost, or is at risk while its disk is changed. */
export const workPushed: Guard<'resizing' | 'terminated'> = ({ said, around }) => {
  const { dirty, untracked, unpushed } = around.git ?? { dirty: 0, untracked: 0, unpushed: 0 }
  if (said.acknowledgeWorkAtRisk || dirty + untracked + unpushed === 0) return null
  const detail = `the last report tells of ${dirty} changed and ${untracked} untracked files and ${unpushed} commits that were not pushed`
  return refusal('WORK_AT_RISK', detail)
}

export const freshProfile: Guard<'repo'> = ({ said, at }) => {
  const stale = profileFault(said.profile, said.repo, new Date(at))
  return stale ? refusal('PROFILE_STALE', stale.detail, [stale]) : null
}

/** The server computes class and disk itself (rules/devinstance.md#repository). */
export const largeEnough: Guard<'repo'> = ({ instance, said }) => {
  const proposal = resizeNeeded(instance, said.profile)
  if (!proposal) return null
  const detail = `the repository needs ${extentOf(proposal)}; the instance is ${extentOf(instance)}`
  return refusal('RESIZE_REQUIRED', detail)
}

export const roomForTeam: Guard<'share'> = ({ instance }) =>
  instance.teams.length < TEAMS_MAX
    ? null
    : refusal('INVALID_FIELD', `it is shared with ${TEAMS_MAX} teams, which is the most`)
