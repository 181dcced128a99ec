/**
 * What a report makes of a dev instance. It has happened, so none of these can fail: what is said is taken as said, and the
 * machine is billed by it. Which rule it breaks is for report-guards.ts. Source: rules/devinstance.md#reports-and-requests.
 */
import { isDeepStrictEqual } from '../../values/compare.ts'
import type { Said, Trigger } from '../protocol.ts'
import { madeAgain, type NewHistoryEntry, type TransitionContext, type TransitionEffect } from './context.ts'
import { instantAfter, newEntry } from './entry.ts'
import {
  type DevInstanceRow,
  type ElasticAddress,
  type Extent,
  type LaunchedFacts,
  type Machine,
  orphansOf,
} from './row.ts'

/** From the provisioning report on (rules/devinstance.md#protocol). */
export const LEASE_MS = 30 * 60_000
const RELEASED_MAX = 10
/** Instances beside the attached one that are kept in the row; more of them stand in the history. */
const STRAYS_MAX = 10

type Made = ReturnType<TransitionEffect<Trigger>>

/** One that is seen, or seen again, has its volumes. */
export const withMachine = (instance: DevInstanceRow, machine: Machine, at: string): DevInstanceRow => {
  const wasThere = instance.machine === 'up' || instance.machine === 'down'
  const volumesGone = instance.volumesGone && (wasThere || machine === 'gone')
  return machine === instance.machine && volumesGone === instance.volumesGone
    ? instance
    : { ...instance, machine, volumesGone, machineSince: at }
}

export const attach: TransitionEffect<'provisioning'> = ({ instance, said: { instanceId }, at }) => ({
  instance: {
    ...withMachine(instance, 'up', at),
    instanceId,
    lease: { expiresAt: instantAfter(at, LEASE_MS), renewed: false },
  },
  entries: [newEntry('provisioning', { instanceId })],
})

export const renewLease: TransitionEffect<'provisioning'> = ({ instance, at }) => ({
  instance: { ...instance, lease: { expiresAt: instantAfter(at, LEASE_MS), renewed: true } },
  entries: [newEntry('provisioning', { instanceId: instance.instanceId, renewed: true })],
})

/** Undefined: nobody told. */
type Seen = { [Name in keyof LaunchedFacts]?: LaunchedFacts[Name] | undefined }

const UNSEEN: LaunchedFacts = {
  instanceType: null,
  region: null,
  imageId: null,
  bakedSha256: null,
  volumeType: null,
  diskGb: null,
  agents: {},
}

/** What is told of the machine is kept as it is told; what is not, stays. */
export const launchedAs = (instance: DevInstanceRow, seen: Seen): DevInstanceRow => {
  const before = instance.launched ?? UNSEEN
  const names = Object.keys(UNSEEN) as (keyof LaunchedFacts)[]
  const told = names.filter((name) => seen[name] !== undefined && !isDeepStrictEqual(seen[name], before[name]))
  if (told.length === 0) return instance
  return { ...instance, launched: { ...before, ...Object.fromEntries(told.map((name) => [name, seen[name]])) } }
}

/** Both say which machine is there. */
type Launching = 'provisioning' | 'finalize'

/** A second instance costs until it is confirmed gone by its id. */
const secondInstance: TransitionEffect<Launching> = ({ instance, said: { instanceId }, at }) => {
  const { strays } = instance
  const isKnown = strays.some((one) => one.instanceId === instanceId) || strays.length >= STRAYS_MAX
  return {
    instance: isKnown ? instance : { ...instance, strays: [...strays, { instanceId, seenAt: at }] },
    entries: [],
  }
}

const isOfAnother = ({ instance, said }: TransitionContext<Launching>): boolean =>
  instance.instanceId !== null && instance.instanceId !== said.instanceId

/** The machine is there, whatever else was wrong with what was said of it. */
export const seenThere: TransitionEffect<Launching> = (context) =>
  isOfAnother(context)
    ? secondInstance(context)
    : { instance: withMachine(context.instance, 'up', context.at), entries: [] }

/** Of one that was confirmed gone, or deleted: it is there after all. */
export const seenAgain: TransitionEffect<Launching> = (context) => {
  const { instance, said, at } = context
  if (isOfAnother(context)) return secondInstance(context)
  return { instance: { ...withMachine(instance, 'up', at), instanceId: said.instanceId }, entries: [] }
}

type Addressed = { publicIp?: string; eipAllocId?: string }

