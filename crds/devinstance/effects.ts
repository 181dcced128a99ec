/** What an accepted call makes of a box, and what is told of it. Each is applied once its guards have passed. */
import { type Address, type Box, type Extent, type Intent, orphansOf } from './box.ts'
import type { Trigger } from './protocol.ts'
import type { DevInstanceSpec } from './schema.ts'
import { CLASSES, priceOf } from './sizes.ts'
import type { Context, Effect, Told } from './transitions.ts'

/** From the provisioning report on (spec/3 Limits). */
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

export const reserved = ({ spec, fallbackName, pricingVersion, bootstrapSha256, at }: Reservation): Box => {
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

const told = (kind: string, data: Record<string, unknown> = {}): Told => ({ kind, data })

export const attach: Effect<'provisioning'> = ({ box, said: { instanceId }, at }) => ({
  box: { ...box, instanceId, lease: { expiresAt: after(at, LEASE_MS), renewed: false } },
  told: [told('provisioning', { instanceId })],
})

export const renewLease: Effect<'provisioning'> = ({ box, at }) => ({
  box: { ...box, lease: { expiresAt: after(at, LEASE_MS), renewed: true } },
  told: [told('provisioning', { instanceId: box.instanceId, renewed: true })],
})

export const nextToken: Effect<'token'> = ({ box, said }) => ({ box: { ...box, tokenHash: said.hash }, told: [] })

export const firstToken: Effect<'token'> = (context) => ({
  box: nextToken(context).box,
  told: [told('configuring')],
})

type Addressed = { publicIp?: string; eipAllocId?: string }

/** The box with the address it was given; one that it held before stays held until it is released. */
const addressed = (context: Context<Trigger>): { box: Box; told: Told[] } => {
  const { box, at } = context
  const { publicIp, eipAllocId } = context.said as Addressed
  if (publicIp === undefined || eipAllocId === undefined || eipAllocId === box.eipAllocId) return { box, told: [] }
  const isHeld = box.held.some((one) => one.eipAllocId === eipAllocId)
  const address: Address = { eipAllocId, publicIp, heldFrom: at }
  const held = isHeld ? box.held : [...box.held, address]
  const changed: Box = { ...box, eipAllocId, held, released: box.released.filter((one) => one !== eipAllocId) }
  const orphans = orphansOf(changed).map((one) => one.eipAllocId)
  const data = { publicIp, eipAllocId, ...(orphans.length > 0 && { stillHeld: orphans }) }
  return { box: changed, told: [told('address.changed', data)] }
}

export const finalize: Effect<'finalize'> = (context) => {
  const { box, said, at } = context
  const finalizedLate = box.lease !== null && Date.parse(at) > Date.parse(box.lease.expiresAt)
  const { box: withAddress } = addressed(context as Context<Trigger>)
  const { publicIp, eipAllocId, facts } = said
  return {
    box: { ...withAddress, lease: null, finalizedLate, hostKeys: facts.hostKeys ?? [] },
    told: [told('ready', { publicIp, eipAllocId, ...(finalizedLate && { late: true }) })],
  }
}

export const readdressed: Effect<'started'> = (context) => addressed(context as Context<Trigger>)

export const started: Effect<'started'> = (context) => {
  const { box, told: of } = addressed(context as Context<Trigger>)
  return { box: { ...box, startedAt: context.at }, told: [told('started'), ...of] }
}

export const stopped: Effect<'stopped'> = ({ box }) => ({ box, told: [told('stopped')] })

export const resizing: Effect<'resizing'> = ({ box, said, at }) => {
  const { sizeClass, diskGb: asked } = said
  const from: Extent = { sizeClass: box.sizeClass, diskGb: box.diskGb }
  const to: Extent = { sizeClass, diskGb: asked ?? Math.max(box.diskGb, CLASSES[sizeClass].diskGb) }
  const intent: Intent = {
    from,
    to,
    state: box.state as Intent['state'],
    runningMonthlyMicroUsd: priceOf({ arch: box.arch, ...to }, box.pricingVersion).runningMicroUsd,
    overrideUsed: false,
    announcedAt: at,
  }
  const data = { from, to, ...(said.acknowledgeWorkAtRisk && { acknowledgedWorkAtRisk: true }) }
  return { box: { ...box, intent }, told: [told('resizing', data)] }
}

/** The same decision, made although it exceeds the cap: the override is used up by it. */
export const underOverride = (box: Box): Box =>
  box.intent ? { ...box, capOverride: false, intent: { ...box.intent, overrideUsed: true } } : box

export const resized: Effect<'resized'> = (context) => {
  const { box, said, at } = context
  const { intent } = box
  const to: Extent = { sizeClass: said.sizeClass, diskGb: said.diskGb ?? intent?.to.diskGb ?? box.diskGb }
  const aborted = said.sizeClass === intent?.from.sizeClass && intent.from.sizeClass !== intent.to.sizeClass
  const { box: withAddress, told: of } = addressed(context as Context<Trigger>)
  const begins = said.state === 'running' && intent?.state !== 'running'
  return {
    box: { ...withAddress, ...to, sizedAt: at, intent: null, startedAt: begins ? at : box.startedAt },
    told: [
      told('resized', { from: intent?.from, to, verifiedDf: said.verifiedDf, ...(aborted && { aborted }) }),
      ...of,
    ],
  }
}

/** Name and label together; the version rises and the history tells of it in the same transaction. */
export const renamed: Effect<'renamed'> = ({ box, said: { name } }) => ({
  box: { ...box, name, targetLabel: `${box.targetLabel.slice(0, box.targetLabel.indexOf('/'))}/${name}` },
  told: [told('renamed', { from: box.name, to: name })],
})

export const released: Effect<'eip-released'> = ({ box, said: { allocationId } }) => {
  const address = box.held.find(({ eipAllocId }) => eipAllocId === allocationId)
  return {
    box: {
      ...box,
      eipAllocId: box.eipAllocId === allocationId ? null : box.eipAllocId,
      held: box.held.filter(({ eipAllocId }) => eipAllocId !== allocationId),
      released: [...box.released.filter((one) => one !== allocationId), allocationId].slice(-RELEASED_MAX),
    },
    told: [told('address.released', { eipAllocId: allocationId, publicIp: address?.publicIp })],
  }
}

/** Nothing is left of it: its token opens nothing, its environment cannot be read, its address is nobody's. */
export const terminated: Effect<'terminated'> = ({ box, said, at }) => ({
  box: {
    ...box,
    tokenHash: null,
    env: null,
    eipAllocId: null,
    held: [],
    intent: null,
    capOverride: false,
    lease: null,
    terminatedAt: at,
  },
  told: [told('terminated', said.acknowledgeWorkAtRisk ? { acknowledgedWorkAtRisk: true } : {})],
})

export const overridden: Effect<'cap-override'> = ({ box }) => ({
  box: { ...box, capOverride: true },
  told: [told('cap.overridden')],
})

export const assigned: Effect<'repo'> = ({ box, said: { repo, profile } }) => ({
  box: { ...box, repo, profile, measurements: null },
  told: [],
})

export const measured: Effect<'measurements'> = ({ box, said }) => ({ box: { ...box, measurements: said }, told: [] })

export const envReplaced: Effect<'env'> = ({ box, said: { key, keys } }) => ({
  box: { ...box, env: { key, keys } },
  told: [told('env.replaced', { keys })],
})

export const shared: Effect<'share'> = ({ box, said: { teamId } }) => ({
  box: { ...box, teams: [...box.teams, teamId] },
  told: [told('shared', { teamId })],
})

export const unshared: Effect<'unshare'> = ({ box, said: { teamId } }) => ({
  box: { ...box, teams: box.teams.filter((one) => one !== teamId) },
  told: [told('unshared', { teamId })],
})

/** A tombstone: the row is kept, the name and the cost are free. */
export const deleted: Effect<'delete'> = ({ box, at }) => ({
  box: { ...box, tokenHash: null, env: null, deletedAt: at },
  told: [told('deleted')],
})

/** The reservation lapsed. */
export const lapsed = (box: Box, at: string): { box: Box; told: Told[] } => ({
  box: { ...box, tokenHash: null, env: null, deletedAt: at, version: box.version + 1 },
  told: [told('deleted', { reason: `no instance was reported within ${RESERVATION_MS / 3_600_000} h` })],
})
