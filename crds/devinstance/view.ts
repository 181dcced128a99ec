/** The dev instance as REST shows it, in camelCase as the document (spec/3; CONTRACT section 7). */
import type { OwnCondition } from '../plan.ts'
import { addressOf, type Box, costToDateMicroUsd, presentMonthlyMicroUsd } from './box.ts'
import { RESERVATION_MS } from './effects.ts'
import type { DevInstancePlan, DevInstanceResource } from './plan.ts'
import { usdOf } from './prices.ts'
import { sizingOf } from './repo.ts'
import { type Policy, policyOf } from './schema.ts'
import { instanceTypeOf, priceAnswer, priceOf } from './sizes.ts'
import { allowedActions } from './transitions.ts'

/** What the mirror keeps: the row and the desire. What depends on the moment is added when it is shown. */
export type StoredDevInstance = {
  id: string
  owner: string
  /** Null until the reservation was entered: then there is nothing to show. */
  box: Box | null
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
  box: Box | null,
  plan: DevInstancePlan,
): StoredDevInstance => {
  const { metadata, spec, status } = object
  const said = new Set(plan.conditions?.map(({ type }) => type))
  const { verdict } = plan
  return {
    id: metadata.name,
    owner: spec.account,
    box,
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

/** A row that can be shown. */
export type ShownDevInstance = StoredDevInstance & { box: Box }

/** The instance in a list. @param at now, ISO: what it has cost until then */
export const devInstanceItem = ({ id, owner, box, policy, createdAt }: ShownDevInstance, at: string) => ({
  id,
  name: box.name,
  owner,
  state: box.state,
  version: box.version,
  sizeClass: box.sizeClass,
  arch: box.arch,
  instanceType: instanceTypeOf(box),
  diskGb: box.diskGb,
  agents: box.agents,
  repo: box.repo,
  policy,
  instanceId: box.instanceId,
  publicIp: addressOf(box)?.publicIp ?? null,
  eipAllocId: box.eipAllocId,
  targetLabel: box.targetLabel,
  teams: box.teams,
  price: priceAnswer(priceOf(box, box.pricingVersion)),
  costToDateUsd: usdOf(costToDateMicroUsd(box, at)),
  createdAt,
  stateSince: box.stateSince,
  deletedAt: box.deletedAt,
})

export type Seen = { at: string; lastReport: Record<string, unknown> | null; events: HistoryEntry[] }

/** The instance with all that is known of it. */
export const devInstanceDetail = (stored: ShownDevInstance, { at, lastReport, events }: Seen) => {
  const { box } = stored
  return {
    ...devInstanceItem(stored, at),
    sizing: sizingOf(box),
    currentMonthlyUsd: usdOf(presentMonthlyMicroUsd(box)),
    addresses: box.held.map(({ eipAllocId, publicIp, heldFrom }) => ({
      eipAllocId,
      publicIp,
      heldFrom,
      inUse: eipAllocId === box.eipAllocId,
    })),
    hostKeys: box.hostKeys,
    measurements: box.measurements,
    envKeys: box.env?.keys ?? [],
    lease: box.lease,
    reservationExpiresAt: box.state === 'reserved' ? reservationExpiresAt(box) : null,
    bootstrapSha256: box.bootstrapSha256,
    intent: box.intent && {
      from: box.intent.from,
      to: box.intent.to,
      previousState: box.intent.state,
      runningMonthlyUsd: usdOf(box.intent.runningMonthlyMicroUsd),
      overrideUsed: box.intent.overrideUsed,
      announcedAt: box.intent.announcedAt,
    },
    capOverride: box.capOverride,
    startedAt: box.startedAt,
    terminatedAt: box.terminatedAt,
    conditions: stored.conditions,
    lastReport,
    events,
    allowedActions: allowedActions(box),
  }
}

export const reservationExpiresAt = (box: Pick<Box, 'reservedAt'>): string =>
  new Date(Date.parse(box.reservedAt) + RESERVATION_MS).toISOString()