/** With the address it was given; the one before stays held until it is released, one that another has is left with that. */
export const addressed = ({
  instance,
  said,
  at,
  around,
}: Omit<TransitionContext<Trigger>, 'said'> & { said: Addressed }): Made => {
  const { publicIp, eipAllocId } = said
  if (publicIp === undefined || eipAllocId === undefined || around.taken?.includes('address'))
    return { instance, entries: [] }
  const known = instance.held.find((one) => one.eipAllocId === eipAllocId)
  if (eipAllocId === instance.eipAllocId && known?.publicIp === publicIp) return { instance, entries: [] }
  const address: ElasticAddress = known?.publicIp === publicIp ? known : { eipAllocId, publicIp, heldFrom: at }
  const held = known ? instance.held.map((one) => (one === known ? address : one)) : [...instance.held, address]
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

/** It is not as it must be; its address costs all the same. */
export const seenUnready: TransitionEffect<'finalize'> = (context) => {
  if (isOfAnother(context)) return secondInstance(context)
  const { instance, entries } = addressed(context)
  return { instance: launchedAs(withMachine(instance, 'up', context.at), context.said.facts), entries }
}

export const readdressed: TransitionEffect<'started'> = (context) => {
  const { instance, entries } = addressed(context)
  const up = launchedAs(withMachine(instance, 'up', context.at), context.said)
  return { instance: up, entries: entries.length === 0 ? [newEntry('started')] : entries }
}

export const started: TransitionEffect<'started'> = (context) => {
  const { instance, entries } = addressed(context)
  const up = launchedAs(withMachine(instance, 'up', context.at), context.said)
  return {
    instance: { ...up, startedAt: context.at, starting: null, terminating: null },
    entries: [newEntry('started'), ...entries],
  }
}

/** It runs while it is resized: the announced resize stands, and is confirmed or taken back by resized. */
export const startedInResize: TransitionEffect<'started'> = (context) => {
  const { instance, entries } = addressed(context)
  return { instance: launchedAs(withMachine(instance, 'up', context.at), context.said), entries }
}

export const stopped: TransitionEffect<'stopped'> = ({ instance, at }) => ({
  instance: { ...withMachine(instance, 'down', at), starting: null },
  entries: [newEntry('stopped')],
})

/** Said before it was finalized or after it was terminated, or not as it should be: it moves no state, and it is billed. */
export const seenUp: TransitionEffect<'started'> = ({ instance, said, at }) => ({
  instance: launchedAs(withMachine(instance, 'up', at), said),
  entries: [],
})
export const seenDown: TransitionEffect<'stopped'> = ({ instance, at }) => ({
  instance: withMachine(instance, 'down', at),
  entries: [],
})
export const seenResized: TransitionEffect<'resized'> = ({ instance, said: { state, instanceType }, at }) => ({
  instance: launchedAs(withMachine(instance, state === 'stopped' ? 'down' : 'up', at), { instanceType }),
  entries: [],
})

/** Of another size it is of another type; which one is known where it is told. The disk is the one that is confirmed. */
const retyped = (instance: DevInstanceRow, { sizeClass, instanceType }: Said['resized']): DevInstanceRow => {
  const { launched } = instance
  const isSame = sizeClass === instance.sizeClass
  const before = launched && { ...launched, diskGb: null, ...(!isSame && { instanceType: null }) }
  return launchedAs({ ...instance, launched: before }, { instanceType })
}

export const resized: TransitionEffect<'resized'> = (context) => {
  const { instance, said, at } = context
  const { intent } = instance
  const to: Extent = { sizeClass: said.sizeClass, diskGb: said.diskGb ?? intent?.to.diskGb ?? instance.diskGb }
  const aborted = said.sizeClass === intent?.from.sizeClass && intent.from.sizeClass !== intent.to.sizeClass
  const { instance: withAddress, entries } = addressed(context)
  const begins = said.state === 'running' && intent?.state !== 'running'
  const { verifiedDf, state } = said
  return {
    instance: {
      ...retyped(withMachine(withAddress, state === 'stopped' ? 'down' : 'up', at), said),
      ...to,
      arch: said.arch ?? instance.arch,
      state,
      sizedAt: at,
      intent: null,
      startedAt: begins ? at : instance.startedAt,
    },
    entries: [newEntry('resized', { from: intent?.from, to, verifiedDf, ...(aborted && { aborted }) }), ...entries],
  }
}

/** Name and label together; the version rises and the history tells of it in the same transaction. */
export const renamed: TransitionEffect<'renamed'> = ({ instance, said: { name }, around }) => ({
  instance: {
    ...instance,
    ...madeAgain(around),
    name,
    targetLabel: `${instance.targetLabel.slice(0, instance.targetLabel.indexOf('/'))}/${name}`,
  },
  entries: [newEntry('renamed', { from: instance.name, to: name })],
})

const released = (instance: DevInstanceRow, allocations: readonly string[]): DevInstanceRow => ({
  ...instance,
  eipAllocId: instance.eipAllocId !== null && allocations.includes(instance.eipAllocId) ? null : instance.eipAllocId,
  held: instance.held.filter(({ eipAllocId }) => !allocations.includes(eipAllocId)),
  released: [...instance.released.filter((one) => !allocations.includes(one)), ...allocations].slice(-RELEASED_MAX),
})

/** Nothing is left of it: its token opens nothing, its environment cannot be read, its address is nobody's. */
const ended = (instance: DevInstanceRow, at: string): DevInstanceRow => ({
  ...instance,
  state: 'terminated',
  tokenHash: null,
  env: null,
  intent: null,
  starting: null,
  terminating: null,
  capOverride: null,
  lease: null,
  terminatedAt: instance.terminatedAt ?? at,
})

/** Nothing is left that could be said to be gone. */
export const isOver = ({ machine, volumesGone, held }: DevInstanceRow): boolean =>
  machine === 'gone' && volumesGone && held.length === 0

/** The last part of a machine that is gone ends it, whichever that is. */
const endedWhenOver = (instance: DevInstanceRow, at: string, entries: NewHistoryEntry[], data = {}): Made =>
  isOver(instance)
    ? { instance: ended(instance, at), entries: [...entries, newEntry('terminated', data)] }
    : { instance, entries }

export const addressReleased: TransitionEffect<'eip-released'> = ({ instance, said: { allocationId }, at }) => {
  const address = instance.held.find(({ eipAllocId }) => eipAllocId === allocationId)
  const entry = newEntry('address.released', { eipAllocId: allocationId, publicIp: address?.publicIp })
  return endedWhenOver(released(instance, [allocationId]), at, [entry])
}

const isStray = (instance: DevInstanceRow, { instanceId }: Said['terminated']): boolean =>
  instanceId !== undefined && instance.instanceId !== null && instanceId !== instance.instanceId

/** All of it, or a part: what is not said to be gone may be said later. Without a machine it computes nothing any more. */
export const gone: TransitionEffect<'terminated'> = ({ instance, said, at }) => {
  const { instanceId, instanceGone, eipGone, volumesGone } = said
  if (isStray(instance, said)) {
    const strays = instance.strays.filter((one) => one.instanceId !== instanceId)
    return { instance: { ...instance, strays }, entries: [newEntry('parts.gone', { instanceId, instance: true })] }
  }
  const without = instanceGone ? withMachine(instance, 'gone', at) : instance
  const freed = eipGone
    ? released(
        without,
        without.held.map(({ eipAllocId }) => eipAllocId),
      )
    : without
  const left: DevInstanceRow = { ...freed, volumesGone: freed.volumesGone || volumesGone }
  const data = said.acknowledgeWorkAtRisk ? { acknowledgedWorkAtRisk: true } : {}
  if (isOver(left)) return endedWhenOver(left, at, [], data)
  const parts = { instance: instanceGone, addresses: eipGone, volumes: volumesGone, ...data }
  const isDown = instanceGone && left.state !== 'reserved' && left.state !== 'terminated'
  return {
    instance: isDown ? { ...left, state: 'stopped', intent: null, starting: null, lease: null } : left,
    entries: [newEntry('parts.gone', parts)],
  }
}

/** Nothing is said that is not known. */
export const isKnownGone = ({ instance, said }: TransitionContext<'terminated'>): boolean =>
  isStray(instance, said)
    ? !said.instanceGone || !instance.strays.some((one) => one.instanceId === said.instanceId)
    : (!said.instanceGone || instance.machine === 'gone') &&
      (!said.eipGone || instance.held.length === 0) &&
      (!said.volumesGone || instance.volumesGone)

/** The machine's own word: it computes no more from now on, and whoever looks at it confirms that by stopped. */
export const stopping: TransitionEffect<'stopping'> = ({ instance, said: { reason }, at }) => ({
  instance: withMachine(instance, 'down', at),
  entries: [newEntry('stopping', { reason })],
})

/** It reports though it was said to be stopped. */
export const awake: TransitionEffect<'awake'> = ({ instance, at }) => ({
  instance: withMachine(instance, 'up', at),
  entries: [newEntry('awake')],
})
