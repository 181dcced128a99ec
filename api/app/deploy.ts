/**
 * POST …/deploy and …/rollback. What is sent is judged before anything is stored, and again by the controllers against the
 * host as it is then; nothing of what is refused reaches a host (rules/app.md#upload).
 */

import type { MirrorRow } from '../../controllers/store/mirror.ts'
import { faultOf } from '../../crds/app/compose/finding.ts'
import type { ComposeVerdict } from '../../crds/app/compose/judge.ts'
import {
  type DeployPlan,
  planRelease,
  type ReleaseSummary,
  summariseRelease,
} from '../../crds/app/compose/printing/plan.ts'
import type { DeployTarget } from '../../crds/app/compose/project.ts'
import type { EnvChoice } from '../../crds/app/schema.ts'
import { packIndex, type SourceIndex } from '../../crds/app/source.ts'
import type { AppView } from '../../crds/app/view.ts'
import { budgetOf } from '../../crds/app/view.ts'
import type { Release, TargetHost } from '../../crds/app/world.ts'
import { buildFault } from '../../crds/host/isolation.ts'
import { Problem } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import { askFor } from './ask.ts'
import { hostOf, refuseUnfit } from './hosts.ts'
import type { AppNeeds } from './needs.ts'
import { apps } from './read.ts'
import { readUpload, type Upload } from './upload.ts'

/** What the project is judged against: the host as it is, the env that the release would have. */
const deployTargetFor = async (
  deps: AppNeeds,
  row: MirrorRow<AppView>,
): Promise<{ host: TargetHost; deployTarget: DeployTarget; envVersion: number | null }> => {
  const { slug, host_id, route, budget } = row.view
  const host = await hostOf(deps, host_id, row.account)
  refuseUnfit(host)
  if (host.arch === null) throw new Problem('HOST_UNFIT', `Host ${host.name} has not been inspected.`)
  const stored = await deps.apps.env(row.name)
  const requested = budget && { cpuMillis: budget.cpu_millis, memoryMib: budget.memory_mib, diskGib: budget.disk_gib }
  const deployTarget: DeployTarget = {
    slug,
    env: stored?.env ?? {},
    route,
    budget: budgetOf(requested ?? undefined, host.budget),
    hostClass: host.class,
    arch: host.arch,
  }
  return { host, deployTarget, envVersion: stored?.version ?? null }
}

const liveSummary = async (deps: AppNeeds, row: MirrorRow<AppView>): Promise<ReleaseSummary | null> => {
  const live = row.view.release
  return live ? summariseRelease((await deps.releases.open(row.name, live.number)).project) : null
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
  return planRelease(await liveSummary(deps, row), next, confirmedVolumes(request))
}

const store = async (deps: AppNeeds, account: string, upload: Upload): Promise<void> => {
  const { digest, bytes, files } = upload
  if (await deps.apps.source(account, digest)) return
  const content = await upload.pack()
  const sha256 = await deps.blobs.put(content)
  const indexSha256 = await deps.blobs.put(packIndex(upload.index))
  await deps.apps.putSource({ account, digest, sha256, indexSha256, bytes, files })
}

export const deployApp = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await apps.find(deps, request)
  const { host, deployTarget, envVersion } = await deployTargetFor(deps, row)
  const sent = { form: request.form, contentType: request.headers['content-type'] }
  const namedFiles = (source: SourceIndex) => deps.composeJudge.namedFiles(source, deployTarget, request.caller)
  const upload = await readUpload(sent, namedFiles)
  request.audited = { fields: ['source'] }
  const verdict = await judge(deps, request, upload, deployTarget)
  const unfit = buildFault(host, verdict.project.services)
  if (unfit !== null) throw new Problem('HOST_NOT_ISOLATED', unfit)
  const plan = await planFor(deps, request, { row, upload, verdict })
  if (request.query.dry_run === '1') return { status: 200, body: { plan: viewPlan(plan, upload, deployTarget) } }
  refuseFindings(plan.findings.filter(({ level }) => level === 'refuse'))
  await store(deps, row.account, upload)
  const { digest } = upload
  return askFor(deps, request, {
    row,
    intent: { kind: 'deploy', digest, envVersion, volumes: confirmedVolumes(request) },
    desire: { source: { digest }, restore: null, ...(envVersion !== null && { envVersion }) },
    more: { warnings: plan.findings.map(({ pointer, detail }) => `${pointer}: ${detail}`) },
  })
}

/** The plan in the names of REST. Digests of services tell of their env, and stay here. */
const viewPlan = (plan: DeployPlan, upload: Upload, { arch, budget, hostClass }: DeployTarget) => ({
  source_digest: upload.digest,
  files: upload.files,
  bytes: upload.bytes,
  arch,
  host_class: hostClass,
  budget: { cpu_millis: budget.cpuMillis, memory_mib: budget.memoryMib, disk_gib: budget.diskGib },
  services: plan.services.map(({ name, stateful, action, downtimeSeconds, limits }) => ({
    name,
    stateful,
    action,
    downtime_seconds: downtimeSeconds,
    limits: limits && { cpu_millis: limits.cpuMillis, memory_bytes: limits.memoryBytes, pids: limits.pids },
  })),
  volumes: plan.volumes,
  images: plan.images,
  builds: plan.builds,
  env: plan.env,
  findings: plan.findings,
})

type RollbackBody = { release: number | string; env?: EnvChoice }

/** By its number or its id. */
const releaseOf = async (deps: AppNeeds, app: string, wanted: number | string): Promise<Release> => {
  const number = typeof wanted === 'number' ? wanted : await deps.apps.releaseNumber(app, wanted)
  const release = number === null ? null : await deps.apps.release(app, number)
  if (!release) throw new Problem('UNKNOWN_RELEASE', `There is no release ${wanted} of this app.`)
  return release
}

/** Which names come, go and change; a value that differs is told as changed, never shown. */
const envDiff = async (deps: AppNeeds, app: string, from: number | null, to: number | null) => {
  const valuesOf = async (version: number | null) =>
    version === null ? {} : ((await deps.apps.env(app, version))?.env ?? {})
  const [now, then] = [await valuesOf(from), await valuesOf(to)]
  const added = Object.keys(then).filter((key) => !Object.hasOwn(now, key))
  const removed = Object.keys(now).filter((key) => !Object.hasOwn(then, key))
  const changed = Object.keys(then).filter((key) => Object.hasOwn(now, key) && now[key] !== then[key])
  return { added: added.sort(), removed: removed.sort(), changed: changed.sort() }
}

const NOT_UNDONE = 'Migrations that later releases ran in volumes and databases are not undone.'

export const rollbackApp = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await apps.find(deps, request)
  const { release: wanted, env = 'release' } = request.body as RollbackBody
  const release = await releaseOf(deps, row.name, wanted)
  if ((release.record?.images ?? []).length === 0) {
    throw new Problem('UNKNOWN_RELEASE', `Release ${release.number} was never started.`)
  }
  refuseUnfit(await hostOf(deps, row.view.host_id, row.account))
  const applied = row.view.env.applied_version
  const diff = await envDiff(deps, row.name, applied, env === 'release' ? release.envVersion : applied)
  const warnings = [NOT_UNDONE]
  if (request.query.dry_run === '1') {
    const plan = { release: release.number, env, env_diff: diff, images: release.record?.images ?? [], warnings }
    return { status: 200, body: { plan } }
  }
  return askFor(deps, request, {
    row,
    intent: { kind: 'rollback', release: release.number, env },
    desire: { source: null, restore: { release: release.number, env } },
    more: { env_diff: diff, warnings },
  })
}
