/**
 * POST …/deploy and …/rollback. What is sent is judged before anything is stored, and again by the controllers against the
 * host as it is then; nothing of what is refused reaches a host (rules/app.md#upload).
 */

import type { MirrorRow } from '../../controllers/store/mirror.ts'
import { limitOf } from '../../crds/account/quotas.ts'
import { faultOf } from '../../crds/app/compose/finding.ts'
import type { ComposeVerdict } from '../../crds/app/compose/judge.ts'
import {
  type DeployPlan,
  planRelease,
  type ReleaseSummary,
  summariseRelease,
} from '../../crds/app/compose/printing/plan.ts'
import type { DeployTarget } from '../../crds/app/compose/project.ts'
import { budgetOf } from '../../crds/app/lifecycle/keeping/budget.ts'
import { sayDowntime } from '../../crds/app/lifecycle/keeping/handover.ts'
import { packIndex, type SourceIndex } from '../../crds/app/sources/source.ts'
import type { AppView } from '../../crds/app/view.ts'
import type { AppIntent, TargetHost } from '../../crds/app/world.ts'
import { buildFault } from '../../crds/host/isolation.ts'
import { named } from '../../crds/kernel/named.ts'
import type { Caller } from '../http/caller.ts'
import { Problem } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import { text } from '../openapi/schemas.ts'
import { askFor } from './ask.ts'
import { hostOf, refuseUnfit, reserveReplicas } from './hosts.ts'
import type { AppNeeds } from './needs.ts'
import { apps } from './read.ts'
import { refuseManifestedApp } from './sources/manifest.ts'
import { type Named, namedIn, uploadOf } from './sources/sent.ts'
import type { Upload } from './sources/upload.ts'

/** What the project is judged against: the host as it is, the env that the release would have. */
const deployTargetFor = async (
  deps: AppNeeds,
  row: MirrorRow<AppView>,
  version?: number | null,
): Promise<{ host: TargetHost; deployTarget: DeployTarget; envVersion: number | null }> => {
  const { slug, host_id, route, budget } = row.view
  const host = await hostOf(deps, host_id, row.account)
  refuseUnfit(host)
  if (host.arch === null) throw new Problem('HOST_UNFIT', `Host ${host.name} has not been inspected.`)
  const stored = version === null ? null : await deps.apps.env(row.name, version)
  const requested = budget && { cpuMillis: budget.cpu_millis, memoryMib: budget.memory_mib, diskGib: budget.disk_gib }
  const deployTarget: DeployTarget = {
    slug,
    env: stored?.env ?? {},
    route,
    budget: budgetOf(requested ?? undefined, host.budget),
    hostClass: host.class,
    arch: host.arch,
    remapsUsers: host.remapsUsers,
    replicas: row.view.replicas.asked,
  }
  return { host, deployTarget, envVersion: stored?.version ?? null }
}

export const liveSummary = async (deps: AppNeeds, app: string): Promise<ReleaseSummary | null> => {
  const live = await deps.apps.live(app)
  return live ? summariseRelease((await deps.releases.open(app, live.number)).project) : null
}

export const confirmDowntime = {
  confirm_downtime: named('ConfirmDowntime', {
    ...text('1 or true: a service may stop for so long as the plan says.'),
    enum: ['0', '1', 'true', 'false'],
  }),
}

/** The mark of an intent that was confirmed; nothing where it was not, so that intents of before are the same. */
export const confirmedDowntime = ({ query }: ApiRequest): Pick<AppIntent, 'downtime'> =>
  query.confirm_downtime === '1' || query.confirm_downtime === 'true' ? { downtime: true } : {}

/** @throws Problem DOWNTIME_NOT_CONFIRMED with the seconds */
export const refuseDowntime = (request: ApiRequest, { view }: MirrorRow<AppView>, plan: DeployPlan): void => {
  if (plan.downtimeSeconds === 0 || view.hand_over.downtime === 'allow') return
  if (confirmedDowntime(request).downtime !== true) throw new Problem('DOWNTIME_NOT_CONFIRMED', sayDowntime(plan))
}

