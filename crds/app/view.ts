/** The app, its releases and its operations as REST shows them (rules/app.md#the-app). Every key is always there. */
import type { Plan } from '../kernel/plan.ts'
import type { ComposeChange } from './compose/finding.ts'
import { type HealthView, healthOf } from './lifecycle/health/verdict.ts'
import { DRAIN_SECONDS, WATCH_SECONDS } from './lifecycle/health/watch.ts'
import { isBackupOpen } from './lifecycle/keeping/backups/backup.ts'
import { budgetOf } from './lifecycle/keeping/budget.ts'
import type { AppliedStep, PlanSort } from './lifecycle/publishing/plans.ts'
import { probeView } from './lifecycle/publishing/probe.ts'
import { hostnameOf, urlOf } from './lifecycle/publishing/url.ts'
import { type DomainView, domainViews } from './lifecycle/publishing/view.ts'
import { type ReadinessView, readinessOf } from './lifecycle/readiness.ts'
import { replicasOf, wantedReplicas } from './lifecycle/scaling/replicas.ts'
import { liveOf } from './plan.ts'
import { isRunOpen, type RunCause, type RunState } from './runs/run.ts'
import { runsShown, type ScheduleView, type ShownStep, stepsShown, viewCommands } from './runs/view.ts'
import type { Access, AppBudget, AppFacts, AppResource, AppSpec } from './schema.ts'
import { keptImages, type Restorable, restorableOf } from './sources/kept.ts'
import type { AppStep } from './steps.ts'
import type { AppIntent, AppWorld, Operation, OperationState, OperationStep, Release, ReleaseState } from './world.ts'

export type StepView = {
  name: ShownStep['name'] | AppliedStep['name']
  state: OperationStep['state']
  started_at: string | null
  ended_at: string | null
  message: string | null
}
export type OperationView = {
  id: string
  app: string
  kind: AppIntent['kind'] | PlanSort
  state: OperationState
  steps: StepView[]
  /** What came of it: the release, or the code and the reason. */
  result: { release: number | null; code: string | null; detail: string | null; exit_code: number | null } | null
  /** Of a run, what is run; null for all others. */
  run: null
  /** Of a backup or a restore, the backup; null for all others. */
  backup: null
  /** The commands that were run before and after it. */
  runs: { id: string; step: RunCause; state: RunState }[]
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
  changes: ComposeChange[]
  restorable: Restorable
  created_at: string
  live_at: string | null
  /** Until then it is watched, and left for the release before when it turns out to be bad. */
  watched_until: string | null
}
export type AppView = {
  id: string
  slug: string
  host_id: string
  /** Hosts that it has left, and until when visitors there are sent on; of one that it did not come to until it is cleared. */
  left_hosts: { host_id: string; until: string | null; volumes: string[] }[]
  routing: AppSpec['routing']
  application_policy: AppSpec['applicationPolicy']
  access: Access
  url: string | null
  domains: DomainView[]
  route: { service?: string; port?: number } | null
  release: ReleaseView | null
  releases: ReleaseView[]
  env: { stored_version: number | null; applied_version: number | null; keys: string[] }
  budget: { cpu_millis: number; memory_mib: number; disk_gib: number } | null
  /** What the live release was given; null when nothing is live. */
  applied_budget: AppView['budget']
  /** `asked`: as the app says; null where it leaves that to its compose file. `live`: of the live release; null when nothing is live. `ready`: those of them that answer; null before it was looked. */
  replicas: { asked: number | null; wanted: number; live: number | null; ready: number | null }
  websockets: 'drain' | 'cut'
  hand_over: { downtime: 'confirm' | 'allow'; trial: 'copy' | 'none'; seconds: number | null }
  readiness: ReadinessView
  health: HealthView
  drain_seconds: number
  watch_seconds: number
  operation: OperationView | null
  status: string
  stalled: { code: string; detail: string } | null
  created_at: string
  version: number
  /** Named volumes of the live release. */
  volumes: string[]
  /** As its host's meter says; null before it has looked. */
  disk: { used_mib: number; budget_mib: number; volumes: { name: string; bytes: number | null }[]; at: string } | null
  /** How often a password was set; null for none. */
  password_version: number | null
  /** Plans of domains and of access that were applied last. */
  domain_plan: string | null
  /** Where its domains have to lead. */
  host_address: string | null
  access_plan: string | null
  readiness_probe: { path: string; status: string[]; timeout_seconds: number }
  /** What is run before and after a release, and at times of day; as it was asked. */
  commands: object
  schedules: ScheduleView[]
  /** What it is a preview of; null for an app of its own. */
  preview_of: { app: string; ref: string; expires_at: string } | null
  /** Previews of it that have not ended. */
  previews: { id: string; ref: string; expires_at: string }[]
  /** Operations of the last while that came to their end. */
  operations_ended: string[]
  /** Likewise of runs. */
  runs_ended: string[]
  /** Likewise of backups. */
  backups_ended: string[]
}

/** Of the past, in the app itself; all of them stand at /releases. */
const RELEASES_SHOWN = 5

export const viewOperation = (operation: Operation): OperationView => {
  const { id, app, kind, state, release, code, message } = operation
  return {
    id,
    app,
    kind,
    state,
    steps: stepsShown(operation).map(({ name, state, startedAt, endedAt, message }) => ({
      name,
      state,
      started_at: startedAt,
      ended_at: endedAt,
      message,
    })),
    result: operation.endedAt === null ? null : { release, code, detail: message, exit_code: null },
    run: null,
    backup: null,
    runs: runsShown(operation),
    cancel_requested: operation.cancelAt !== null,
    created_at: operation.createdAt,
    started_at: operation.startedAt,
    ended_at: operation.endedAt,
  }
}

