/** The dev instance as REST shows it, in camelCase (rules/devinstance.md#over-rest). */
import type { OwnCondition } from '../kernel/plan.ts'
import { breachFindings, machineFindings } from './life/breaches.ts'
import { RESERVATION_MS } from './life/effects.ts'
import {
  addressOf,
  awaitedPower,
  costToDateMicroUsd,
  type DevInstanceRow,
  launchedPrice,
  presentMonthlyMicroUsd,
} from './life/row.ts'
import { allowedActions } from './life/transitions.ts'
import type { DevInstancePlan, DevInstanceResource } from './plan.ts'
import { type Policy, policyOf } from './schema.ts'
import { usdOf } from './sizing/prices.ts'
import { sizingOf } from './sizing/repo.ts'
import { instanceTypeOf, priceAnswer } from './sizing/sizes.ts'

/** What the mirror keeps: the row and the desire. What depends on the moment is added when it is shown. */
export type StoredDevInstance = {
  id: string
  owner: string
  /** Null until the reservation was entered: then there is nothing to show. */
  box: DevInstanceRow | null
  policy: Policy
  conditions: (Omit<OwnCondition, 'status'> & { since: string })[]
  stalled: { code: string; detail: string } | null
  factSeq: number
  createdAt: string
}

/** One entry of the history. */
export type HistoryEntry = {
  kind: string
  at: string
  by: string | null
  version: number
  data: Record<string, unknown>
}

/** @param object with the status that was just written */
export const storedDevInstance = (
  object: DevInstanceResource,
  instance: DevInstanceRow | null,
  plan: DevInstancePlan,
): StoredDevInstance => {
  const { metadata, spec, status } = object
  const said = new Set(plan.conditions?.map(({ type }) => type))
  const { verdict } = plan
  return {
    id: metadata.name,
    owner: spec.account,
    box: instance,
    policy: policyOf(spec),
    conditions: (status?.conditions ?? [])
      .filter(({ type }) => said.has(type))
      .map(({ type, reason, message, lastTransitionTime }) => ({ type, reason, message, since: lastTransitionTime })),
    stalled:
      verdict.state === 'stalled'
        ? { code: verdict.code, detail: verdict.message.replace(`${verdict.code}: `, '') }
        : null,
    factSeq: plan.status.factSeq ?? 0,
    createdAt: metadata.creationTimestamp,
  }
}

/** What is left to show of one whose resource is gone: its row is kept, with what was said of it since (rules/devinstance.md#tombstones). */
export const tombstoneOf = (of: { id: string; owner: string; box: DevInstanceRow }): ShownDevInstance => ({
  ...of,
  policy: of.box.policy,
  conditions: [...breachFindings(of.box), ...machineFindings(of.box)].map((found) => ({
    ...found,
    reason: found.type,
  })),
  stalled: null,
  factSeq: 0,
  createdAt: of.box.reservedAt,
})

/** A row that can be shown. */
export type ShownDevInstance = StoredDevInstance & { box: DevInstanceRow }

/** What the spec of its resource, or a request, wishes and the provisioner is to do; null when there is nothing. */
const wantedOf = ({ powerWish, sizeWish }: DevInstanceRow) => {
  const power = awaitedPower(powerWish)
  const size = sizeWish.undoneAt === null ? sizeWish.open : null
  if (power === null && size === null) return null
  const { generation, at: since } = size === null ? powerWish : sizeWish
  const isAsked = size === null && powerWish.asked !== undefined
  const of = { generation: isAsked ? null : generation, since }
  return { power, sizeClass: size?.sizeClass ?? null, diskGb: size?.diskGb ?? null, ...of }
}

/** The instance in a list. @param at now, ISO: what it has cost until then */
export const devInstanceItem = ({ id, owner, box: instance, policy, createdAt }: ShownDevInstance, at: string) => ({
  id,
  name: instance.name,
  owner,
  state: instance.state,
  version: instance.version,
  sizeClass: instance.sizeClass,
  arch: instance.arch,
  instanceType: instance.launched?.instanceType ?? instanceTypeOf(instance),
  diskGb: instance.diskGb,
  agents: instance.agents,
  repo: instance.repo,
  policy,
  instanceId: instance.instanceId,
  publicIp: addressOf(instance)?.publicIp ?? null,
  eipAllocId: instance.eipAllocId,
  targetLabel: instance.targetLabel,
  teams: instance.teams,
  price: priceAnswer(launchedPrice(instance)),
  costToDateUsd: usdOf(costToDateMicroUsd(instance, at)),
  wanted: wantedOf(instance),
  createdAt,
  stateSince: instance.stateSince,
  deletedAt: instance.deletedAt,
})

export type Seen = { at: string; lastReport: Record<string, unknown> | null; events: HistoryEntry[] }

/** The instance with all that is known of it. */
export const devInstanceDetail = (stored: ShownDevInstance, { at, lastReport, events }: Seen) => {
  const { box: instance } = stored
  return {
    ...devInstanceItem(stored, at),
    sizing: sizingOf(instance),
    currentMonthlyUsd: usdOf(presentMonthlyMicroUsd(instance)),
    addresses: instance.held.map(({ eipAllocId, publicIp, heldFrom }) => ({
      eipAllocId,
      publicIp,
      heldFrom,
      inUse: eipAllocId === instance.eipAllocId,
    })),
    hostKeys: instance.hostKeys,
    attestation: instance.attestation ? { at: instance.attestation.at, faults: instance.attestation.faults } : null,
    launched: instance.launched,
    measurements: instance.measurements,
    envKeys: instance.env?.keys ?? [],
    lease: instance.lease,
    reservationExpiresAt: instance.state === 'reserved' ? reservationExpiresAt(instance) : null,
    bootstrapSha256: instance.bootstrapSha256,
    intent: instance.intent && {
      from: instance.intent.from,
      to: instance.intent.to,
      previousState: instance.intent.state,
      runningMonthlyUsd: usdOf(instance.intent.runningMonthlyMicroUsd),
      overrideUsed: instance.intent.overrideUsed,
      announcedAt: instance.intent.announcedAt,
    },
    capOverride: instance.capOverride !== null,
    capOverrideUntil: instance.capOverride?.expiresAt ?? null,
    asked: { starting: instance.starting, terminating: instance.terminating },
    machine: instance.machine && { is: instance.machine, since: instance.machineSince },
    otherInstances: instance.strays,
    startedAt: instance.startedAt,
    terminatedAt: instance.terminatedAt,
    conditions: stored.conditions,
    lastReport,
    events,
    allowedActions: allowedActions(instance),
  }
}

export const reservationExpiresAt = (instance: Pick<DevInstanceRow, 'reservedAt'>): string =>
  new Date(Date.parse(instance.reservedAt) + RESERVATION_MS).toISOString()