const confirmedVolumes = ({ query }: ApiRequest): string[] => (query.confirm_volumes ?? '').split(',').filter(Boolean)

type Accepted = Extract<ComposeVerdict, { ok: true }>

const refuseFindings = (findings: Parameters<typeof faultOf>[0][]): void => {
  const first = findings[0]
  if (!first) return
  const faults = findings.map(faultOf)
  throw new Problem('COMPOSE_REFUSED', faults[0]?.detail ?? first.detail, { faults })
}

/** @throws Problem COMPOSE_REFUSED with a pointer for every place */
const judge = async (
  { composeJudge }: AppNeeds,
  { caller }: ApiRequest,
  { index }: Upload,
  deployTarget: DeployTarget,
): Promise<Accepted> => {
  const verdict = await composeJudge.judge(index, deployTarget, caller)
  if (!verdict.ok) refuseFindings(verdict.findings.filter(({ level }) => level === 'refuse'))
  return verdict as Accepted
}

const planFor = async (
  deps: AppNeeds,
  request: ApiRequest,
  { row, upload, verdict }: { row: MirrorRow<AppView>; upload: Upload; verdict: Accepted },
): Promise<DeployPlan> => {
  const { project, warnings } = verdict
  const next = { project, warnings, composePath: upload.index.composePath }
  return planRelease(await liveSummary(deps, row.name), next, confirmedVolumes(request))
}

const MIB = 1_048_576

/** @throws Problem APP_STORAGE with the figures */
const refuseStorage = async (deps: AppNeeds, { account, profile }: Caller, more: number): Promise<void> => {
  const limit = limitOf('app_storage_mib', profile)
  const used = (await deps.apps.storedBytes(account)) / MIB
  if (used + more / MIB <= limit) return
  const figures = `${Math.ceil(used)} MiB of ${limit} are taken, and this upload takes ${Math.ceil(more / MIB)}`
  throw new Problem('APP_STORAGE', `The uploads of ${account} are kept in the platform's storage: ${figures}.`)
}

/** Sent again it is the newest; named by its digest it stays as old as it is. @throws Problem APP_STORAGE */
export const storeUpload = async (
  deps: AppNeeds,
  caller: Caller,
  { name, account }: MirrorRow<AppView>,
  upload: Upload,
): Promise<void> => {
  const { digest, bytes, files, recognised, git = null } = upload
  const at = deps.now().toISOString()
  const note = () => deps.uploads.note({ app: name, account, digest, recognised, git, at })
  if (upload.pack === null || (await deps.apps.source(account, digest))) {
    await deps.apps.keepSource(account, digest)
    return note()
  }
  const content = await upload.pack()
  await refuseStorage(deps, caller, content.length)
  const sha256 = await deps.blobs.put(content)
  const indexSha256 = await deps.blobs.put(packIndex(upload.index))
  await deps.apps.putSource({ account, digest, sha256, indexSha256, bytes, files })
  await note()
}

export type AcceptedUpload = {
  upload: Upload
  verdict: Accepted
  deployTarget: DeployTarget
  envVersion: number | null
}

/**
 * What is sent, or named by its digest, judged for the app's host as it is.
 * @param given what is named in place of what the body holds; `env` the version that it is judged with, null for an empty one; the newest otherwise @throws Problem as the host or the project is refused
 */
export const acceptUpload = async (
  deps: AppNeeds,
  request: ApiRequest,
  row: MirrorRow<AppView>,
  given?: Named,
): Promise<AcceptedUpload> => {
  const named = given ?? (await namedIn(request))
  const env = named !== null && 'env' in named ? named.env : undefined
  const { host, deployTarget, envVersion } = await deployTargetFor(deps, row, env)
  const namedFiles = (source: SourceIndex) => deps.composeJudge.namedFiles(source, deployTarget, request.caller)
  const upload = await uploadOf(deps, request, { row, named, namedFiles })
  request.audited = { fields: ['source'] }
  const verdict = await judge(deps, request, upload, deployTarget)
  const unfit = buildFault(host, verdict.project.services)
  if (unfit !== null) throw new Problem('HOST_NOT_ISOLATED', unfit)
  return { upload, verdict, deployTarget, envVersion }
}

