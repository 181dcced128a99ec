/** What an accepted call makes of a dev instance, and what is entries of it. Each is applied once its guards have passed. */

import type { Trigger } from '../protocol.ts'
import type { DevInstanceSpec } from '../schema.ts'
import { CLASSES, priceOf } from '../sizing/sizes.ts'
import type { NewHistoryEntry, TransitionContext, TransitionEffect } from './context.ts'
import { type DevInstanceRow, type ElasticAddress, type Extent, orphansOf, type ResizeIntent } from './row.ts'

/** From the provisioning report on (rules/devinstance.md#protocol). */
export const LEASE_MS = 30 * 60_000
/** A reservation without an instance lapses, and frees its part of the cap. */
export const RESERVATION_MS = 24 * 3_600_000
const RELEASED_MAX = 10

const after = (at: string, ms: number): string => new Date(Date.parse(at) + ms).toISOString()

/** What was reserved: the spec with what follows from it. */
export type Reservation = {
  spec: DevInstanceSpec
  /** The name that it has, when the spec gives none. */
  fallbackName: string
  pricingVersion: string
  bootstrapSha256: string
  at: string
}

export const diskGbOf = (spec: Pick<DevInstanceSpec, 'sizeClass' | 'diskGb'>): number =>
  Math.max(spec.diskGb ?? 0, CLASSES[spec.sizeClass].diskGb)

export const reserved = ({ spec, fallbackName, pricingVersion, bootstrapSha256, at }: Reservation): DevInstanceRow => {
  const name = spec.name ?? fallbackName
  return {
    version: 1,
    state: 'reserved',
    name,
    targetLabel: `${spec.account}/${name}`,
    sizeClass: spec.sizeClass,
    diskGb: diskGbOf(spec),
    arch: spec.arch,
    agents: spec.agents,
    repo: spec.repo ?? null,
    pricingVersion,
    reservedAt: at,
    bootstrapSha256,
    instanceId: null,
    lease: null,
    finalizedLate: false,
    hostKeys: [],
    eipAllocId: null,
    held: [],
    released: [],
    intent: null,
    capOverride: false,
    profile: null,
    measurements: null,
    env: null,
    tokenHash: null,
    teams: [],
    meter: { spentMicroUsd: 0, since: at, monthlyMicroUsd: 0 },
    stateSince: at,
    sizedAt: at,
    startedAt: null,
    terminatedAt: null,
    deletedAt: null,
  }
}

const newEntry = (kind: string, data: Record<string, unknown> = {}): NewHistoryEntry => ({ kind, data })

export const attach: TransitionEffect<'provisioning'> = ({ instance, said: { instanceId }, at }) => ({
  instance: { ...instance, instanceId, lease: { expiresAt: after(at, LEASE_MS), renewed: false } },
  entries: [newEntry('provisioning', { instanceId })],
})

export const renewLease: TransitionEffect<'provisioning'> = ({ instance, at }) => ({
  instance: { ...instance, lease: { expiresAt: after(at, LEASE_MS), renewed: true } },
  entries: [newEntry('provisioning', { instanceId: instance.instanceId, renewed: true })],
})

export const nextToken: TransitionEffect<'token'> = ({ instance, said }) => ({
  instance: { ...instance, tokenHash: said.hash },
  entries: [],
})

export const firstToken: TransitionEffect<'token'> = (context) => ({
  instance: nextToken(context).instance,
  entries: [newEntry('configuring')],
})

type Addressed = { publicIp?: string; eipAllocId?: string }

/** The dev instance with the address it was given; one that it held before stays held until it is released. */
const addressed = (context: TransitionContext<Trigger>): { instance: DevInstanceRow; entries: NewHistoryEntry[] } => {
  const { instance, at } = context
  const { publicIp, eipAllocId } = context.said as Addressed
  if (publicIp === undefined || eipAllocId === undefined || eipAllocId === instance.eipAllocId)
    return { instance, entries: [] }
  const isHeld = instance.held.some((one) => one.eipAllocId === eipAllocId)
  const address: ElasticAddress = { eipAllocId, publicIp, heldFrom: at }
  const held = isHeld ? instance.held : [...instance.held, address]
  const changed: DevInstanceRow = {
    ...instance,
    eipAllocId,
    held,
    released: instance.released.filter((one) => one !== eipAllocId),
  }
  const orphans = orphansOf(changed).map((one) => one.eipAllocId)
  const data = { publicIp, eipAllocId, ...(orphans.length > 0 && { stillHeld: orphans }) }
  return { instance: changed, entries: [newEntry('address.changed', data)] }
}

export const finalize: TransitionEffect<'finalize'> = (context) => {
  const { instance, said, at } = context
  const finalizedLate = instance.lease !== null && Date.parse(at) > Date.parse(instance.lease.expiresAt)
  const { instance: withAddress } = addressed(context as TransitionContext<Trigger>)
  const { publicIp, eipAllocId, facts } = said
  return {
    instance: { ...withAddress, lease: null, finalizedLate, hostKeys: facts.hostKeys ?? [] },
    entries: [newEntry('ready', { publicIp, eipAllocId, ...(finalizedLate && { late: true }) })],
  }
}

export const readdressed: TransitionEffect<'started'> = (context) => addressed(context as TransitionContext<Trigger>)

export const started: TransitionEffect<'started'> = (context) => {
  const { instance, entries: of } = addressed(context as TransitionContext<Trigger>)
  return { instance: { ...instance, startedAt: context.at }, entries: [newEntry('started'), ...of] }
}

