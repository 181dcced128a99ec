/**
 * The DevInstance's hands: they write decisions, and nothing else. No step of it could reach a machine: the cloud work is
 * the provisioner's (rules/devinstance.md#a-registry-and-a-policy). What to do is decided in crds/devinstance/plan.ts.
 */

import { limitOf } from '../../../crds/account/quotas.ts'
import { bootstrapOf } from '../../../crds/devinstance/bootstrap/bootstrap.ts'
import { gitOf } from '../../../crds/devinstance/bootstrap/report.ts'
import { eventOf, factKind, pendingOf } from '../../../crds/devinstance/facts.ts'
import { DEVINSTANCE } from '../../../crds/devinstance/kind.ts'
import { reserved, underOverride } from '../../../crds/devinstance/life/effects.ts'
import type { Refusal } from '../../../crds/devinstance/life/refusal.ts'
import { addressOf, committedMicroUsd, type DevInstanceRow } from '../../../crds/devinstance/life/row.ts'
import {
  type DevInstanceFacts,
  type DevInstanceResource,
  type DevInstanceStep,
  planDevInstance,
  stalledUntil,
} from '../../../crds/devinstance/plan.ts'
import { capRefusal, MICRO_USD, nameRefusal, takenRefusal } from '../../../crds/devinstance/reserving.ts'
import { storedDevInstance } from '../../../crds/devinstance/view.ts'
import type { DevInstanceWorld, TransitionSettlement } from '../../../crds/devinstance/world.ts'
import { originOf } from '../../../crds/kernel/desire/desire.ts'
import { isConflict, isNotFound, Stalled } from '../../base/errors.ts'
import type { Kube } from '../../kube/kube.ts'
import type { Controller } from '../../runtime/contract.ts'
import type { Blobs } from '../../store/blobs.ts'
import { type DevInstanceLedger, makeDevInstanceLedger, type Settled } from '../../store/devinstance/devinstances.ts'
import { type Mirror, rowOf } from '../../store/mirror.ts'
import type { Directory } from '../account-index.ts'
import { controlOf } from '../kind-controller.ts'

export type DevInstanceDeps = {
  kube: Pick<Kube, 'delete'>
  devInstances: DevInstanceLedger
  accounts: Directory
  blobs: Blobs
  mirror: Mirror
  now: () => Date
}

type Step<Do extends DevInstanceStep['do']> = Extract<DevInstanceStep, { do: Do }>
type Apply = (world: DevInstanceWorld) => DevInstanceWorld

const observe = async (deps: DevInstanceDeps, { metadata, spec }: DevInstanceResource): Promise<DevInstanceWorld> => {
  const profile = deps.accounts.get(spec.account)
  const { record, pending, lastReport, factSeq } = await deps.devInstances.observe(metadata.name)
  const account = profile && {
    capabilities: profile.capabilities,
    capMicroUsd: limitOf('devbox_cost_cap_usd', profile) * MICRO_USD,
  }
  return {
    account,
    record,
    pending: pending.map(pendingOf),
    lastReport: lastReport && { at: lastReport.at, git: gitOf(lastReport.body) },
    factSeq,
  }
}

const reserve = async (deps: DevInstanceDeps, step: Step<'reserve'>, { metadata, spec }: DevInstanceResource) => {
  const { name, committedMicroUsd, capMicroUsd, pricingVersion } = step
  const now = deps.now()
  const reservation = { resource: metadata.name, account: spec.account, at: now.toISOString() }
  const { outcome, others } = await deps.devInstances.reserve({
    ...reservation,
    name,
    committedMicroUsd,
    capMicroUsd,
    pricingVersion,
  })
  if (outcome === 'reserved' || outcome === 'held') return
  const { code, detail } =
    outcome === 'NAME_TAKEN' ? nameRefusal(name) : capRefusal({ committedMicroUsd, capMicroUsd, others })
  throw new Stalled(code, `${code}: ${detail}`, stalledUntil(now))
}

const enter = async (deps: DevInstanceDeps, step: Step<'enter'>, object: DevInstanceResource) => {
  const { metadata, spec } = object
  const { name, pricingVersion, rev } = step
  const bootstrap = bootstrapOf({ name, arch: spec.arch, agents: spec.agents, repo: spec.repo })
  if (!bootstrap.ok) throw new Stalled(bootstrap.code, `${bootstrap.code}: ${bootstrap.detail}`)
  const bootstrapSha256 = await deps.blobs.put(bootstrap.bytes)
  const at = deps.now().toISOString()
  const instance = reserved({ spec, fallbackName: metadata.name, pricingVersion, bootstrapSha256, at })
  const { sizeClass, arch, diskGb } = instance
  const entries = [{ kind: 'reserved', data: { name, sizeClass, arch, diskGb } }]
  const settlement: TransitionSettlement = {
    seq: null,
    trigger: 'reserve',
    at,
    by: null,
    state: 'accepted',
    instance,
    entries,
  }
  // What it commits was taken under the cap with the reservation, so the cap is not asked again.
  await write(deps, object, { settlement, before: null, rev, capMicroUsd: 0, over: false })
}

type Decided = {
  settlement: TransitionSettlement
  before: DevInstanceRow | null
  rev: number
  capMicroUsd: number
  over: boolean
}