export const deployApp = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await apps.find(deps, request)
  const accepted = await acceptUpload(deps, request, row)
  const { git } = accepted.upload
  return deployAccepted(deps, request, row, accepted, git && { git })
}

/** @param more goes beside the operation into the answer */
export const deployAccepted = async (
  deps: AppNeeds,
  request: ApiRequest,
  row: MirrorRow<AppView>,
  { upload, verdict, deployTarget, envVersion }: AcceptedUpload,
  more: object = {},
): Promise<Answer> => {
  const plan = await planFor(deps, request, { row, upload, verdict })
  if (request.query.dry_run === '1') {
    const target = { ...deployTarget, trial: row.view.hand_over.trial }
    const shown = viewPlan(plan, { upload, verdict, row, deployTarget: target })
    return { status: 200, body: { plan: { ...shown, ...more } } }
  }
  refuseFindings(plan.findings.filter(({ level }) => level === 'refuse'))
  refuseDowntime(request, row, plan)
  await refuseManifestedApp(deps, row)
  // What the file asks for becomes what the app says, which may be changed without a file.
  const said = deployTarget.replicas === null && plan.replicas > 1 ? { replicas: plan.replicas } : {}
  if (said.replicas !== undefined) await reserveReplicas(deps, row, said)
  if (upload.pack === null) await deps.apps.keepSource(row.account, upload.digest)
  else await storeUpload(deps, request.caller, row, upload)
  const { digest } = upload
  return askFor(deps, request, {
    row,
    intent: { kind: 'deploy', digest, envVersion, volumes: confirmedVolumes(request), ...confirmedDowntime(request) },
    desire: { source: null, restore: null, ...said, ...(envVersion !== null && { envVersion }) },
    more: {
      ...more,
      changes: verdict.changes,
      warnings: plan.findings.map(({ pointer, detail }) => `${pointer}: ${detail}`),
    },
  })
}

type PlanTarget = DeployTarget & { trial: AppView['hand_over']['trial'] }
type Planned = { upload: Upload; verdict: Accepted; row: MirrorRow<AppView>; deployTarget: PlanTarget }

/** The plan in the names of REST. Digests of services tell of their env, and stay here. */
const viewPlan = (plan: DeployPlan, { upload, verdict, row, deployTarget: target }: Planned) => ({
  source_digest: upload.digest,
  drain_seconds: row.view.drain_seconds,
  watch_seconds: row.view.watch_seconds,
  files: upload.files,
  bytes: upload.bytes,
  recognised: upload.recognised,
  arch: target.arch,
  host_class: target.hostClass,
  budget: {
    cpu_millis: target.budget.cpuMillis,
    memory_mib: target.budget.memoryMib,
    disk_gib: target.budget.diskGib,
  },
  route: verdict.project.route,
  compose: { given: upload.index.texts.get(upload.index.composePath) ?? '', runs: verdict.runs },
  changes: verdict.changes,
  services: plan.services.map(({ name, stateful, action, downtimeSeconds, limits }) => ({
    name,
    stateful,
    action,
    downtime_seconds: downtimeSeconds,
    limits: limits && { cpu_millis: limits.cpuMillis, memory_bytes: limits.memoryBytes, pids: limits.pids },
  })),
  replicas: plan.replicas,
  downtime_seconds: plan.downtimeSeconds,
  // Nothing is tried where nothing stops.
  trial: plan.downtimeSeconds > 0 ? target.trial : 'none',
  volumes: plan.volumes,
  images: plan.images,
  builds: plan.builds,
  env: plan.env,
  findings: plan.findings,
})
