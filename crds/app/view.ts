/** The app, its releases and its operations as REST shows them (rules/app.md#the-app). Every key is always there. */
import type { Plan } from '../kernel/plan.ts'
import { type ReadinessView, readinessOf } from './lifecycle/readiness.ts'
import { liveOf } from './plan.ts'
import type { Access, AppBudget, AppFacts, AppResource, AppSpec } from './schema.ts'
import type { AppStep } from './steps.ts'
import { hostnameOf, urlOf } from './url.ts'
import type { AppIntent, AppWorld, Operation, OperationState, OperationStep, Release, ReleaseState } from './world.ts'

export type StepView = {
  name: OperationStep['name']
  state: OperationStep['state']
  started_at: string | null
  ended_at: string | null
  message: string | null
}
export type OperationView = {
  id: string
  app: string
  kind: AppIntent['kind']
  state: OperationState
  steps: StepView[]
  /** What came of it: the release, or the code and the reason. */
  result: { release: number | null; code: string | null; detail: string | null } | null
  cancel_requested: boolean
  created_at: string
  started_at: string | null
  ended_at: string | null
}
export type ReleaseView = {
  id: string
  number: number
  state: ReleaseState
  reason: string | null
  log_tail: string | null
  restored_from: number | null
  source_digest: string
  env_version: number | null
  digest: string | null
  images: { service: string; name: string; id: string }[]
  warnings: string[]
  created_at: string
  live_at: string | null
}
export type AppView = {
  id: string
  slug: string
  host_id: string
  routing: 'managed'
  application_policy: AppSpec['applicationPolicy']
  access: Access
  url: string | null
  domains: string[]
  route: { service?: string; port?: number } | null
  release: ReleaseView | null
  releases: ReleaseView[]
  env: { stored_version: number | null; applied_version: number | null; keys: string[] }
  budget: { cpu_millis: number; memory_mib: number; disk_gib: number } | null
  readiness: ReadinessView
  operation: OperationView | null
  status: string
  stalled: { code: string; detail: string } | null
  created_at: string
  version: number
  /** Named volumes of the live release. */
  volumes: string[]
  /** How often a password was set; null for none. */
  password_version: number | null
  /** Operations of the last while that came to their end. */
  operations_ended: string[]
}

/** Of the past, in the app itself; all of them stand at /releases. */
const RELEASES_SHOWN = 5

export const viewOperation = (operation: Operation): OperationView => {
  const { id, app, kind, state, release, code, message, steps } = operation
  return {
    id,
    app,
    kind,
    state,
    steps: steps.map(({ name, state, startedAt, endedAt, message }) => ({
      name,
      state,
      started_at: startedAt,
      ended_at: endedAt,
      message,
    })),
    result: operation.endedAt === null ? null : { release, code, detail: message },
    cancel_requested: operation.cancelAt !== null,
    created_at: operation.createdAt,
    started_at: operation.startedAt,
    ended_at: operation.endedAt,
  }
}

export const viewRelease = (release: Release): ReleaseView => ({
  id: release.id,
  number: release.number,
  state: release.state,
  reason: release.reason,
  log_tail: release.logTail,
  restored_from: release.restoredFrom,
  source_digest: release.source,
  env_version: release.envVersion,
  digest: release.digest,
  images: release.record?.images ?? [],
  warnings: release.record?.warnings ?? [],
  created_at: release.createdAt,
  live_at: release.liveAt,
})

const viewBudget = (budget: AppBudget | undefined): AppView['budget'] =>
  budget === undefined ? null : { cpu_millis: budget.cpuMillis, memory_mib: budget.memoryMib, disk_gib: budget.diskGib }

/** What the app may use: its own request, within what its host gives. */
export const budgetOf = (requested: AppBudget | undefined, given: AppBudget): AppBudget => ({
  cpuMillis: Math.min(requested?.cpuMillis ?? given.cpuMillis, given.cpuMillis),
  memoryMib: Math.min(requested?.memoryMib ?? given.memoryMib, given.memoryMib),
  diskGib: Math.min(requested?.diskGib ?? given.diskGib, given.diskGib),
})

export const viewApp = (
  { metadata, spec }: AppResource,
  world: AppWorld,
  { status, verdict }: Pick<Plan<AppStep, AppFacts>, 'status' | 'verdict'>,
): AppView => {
  const live = liveOf(world)
  const { host } = world
  const hostname = hostnameOf(spec, host)
  const present = world.operations.find(({ state }) => state === 'running') ?? world.operations.at(-1)
  return {
    id: metadata.name,
    slug: spec.slug,
    host_id: spec.hostId,
    routing: 'managed',
    application_policy: spec.applicationPolicy,
    access: spec.access,
    url: urlOf(spec, host),
    domains: hostname === null ? [] : [hostname],
    route: spec.route ?? null,
    release: live ? viewRelease(live) : null,
    releases: world.releases.slice(0, RELEASES_SHOWN).map(viewRelease),
    env: {
      stored_version: world.env?.version ?? null,
      applied_version: live?.envVersion ?? null,
      keys: world.env?.keys ?? [],
    },
    budget: viewBudget(host ? budgetOf(spec.budget, host.budget) : spec.budget),
    readiness: readinessOf(spec, world),
    operation: present ? viewOperation(present) : null,
    status: status.phase ?? 'empty',
    stalled: verdict.state === 'stalled' ? { code: verdict.code, detail: verdict.message } : null,
    created_at: new Date(metadata.creationTimestamp).toISOString(),
    version: metadata.generation,
    volumes: live?.record?.volumes ?? [],
    password_version: spec.passwordVersion ?? null,
    operations_ended: world.operations.filter(({ endedAt }) => endedAt !== null).map(({ id }) => id),
  }
}
