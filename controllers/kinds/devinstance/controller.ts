/**
 * The DevInstance's hands: they write decisions, and nothing else. No step of it could reach a machine: the cloud work is
 * the provisioner's (rules/devinstance.md#a-registry-and-a-policy). What to do is decided in crds/devinstance/plan.ts.
 */

import assert from 'node:assert/strict'
import { limitOf } from '../../../crds/account/quotas.ts'
import { bootstrapOf } from '../../../crds/devinstance/bootstrap/bootstrap.ts'
import { gitOf } from '../../../crds/devinstance/bootstrap/report.ts'
import { pendingOf } from '../../../crds/devinstance/facts.ts'
import { DEVINSTANCE } from '../../../crds/devinstance/kind.ts'
import { type Reservation, reserved } from '../../../crds/devinstance/life/effects.ts'
import {
  type DevInstanceFacts,
  type DevInstanceResource,
  type DevInstanceStep,
  planDevInstance,
  stalledUntil,
} from '../../../crds/devinstance/plan.ts'
import { capRefusal, MICRO_USD, nameRefusal } from '../../../crds/devinstance/reserving.ts'
import { bootstrapInputOf, PROGRAMS_VERSION } from '../../../crds/devinstance/standing/launch.ts'
import { storedDevInstance } from '../../../crds/devinstance/view.ts'
import type { DevInstanceWorld, TransitionSettlement } from '../../../crds/devinstance/world.ts'
import { originOf } from '../../../crds/kernel/desire/desire.ts'
import { isConflict, isNotFound, Stalled } from '../../base/errors.ts'
import type { Kube } from '../../kube/kube.ts'
import type { Metrics } from '../../ops/metrics.ts'
import type { Controller } from '../../runtime/contract.ts'
import type { Blobs } from '../../store/blobs.ts'
import { type DevInstanceLedger, makeDevInstanceLedger } from '../../store/devinstance/devinstances.ts'
import { makePast } from '../../store/devinstance/past.ts'
import { type Mirror, rowOf } from '../../store/mirror.ts'
import type { Directory } from '../account-index.ts'
import { controlOf } from '../kind-controller.ts'
import { DEVINSTANCE_MAILS, sweepBudgets } from './budget.ts'
import { type DecidedOf, settleCall, write, writtenBy } from './decision.ts'
import { settleDeleted } from './deleted.ts'
import { devInstanceGauges } from './gauges.ts'

export type DevInstanceDeps = {
  kube: Pick<Kube, 'delete'>
  devInstances: DevInstanceLedger
  accounts: Directory
  blobs: Blobs
  mirror: Mirror
  now: () => Date
  metrics?: Metrics
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
    lastReport: lastReport && {
      at: lastReport.at,
      git: gitOf(lastReport.body),
      usedAt: lastReport.usedAt,
      attestedAt: lastReport.attestedAt,
    },
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
  const { generation } = metadata
  const reservation: Reservation = {
    spec,
    fallbackName: metadata.name,
    pricingVersion,
    bootstrapSha256,
    programs: PROGRAMS_VERSION,
    at,
    generation,
  }
  const instance = reserved(reservation)
  const { sizeClass, arch, diskGb } = instance
  const settlement: TransitionSettlement = {
    seq: null,
    trigger: 'reserve',
    said: reservation,
    at,
    by: { account: spec.account, kind: 'account', id: spec.account },
    around: { git: null },
    state: 'accepted',
    instance,
    entries: [{ kind: 'reserved', data: { name, sizeClass, arch, diskGb } }],
  }
  // What it commits was taken under the cap with the reservation, so the cap is not asked again.
  await write(deps.devInstances, targetOf(object), { settlement, before: null, rev, capMicroUsd: 0 })
}

/** What was decided is known, so the next call can be judged at once. */
const applySettlement =
  (settlement: TransitionSettlement): Apply =>
  (world) => {
    if (world.record === null) return world
    const { record, pending } = world
    const instance = writtenBy(settlement)?.instance ?? record.box
    return {
      ...world,
      record: { ...record, rev: record.rev + 1, box: instance },
      pending: pending.filter(({ seq }) => seq === null || seq !== settlement.seq),
    }
  }

const targetOf = ({ metadata, spec }: DevInstanceResource): DecidedOf => ({
  resource: metadata.name,
  uid: originOf(metadata),
  owner: spec.account,
})

/** Whoever reads the row finds the bytes that it names. */
const keepUserData = async ({ blobs }: DevInstanceDeps, { settlement, before }: Step<'settle'>): Promise<void> => {
  const made = writtenBy(settlement)?.instance
  if (made === undefined || made.bootstrapSha256 === before.bootstrapSha256) return
  const bootstrap = bootstrapOf(bootstrapInputOf(made))
  assert(bootstrap.ok && bootstrap.sha256 === made.bootstrapSha256, 'the user data is that of the row')
  await blobs.put(bootstrap.bytes)
}

const settle = async (deps: DevInstanceDeps, step: Step<'settle'>, object: DevInstanceResource) => {
  await keepUserData(deps, step)
  const settlement = await settleCall(deps.devInstances, targetOf(object), step)
  return settlement && applySettlement(settlement)
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
): Controller<DevInstanceResource, DevInstanceFacts, DevInstanceWorld, DevInstanceStep> => {
  const gauges = deps.metrics && devInstanceGauges(deps.metrics, deps.now)
  return {
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
      const instance = world.record?.box ?? null
      const view = storedDevInstance(object, instance, plan)
      gauges?.seen(object, { instance, world, plan })
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
      const name = key.slice(key.indexOf('/') + 1)
      gauges?.forget(name)
      await deps.mirror.remove(DEVINSTANCE.kind, name)
    },
  }
}

/** Passes at once: a pass is a read and at most a few statements. */
const CONCURRENCY = 16

export const devInstanceControl = controlOf({
  kind: DEVINSTANCE,
  goesOnWithout: true,
  concurrency: CONCURRENCY,
  sweep: sweepBudgets,
  mails: DEVINSTANCE_MAILS,
  settleDeleted: ({ pg, epoch, accounts }, resource) =>
    settleDeleted({ devInstances: makeDevInstanceLedger({ pg, epoch }), past: makePast({ pg }), accounts }, resource),
  make: ({ kube, pg, epoch, accounts, blobs, mirror, now, metrics }) =>
    devInstanceController({
      kube,
      devInstances: makeDevInstanceLedger({ pg, epoch }),
      accounts,
      blobs,
      mirror,
      now,
      ...(metrics && { metrics }),
    }),
})