export const stopped: TransitionEffect<'stopped'> = ({ instance }) => ({ instance, entries: [newEntry('stopped')] })

export const resizing: TransitionEffect<'resizing'> = ({ instance, said, at }) => {
  const { sizeClass, diskGb: asked } = said
  const from: Extent = { sizeClass: instance.sizeClass, diskGb: instance.diskGb }
  const to: Extent = { sizeClass, diskGb: asked ?? Math.max(instance.diskGb, CLASSES[sizeClass].diskGb) }
  const intent: ResizeIntent = {
    from,
    to,
    state: instance.state as ResizeIntent['state'],
    runningMonthlyMicroUsd: priceOf({ arch: instance.arch, ...to }, instance.pricingVersion).runningMicroUsd,
    overrideUsed: false,
    announcedAt: at,
  }
  const data = { from, to, ...(said.acknowledgeWorkAtRisk && { acknowledgedWorkAtRisk: true }) }
  return { instance: { ...instance, intent }, entries: [newEntry('resizing', data)] }
}

/** The same decision, made although it exceeds the cap: the override is used up by it. */
export const underOverride = (instance: DevInstanceRow): DevInstanceRow =>
  instance.intent ? { ...instance, capOverride: false, intent: { ...instance.intent, overrideUsed: true } } : instance

export const resized: TransitionEffect<'resized'> = (context) => {
  const { instance, said, at } = context
  const { intent } = instance
  const to: Extent = { sizeClass: said.sizeClass, diskGb: said.diskGb ?? intent?.to.diskGb ?? instance.diskGb }
  const aborted = said.sizeClass === intent?.from.sizeClass && intent.from.sizeClass !== intent.to.sizeClass
  const { instance: withAddress, entries: of } = addressed(context as TransitionContext<Trigger>)
  const begins = said.state === 'running' && intent?.state !== 'running'
  return {
    instance: { ...withAddress, ...to, sizedAt: at, intent: null, startedAt: begins ? at : instance.startedAt },
    entries: [
      newEntry('resized', { from: intent?.from, to, verifiedDf: said.verifiedDf, ...(aborted && { aborted }) }),
      ...of,
    ],
  }
}

/** Name and label together; the version rises and the history tells of it in the same transaction. */
export const renamed: TransitionEffect<'renamed'> = ({ instance, said: { name } }) => ({
  instance: {
    ...instance,
    name,
    targetLabel: `${instance.targetLabel.slice(0, instance.targetLabel.indexOf('/'))}/${name}`,
  },
  entries: [newEntry('renamed', { from: instance.name, to: name })],
})

export const released: TransitionEffect<'eip-released'> = ({ instance, said: { allocationId } }) => {
  const address = instance.held.find(({ eipAllocId }) => eipAllocId === allocationId)
  return {
    instance: {
      ...instance,
      eipAllocId: instance.eipAllocId === allocationId ? null : instance.eipAllocId,
      held: instance.held.filter(({ eipAllocId }) => eipAllocId !== allocationId),
      released: [...instance.released.filter((one) => one !== allocationId), allocationId].slice(-RELEASED_MAX),
    },
    entries: [newEntry('address.released', { eipAllocId: allocationId, publicIp: address?.publicIp })],
  }
}

/** Nothing is left of it: its token opens nothing, its environment cannot be read, its address is nobody's. */
export const terminated: TransitionEffect<'terminated'> = ({ instance, said, at }) => ({
  instance: {
    ...instance,
    tokenHash: null,
    env: null,
    eipAllocId: null,
    held: [],
    intent: null,
    capOverride: false,
    lease: null,
    terminatedAt: at,
  },
  entries: [newEntry('terminated', said.acknowledgeWorkAtRisk ? { acknowledgedWorkAtRisk: true } : {})],
})

export const overridden: TransitionEffect<'cap-override'> = ({ instance }) => ({
  instance: { ...instance, capOverride: true },
  entries: [newEntry('cap.overridden')],
})

export const assigned: TransitionEffect<'repo'> = ({ instance, said: { repo, profile } }) => ({
  instance: { ...instance, repo, profile, measurements: null },
  entries: [],
})

export const measured: TransitionEffect<'measurements'> = ({ instance, said }) => ({
  instance: { ...instance, measurements: said },
  entries: [],
})

export const envReplaced: TransitionEffect<'env'> = ({ instance, said: { key, keys } }) => ({
  instance: { ...instance, env: { key, keys } },
  entries: [newEntry('env.replaced', { keys })],
})

export const shared: TransitionEffect<'share'> = ({ instance, said: { teamId } }) => ({
  instance: { ...instance, teams: [...instance.teams, teamId] },
  entries: [newEntry('shared', { teamId })],
})

export const unshared: TransitionEffect<'unshare'> = ({ instance, said: { teamId } }) => ({
  instance: { ...instance, teams: instance.teams.filter((one) => one !== teamId) },
  entries: [newEntry('unshared', { teamId })],
})

/** A tombstone: the row is kept, the name and the cost are free. */
export const deleted: TransitionEffect<'delete'> = ({ instance, at }) => ({
  instance: { ...instance, tokenHash: null, env: null, deletedAt: at },
  entries: [newEntry('deleted')],
})

/** The reservation lapsed. */
export const lapsed = (
  instance: DevInstanceRow,
  at: string,
): { instance: DevInstanceRow; entries: NewHistoryEntry[] } => ({
  instance: { ...instance, tokenHash: null, env: null, deletedAt: at, version: instance.version + 1 },
  entries: [newEntry('deleted', { reason: `no instance was reported within ${RESERVATION_MS / 3_600_000} h` })],
})
