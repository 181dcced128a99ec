/** An earlier release again, as it ran (rules/app.md#releases). */
import { type DeployPlan, planRelease } from '../../../crds/app/compose/printing/plan.ts'
import type { EnvChoice } from '../../../crds/app/schema.ts'
import { restorableOf } from '../../../crds/app/sources/kept.ts'
import type { Release } from '../../../crds/app/world.ts'
import { Problem } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { askFor } from '../ask.ts'
import { confirmedDowntime, liveSummary, refuseDowntime } from '../deploy.ts'
import { hostOf, refuseUnfit } from '../hosts.ts'
import type { AppNeeds } from '../needs.ts'
import { apps, keptOf } from '../read.ts'
import { refuseManifestedApp } from './manifest.ts'

export type RollbackBody = { release: number | string; env?: EnvChoice; rebuild?: boolean }

/** By its number or its id. */
export const releaseOf = async (deps: AppNeeds, app: string, wanted: number | string): Promise<Release> => {
  const number = typeof wanted === 'number' ? wanted : await deps.apps.releaseNumber(app, wanted)
  const release = number === null ? null : await deps.apps.release(app, number)
  if (!release) throw new Problem('UNKNOWN_RELEASE', `There is no release ${wanted} of this app.`)
  return release
}

/** Which names come, go and change; a value that differs is told as changed, never shown. */
export const envDiff = async (deps: AppNeeds, app: string, from: number | null, to: number | null) => {
  const valuesOf = async (version: number | null) =>
    version === null ? {} : ((await deps.apps.env(app, version))?.env ?? {})
  const [now, then] = [await valuesOf(from), await valuesOf(to)]
  const added = Object.keys(then).filter((key) => !Object.hasOwn(now, key))
  const removed = Object.keys(now).filter((key) => !Object.hasOwn(then, key))
  const changed = Object.keys(then).filter((key) => Object.hasOwn(now, key) && now[key] !== then[key])
  return { added: added.sort(), removed: removed.sort(), changed: changed.sort() }
}

/** The version of the env that the live release runs with. */
export const appliedEnv = async (deps: AppNeeds, app: string): Promise<number | null> =>
  (await deps.apps.live(app))?.envVersion ?? null

/** Differs from whatever a service was sealed with. */
const ANOTHER_ENV = { '': '' }

/**
 * What running a sealed release again would change. @param isAsSealed its env is the one that it was sealed with; with
 * another every service is started anew, as far as can be told here
 */
export const changeOf = async (
  deps: AppNeeds,
  app: string,
  release: number,
  isAsSealed: boolean,
): Promise<DeployPlan> => {
  const { project, composePath } = await deps.releases.open(app, release)
  const services = isAsSealed ? project.services : project.services.map((one) => ({ ...one, environment: ANOTHER_ENV }))
  const before = await liveSummary(deps, app)
  return planRelease(before, { project: { ...project, services }, warnings: [], composePath }, [])
}

export const NOT_UNDONE = 'Migrations that later releases ran in volumes and databases are not undone.'

export const rollbackApp = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await apps.find(deps, request)
  const { release: wanted, env = 'release' } = request.body as RollbackBody
  const release = await releaseOf(deps, row.name, wanted)
  if ((release.record?.images ?? []).length === 0) {
    const why = release.record?.isPurged ? 'is no longer kept' : 'was never started'
    throw new Problem('UNKNOWN_RELEASE', `Release ${release.number} ${why}.`)
  }
  refuseUnfit(await hostOf(deps, row.view.host_id, row.account))
  const { image, reason } = restorableOf(release, await keptOf(deps, row))
  if (!image) throw new Problem('IMAGE_MISSING', `Release ${release.number}: ${reason}`)
  await refuseManifestedApp(deps, row)
  const applied = await appliedEnv(deps, row.name)
  const diff = await envDiff(deps, row.name, applied, env === 'release' ? release.envVersion : applied)
  const warnings = [NOT_UNDONE]
  const isAsNow = env === 'release' || applied === release.envVersion
  const change = await changeOf(deps, row.name, release.number, isAsNow)
  if (request.query.dry_run === '1') {
    const { downtimeSeconds: downtime_seconds } = change
    const images = release.record?.images ?? []
    const plan = { release: release.number, env, env_diff: diff, images, downtime_seconds, warnings }
    return { status: 200, body: { plan } }
  }
  refuseDowntime(request, row, change)
  return askFor(deps, request, {
    row,
    intent: { kind: 'rollback', release: release.number, env, ...confirmedDowntime(request) },
    desire: { source: null, restore: null },
    more: { env_diff: diff, warnings },
  })
}
