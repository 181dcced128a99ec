/**
 * The guards of the transition table: each looks at one thing and gives null, or the refusal with its figures.
 * Source: research/devboxes.md section 3.4; spec/3 Endpoints, rules 1 and 2.
 */
import { checkFinalize } from './assertions.ts'
import type { Extent, Intent } from './box.ts'
import { profileFault } from './profile.ts'
import type { Trigger } from './protocol.ts'
import { refusal } from './refusal.ts'
import { resizeNeeded } from './repo.ts'
import type { Context, Guard } from './transitions.ts'

export const TEAMS_MAX = 20

export const sameInstance: Guard<'provisioning' | 'finalize'> = ({ box, said }) =>
  said.instanceId === box.instanceId
    ? null
    : refusal(
        'INSTANCE_MISMATCH',
        `${box.instanceId} is attached, ${said.instanceId} was reported: one of them is an orphan`,
      )

const hasLapsed = ({ box, at }: Context<Trigger>): boolean =>
  box.lease !== null && Date.parse(at) > Date.parse(box.lease.expiresAt)

export const withinLease: Guard<'token'> = (context) =>
  hasLapsed(context as Context<Trigger>)
    ? refusal('LEASE_EXPIRED', `the lease of ${context.box.instanceId} ran out at ${context.box.lease?.expiresAt}`)
    : null

export const leaseLasts = (context: Context<'provisioning'>): boolean => !hasLapsed(context as Context<Trigger>)

/** A lease that ran out may be renewed once, by the same instance. */
export const renewable: Guard<'provisioning'> = (context) => {
  const { lease, instanceId } = context.box
  return hasLapsed(context as Context<Trigger>) && lease?.renewed
    ? refusal('LEASE_EXPIRED', `the lease of ${instanceId} was renewed once and ran out again at ${lease.expiresAt}`)
    : null
}

export const asReserved: Guard<'finalize'> = ({ box, said }) => {
  const failed = checkFinalize(box, said)
  const [first] = failed
  if (!first) return null
  const detail = `${failed.length} of the facts and assertions do not hold, first ${first.pointer}: ${first.detail}`
  return refusal('ASSERTION_FAILED', detail, failed)
}

type Addressed = { publicIp?: string; eipAllocId?: string }

/** Both or neither (spec/3, rule 2); an allocation that is held keeps its address. */
export const addressPair: Guard<'started' | 'resized'> = ({ box, said }) => {
  const { publicIp, eipAllocId } = said as Addressed
  if ((publicIp === undefined) !== (eipAllocId === undefined)) {
    const missing = publicIp === undefined ? 'publicIp' : 'eipAllocId'
    const detail = `${missing} is missing: an address is stored whole or not at all`
    return refusal('ADDRESS_PAIR_REQUIRED', detail, [{ code: 'ADDRESS_PAIR_REQUIRED', pointer: `/${missing}`, detail }])
  }
  const held = box.held.find((one) => one.eipAllocId === eipAllocId)
  return held && held.publicIp !== publicIp
    ? refusal('ADDRESS_MISMATCH', `${eipAllocId} is ${held.publicIp}, not ${publicIp}`)
    : null
}

const lacksAddress = ({ box, said }: Context<'started' | 'resized'>): boolean =>
  box.eipAllocId === null && (said as Addressed).eipAllocId === undefined

/** A start allocates an address, unless one is stored. */
export const hasAddress: Guard<'started'> = (context) =>
  lacksAddress(context as Context<'started' | 'resized'>)
    ? refusal('ADDRESS_PAIR_REQUIRED', 'no address is stored, so a start needs publicIp and eipAllocId')
    : null

export const addressToRun: Guard<'resized'> = (context) =>
  context.said.state === 'running' && lacksAddress(context as Context<'started' | 'resized'>)
    ? refusal('ADDRESS_PAIR_REQUIRED', 'no address is stored, so a running instance needs publicIp and eipAllocId')
    : null

export const sameAddress = ({ box, said }: Context<'started'>): boolean =>
  said.eipAllocId === undefined || said.eipAllocId === box.eipAllocId

export const sameArch: Guard<'resizing' | 'resized'> = ({ box, said }) =>
  said.arch === undefined || said.arch === box.arch
    ? null
    : refusal('ARCH_CHANGE', `the instance is ${box.arch}, ${said.arch} was asked for`)

export const growingDisk: Guard<'resizing'> = ({ box, said }) =>
  said.diskGb === undefined || said.diskGb >= box.diskGb
    ? null
    : refusal('DISK_SHRINK', `the disk has ${box.diskGb} GB, ${said.diskGb} GB were asked for`)

export const keptDisk: Guard<'resized'> = ({ box, said }) =>
  said.diskGb === undefined || said.diskGb >= box.diskGb
    ? null
    : refusal('DISK_SHRINK', `the disk has ${box.diskGb} GB, ${said.diskGb} GB were confirmed`)

const extentOf = ({ sizeClass, diskGb }: Extent): string => `${sizeClass} with ${diskGb} GB`

/** What was announced, or back to what it was; a disk that has grown stays, whichever of the two. */
export const asIntended: Guard<'resized'> = ({ box, said }) => {
  const intent = box.intent as Intent
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
export const verifiedDisk: Guard<'resized'> = ({ box, said }) => {
  const diskGb = said.diskGb ?? box.intent?.to.diskGb ?? box.diskGb
  if (dfGb(said.verifiedDf) * 10 >= diskGb * VERIFIED_TENTHS) return null
  const detail = `df shows ${said.verifiedDf}; a disk of ${diskGb} GB has a file system of at least ${(diskGb * VERIFIED_TENTHS) / 10}G`
  return refusal('ASSERTION_FAILED', detail, [{ code: 'ASSERTION_FAILED', pointer: '/verifiedDf', detail }])
}

export const heldAddress: Guard<'eip-released'> = ({ box, said }) => {
  if (box.released.includes(said.allocationId)) return null
  if (box.held.some(({ eipAllocId }) => eipAllocId === said.allocationId)) return null
  const held = box.held.map(({ eipAllocId }) => eipAllocId).join(', ') || 'none'
  return refusal('ADDRESS_MISMATCH', `${said.allocationId} is not held by the instance; held: ${held}`)
}

export const releasedBefore = ({ box, said }: Context<'eip-released'>): boolean =>
  box.released.includes(said.allocationId) && box.held.every(({ eipAllocId }) => eipAllocId !== said.allocationId)

export const allGone: Guard<'terminated'> = ({ box, said }) => {
  const left = [
    ...(said.instanceGone ? [] : [`the instance ${box.instanceId}`]),
    ...(said.eipGone ? [] : [`the address ${box.held.map(({ eipAllocId }) => eipAllocId).join(', ') || 'of it'}`]),
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

/** The server computes class and disk itself (spec/3, rule 1). */
export const largeEnough: Guard<'repo'> = ({ box, said }) => {
  const proposal = resizeNeeded(box, said.profile)
  if (!proposal) return null
  const detail = `the repository needs ${extentOf(proposal)}; the instance is ${extentOf(box)}`
  return refusal('RESIZE_REQUIRED', detail)
}

export const roomForTeam: Guard<'share'> = ({ box }) =>
  box.teams.length < TEAMS_MAX
    ? null
    : refusal('INVALID_FIELD', `it is shared with ${TEAMS_MAX} teams, which is the most`)