/** @param kept ids of images that stay on the host; of the newest release all do */
export const viewRelease = (
  release: Release,
  kept: ReadonlySet<string> = new Set(keptImages([release])),
): ReleaseView => ({
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
  changes: release.record?.changes ?? [],
  restorable: restorableOf(release, kept),
  created_at: release.createdAt,
  live_at: release.liveAt,
  watched_until: release.record?.watch?.until ?? null,
})

const viewBudget = (budget: AppBudget | undefined): AppView['budget'] =>
  budget === undefined ? null : { cpu_millis: budget.cpuMillis, memory_mib: budget.memoryMib, disk_gib: budget.diskGib }

const viewHandOver = ({ handOver }: AppSpec): AppView['hand_over'] => ({
  downtime: handOver?.downtime ?? 'confirm',
  trial: handOver?.trial ?? 'copy',
  seconds: handOver?.seconds ?? null,
})

const viewReplicas = (spec: AppSpec, { look }: AppWorld, live: Release | undefined): AppView['replicas'] => ({
  asked: spec.replicas ?? null,
  wanted: wantedReplicas(spec),
  live: live ? replicasOf(live.record) : null,
  ready: (live && look?.replicas?.filter(({ isReady }) => isReady).length) ?? null,
})

/** Of a volume that was not measured yet nothing is said. */
const viewDisk = ({ look }: AppWorld, live: Release | undefined): AppView['disk'] => {
  if (!look?.disk) return null
  const { disk, volumes = [], at } = look
  const bytesOf = (name: string): number | null => volumes.find((one) => one.name === name)?.bytes ?? null
  const named = (live?.record?.volumes ?? []).map((name) => ({ name, bytes: bytesOf(name) }))
  return { used_mib: disk.usedMib, budget_mib: disk.budgetMib, volumes: named, at }
}

const viewEnv = ({ env }: AppWorld, live: Release | undefined): AppView['env'] => ({
  stored_version: env?.version ?? null,
  applied_version: live?.envVersion ?? null,
  keys: env?.keys ?? [],
})

const viewPreviewOf = ({ previewOf }: AppSpec): AppView['preview_of'] =>
  previewOf === undefined ? null : { app: previewOf.app, ref: previewOf.ref, expires_at: previewOf.expiresAt }

/** What it kept on a host that it has left is there until all of it goes. */
const leftIn = ({ places, releases }: AppWorld): AppView['left_hosts'] =>
  places.flatMap(({ host, place, until }) => {
    if (place !== 'left') return []
    const there = releases.filter(({ record, retiredAt }) => retiredAt === null && record?.host === host)
    const volumes = [...new Set(there.flatMap(({ record }) => record?.volumes ?? []))].sort()
    return [{ host_id: host, until, volumes }]
  })

export const viewApp = (
  { metadata, spec }: AppResource,
  world: AppWorld,
  { status, verdict }: Pick<Plan<AppStep, AppFacts>, 'status' | 'verdict'>,
): AppView => {
  const live = liveOf(world)
  const { host } = world
  const hostname = hostnameOf(spec, host)
  const kept = new Set(keptImages(world.releases))
  const present = world.operations.find(({ state }) => state === 'running') ?? world.operations.at(-1)
  return {
    id: metadata.name,
    slug: spec.slug,
    host_id: spec.hostId,
    left_hosts: leftIn(world),
    routing: spec.routing,
    application_policy: spec.applicationPolicy,
    access: spec.access,
    url: urlOf(spec, host),
    domains: domainViews(spec, world, hostname),
    route: spec.route ?? null,
    release: live ? viewRelease(live, kept) : null,
    releases: world.releases.slice(0, RELEASES_SHOWN).map((release) => viewRelease(release, kept)),
    env: viewEnv(world, live),
    budget: viewBudget(host ? budgetOf(spec.budget, host.budget) : spec.budget),
    applied_budget: viewBudget(live?.record?.budget),
    replicas: viewReplicas(spec, world, live),
    websockets: spec.websockets ?? 'drain',
    hand_over: viewHandOver(spec),
    readiness: readinessOf(spec, world),
    health: healthOf(world),
    drain_seconds: spec.drainSeconds ?? DRAIN_SECONDS,
    watch_seconds: spec.watchSeconds ?? WATCH_SECONDS,
    operation: present ? viewOperation(present) : null,
    status: status.phase ?? 'empty',
    stalled: verdict.state === 'stalled' ? { code: verdict.code, detail: verdict.message } : null,
    created_at: new Date(metadata.creationTimestamp).toISOString(),
    version: metadata.generation,
    volumes: live?.record?.volumes ?? [],
    disk: viewDisk(world, live),
    password_version: spec.passwordVersion ?? null,
    domain_plan: spec.domainPlan ?? null,
    host_address: world.naming.address,
    access_plan: spec.accessPlan ?? null,
    readiness_probe: probeView(spec),
    ...viewCommands(spec),
    preview_of: viewPreviewOf(spec),
    previews: world.previews.open.map(({ app, ref, expiresAt }) => ({ id: app, ref, expires_at: expiresAt })),
    operations_ended: world.operations.filter(({ endedAt }) => endedAt !== null).map(({ id }) => id),
    runs_ended: world.runs.runs.filter((run) => !isRunOpen(run)).map(({ id }) => id),
    backups_ended: world.backups.filter((backup) => !isBackupOpen(backup)).map(({ id }) => id),
  }
}