/** Writes one decision. @returns what forbids it beyond this instance */
const write = (deps: DevInstanceDeps, object: DevInstanceResource, decided: Decided): Promise<Settled> => {
  const { metadata, spec } = object
  const { settlement, before, rev, capMicroUsd, over } = decided
  const { seq, trigger, at, by } = settlement
  const resource = metadata.name
  const fact = {
    resource,
    resourceKind: DEVINSTANCE.kind,
    key: `${trigger}:${rev}`,
    kind: factKind(trigger),
    body: {},
    state: 'accepted' as const,
    at,
  }
  const of = { resource, rev, at, by, ...(seq === null ? { seq, fact } : { seq }) }
  if (settlement.state === 'refused') {
    const { code, detail } = settlement
    return deps.devInstances.settle({ ...of, state: 'refused', code, detail })
  }
  const { instance, entries } = settlement
  const event = eventOf(resource, spec.account, before, settlement)
  const row = {
    uid: originOf(metadata),
    box: instance,
    committedMicroUsd: committedMicroUsd(instance),
    capMicroUsd,
    over,
    entries,
    event,
  }
  return deps.devInstances.settle({ ...of, state: 'accepted', ...row })
}

/** What was decided is known, so the next call can be judged at once. */
const applySettlement =
  (settlement: TransitionSettlement): Apply =>
  (world) => {
    if (world.record === null) return world
    const { record, pending } = world
    const instance = settlement.state === 'accepted' ? settlement.instance : record.box
    return {
      ...world,
      record: { ...record, rev: record.rev + 1, box: instance },
      pending: pending.filter(({ seq }) => seq === null || seq !== settlement.seq),
    }
  }

/** What forbids a decision beyond its instance, as the refusal that REST answers; null for one that an override allows. */
const refusalOf = (settled: Settled, { settlement, before, capMicroUsd }: Decided): Refusal | null => {
  if (settlement.state !== 'accepted') return null
  const { instance, trigger } = settlement
  if (settled.outcome === 'CAP_EXCEEDED') {
    if (before?.capOverride && trigger === 'resizing') return null
    return capRefusal({ committedMicroUsd: committedMicroUsd(instance), capMicroUsd, others: settled.others })
  }
  if (settled.outcome !== 'taken') return null
  const publicIp = addressOf(instance)?.publicIp
  return takenRefusal(settled.what, {
    name: instance.name,
    instanceId: instance.instanceId,
    eipAllocId: instance.eipAllocId,
    publicIp,
  })
}

const settle = async (deps: DevInstanceDeps, step: Step<'settle'>, object: DevInstanceResource) => {
  const first: Decided = { ...step, over: false }
  const settled = await write(deps, object, first)
  if (settled.outcome === 'settled') return applySettlement(step.settlement)
  // Somebody decided meanwhile: a fresh look tells.
  if (settled.outcome === 'stale' || step.settlement.state !== 'accepted') return undefined
  const refusal = refusalOf(settled, first)
  const { seq, trigger, at, by, instance } = step.settlement
  const second: TransitionSettlement = refusal
    ? { seq, trigger, at, by, state: 'refused', code: refusal.code, detail: refusal.detail }
    : { ...step.settlement, instance: underOverride(instance) }
  const again = await write(deps, object, { ...first, settlement: second, over: refusal === null })
  return again.outcome === 'settled' ? applySettlement(second) : undefined
}

/** Whoever asked for the deletion may never come back, so it is nobody's but ours to end. */
const remove = async ({ kube }: DevInstanceDeps, { metadata }: DevInstanceResource): Promise<Apply> => {
  const { namespace = '', name, uid = '' } = metadata
  await kube.delete(DEVINSTANCE, { namespace, name }, { uid }).catch((error: unknown) => {
    // gone, or another one by now
    if (!isNotFound(error) && !isConflict(error)) throw error
  })
  return (world) => ({ ...world, isRemoved: true })
}

export const devInstanceController = (
  deps: DevInstanceDeps,
): Controller<DevInstanceResource, DevInstanceFacts, DevInstanceWorld, DevInstanceStep> => ({
  kind: DEVINSTANCE,
  ...(DEVINSTANCE.finalizer !== undefined && { finalizer: DEVINSTANCE.finalizer }),
  observe: (object) => observe(deps, object),
  plan: planDevInstance,
  act: {
    reserve: (step, object) => reserve(deps, step, object),
    enter: (step, object) => enter(deps, step, object),
    settle: (step, object) => settle(deps, step, object),
    remove: (_step, object) => remove(deps, object),
  },
  report: async (object, world, plan) => {
    const { metadata, spec } = object
    const view = storedDevInstance(object, world.record?.box ?? null, plan)
    await deps.mirror.put(
      rowOf(object, {
        kind: DEVINSTANCE,
        account: spec.account,
        view,
        updatedAt: view.box?.stateSince ?? metadata.creationTimestamp,
      }),
    )
  },
  forget: async (key) => {
    await deps.mirror.remove(DEVINSTANCE.kind, key.slice(key.indexOf('/') + 1))
  },
})

/** Passes at once: a pass is a read and at most a few statements. */
const CONCURRENCY = 16

export const devInstanceControl = controlOf({
  kind: DEVINSTANCE,
  goesOnWithout: true,
  concurrency: CONCURRENCY,
  make: ({ kube, pg, epoch, accounts, blobs, mirror, now }) =>
    devInstanceController({ kube, devInstances: makeDevInstanceLedger({ pg, epoch }), accounts, blobs, mirror, now }),
})
